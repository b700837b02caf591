import ArgumentParser
import GPSDJSON
import Hotplug

/// `sextant watch`: what a receiver says, live.
struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Watch a receiver live.",
    discussion: """
      Without --device, GNSS_DEVICE is watched, else the first receiver that is plugged in, else the built-in simulator. \
      The baud rate is found by listening. Nothing is sent to the receiver. Press ^C to end.
      """)

  @Option(help: "A tty, pseudo-terminal, FIFO or file, or sim:walk for the built-in simulator.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Flag(help: "Print gpsd's TPV and SKY objects, one a line.")
  var json = false

  @Option(help: "End after this many epochs with a fix.")
  var count: Int?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Flag(help: "Send not one byte to the receiver (watch never does).")
  var readOnly = false

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is a number from 1 on.") }
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
  }

  func run() throws {
    let named = device
    let fromEnvironment = environment("GNSS_DEVICE")
    let isChosen = named != nil || fromEnvironment?.isEmpty == false
    let choice = try Source.choose(
      named: named, environment: fromEnvironment, ports: isChosen ? [] : ReceiverPorts.enumerate())
    if let note = choice.note { say(note) }
    var loop = try WatchLoop(
      source: choice.source, baud: baud, limits: WatchLoop.Limits(epochs: count, seconds: seconds),
      view: json ? .json : isTerminal() ? .screen : .lines)
    let sawFix = try loop.run()
    if !sawFix {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "no fix was received; check the antenna's view of the sky, the wiring and the baud rate")
    }
  }
}
