// SPDX-License-Identifier: Apache-2.0

// A program for the rigs: serves one receiver through every unplug and replug, and writes a line for each event.
//
//     HotplugProbe [--device PATH] [--baud N] [--low-latency] [--source udev|kernel|polling]
//
//     ready SOURCE            it listens; the ports that were there are listed above
//     added|changed|removed NODE IDENTITY
//     open NODE descriptors=N
//     bytes NODE              the first bytes since it was opened
//     fix NODE                the first epoch with a position since then
//     errors NODE framing=N parity=N overrun=N breaks=N     when a count has changed
//     lines NODE NAMES                                       when a modem line has changed
//     close NODE
//     report TEXT
//
// A line on its standard input is a command: `rate N`, `break`, `write`, `quit`.
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

@main
struct HotplugProbe {
  static func main() throws {
    let options = Options(CommandLine.arguments.dropFirst())
    var loop = try ProbeLoop(options)
    try loop.run()
  }
}

struct Options {
  var wanted = ReconnectPolicy.Wanted.firstReceiver
  var baud: UInt32?
  var lowLatency = false
  var source: MonitorSource?

  init(_ arguments: ArraySlice<String>) {
    var rest = arguments
    while let option = rest.popFirst() {
      switch option {
      case "--device": rest.popFirst().map { wanted = .path($0) }
      case "--baud": baud = rest.popFirst().flatMap { UInt32($0) }
      case "--low-latency": lowLatency = true
      case "--source":
        switch rest.popFirst() {
        case "udev": source = .udev
        case "kernel": source = .kernel
        default: source = .polling
        }
      default: fatalError("\(option): no such option")
      }
    }
  }
}
