// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiverRuntime
import ReceiverSimulator
import SerialPort

/// The options of the commands that open a receiver.
struct ReceiverOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      """
      The device of the receiver: a tty, pseudo-terminal or FIFO, i2c:BUS[@ADDRESS], tcp://HOST:PORT, \
      udp://[HOST]:PORT, gpsd://HOST[:PORT][/DEVICE], replay:FILE[@SPEED], sim:SCENARIO, or - for the bytes on standard input. Default: GNSS_DEVICE, else the receiver of the location service, \
      else the configuration file, else the first receiver that is found.
      """),
    completion: .custom { _, _, _ in DeviceCompletion.words })
  var device: String?

  @Option(name: .shortAndLong, help: "The baud rate of the line. No other rate is tried. Default: search for the rate.")
  var baud: UInt32?

  @Flag(help: "Use the built-in simulator if there is no receiver.")
  var demo = false

  func validate() throws {
    if baud == 0 { throw ValidationError("--baud must be a rate such as 9600; omit it to search for the rate.") }
  }

  /// The receiver of the command line without an option, as in `watch /dev/ttyACM0`.
  ///
  /// - Throws: a mistake in the command line if --device names one too.
  mutating func use(place: String?) throws {
    guard let place else { return }
    if device != nil { throw ValidationError("\(place): --device names the receiver already; omit one of both.") }
    device = place
  }

  /// Chooses the source of a command, with the rate of these options before the rate of the configuration file.
  /// Without a receiver the command fails.
  func choose(for use: Source.Use) throws -> Source.Choice {
    if device?.isEmpty == true {
      throw CommandFailure(.usage, "the name of the device is empty; give one, or omit it to use the first receiver")
    }
    var choice =
      try ServiceReceiver.chosen(named: device, isDemo: demo, for: use)
      ?? Source.chosen(named: device, isDemo: demo, for: use)
    try bind(&choice)
    return choice
  }

  /// Applies the rate of these options. A source of the network has none.
  private func bind(_ choice: inout Source.Choice) throws {
    if let baud, case .device(let name) = choice.source, try LineAddress(name).networkSource != nil {
      throw CommandFailure(
        .usage, "\(name): has no baud rate, so --baud \(baud) cannot be set; set the rate at the server")
    }
    choice.baud = baud ?? choice.baud
  }

  /// Chooses the source of a command that waits for a receiver.
  ///
  /// - Parameters:
  ///   - seconds: the time limit; the time of the wait is subtracted from it. nil for no limit.
  ///   - sends: whether the command sends more than a configuration, so that it needs the line of a location service.
  func chooseOrWait(seconds: inout Double?, sends: Bool) throws -> Source.Choice {
    // The service waits for its receiver.
    if let choice = try ServiceReceiver.chosen(named: device, isDemo: demo, for: sends ? .sending : .listening) {
      return choice
    }
    var rest = seconds
    var choice = try Source.chosen(named: device, isDemo: demo, for: .listening) { choose in
      let wait = try ReceiverWait.run(seconds: rest, choose)
      rest = wait.secondsLeft
      return wait.choice
    }
    seconds = rest
    try bind(&choice)
    return choice
  }

  /// Chooses the source of a command that has waited for its receiver and opens it again. Without a receiver the choice fails.
  ///
  /// - Parameter sends: as of ``chooseOrWait(seconds:sends:)``.
  func chooseAgain(sends: Bool) throws -> Source.Choice {
    if let choice = try ServiceReceiver.chosen(named: device, isDemo: demo, for: sends ? .sending : .listening) {
      return choice
    }
    var choice = try Source.chosen(named: device, isDemo: demo, for: .listening)
    try bind(&choice)
    return choice
  }

  /// Checks a value of `--seconds`.
  static func check(seconds: Double?, below limit: Double = 1e9) throws {
    if let seconds, !(seconds > 0 && seconds < limit) { throw ValidationError("--seconds must be a time above 0.") }
  }
}

/// The devices for shell completion: the ports of this computer, the most likely receivers first, then the built-in scenarios.
enum DeviceCompletion {
  static var words: [String] {
    // A mistake in the list of devices is reported by the command.
    let ports = (try? DeviceList.installed()).map { ReceiverPorts.enumerate(list: $0) } ?? []
    return ports.map(\.node) + Scenario.names.map { "sim:\($0)" }
  }
}
