import ArgumentParser
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import Recording
import SerialPort
import SimulatorRuntime

/// `sextant simulate`: a receiver that is none, on a pseudo-terminal.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Be a receiver on a pseudo-terminal.",
    discussion: """
      Prints the path to open. The program that opens it sets the baud rate; at another rate than the receiver's both \
      sides see garbage. Lines on standard input make things happen: `fault unplug 5s` (docs/scenarios.md has all \
      faults), `status`, `quit`. It ends at ^C.
      """)

  @Option(help: "The receiver: \(ReceiverModel.allCases.map(\.rawValue).joined(separator: ", ")).")
  var model = ReceiverModel.m10

  @Option(help: "A scenario: \(Scenario.names.joined(separator: ", ")), or a file.")
  var scenario = "walk"

  @Option(help: "Make a symbolic link to the pseudo-terminal; it stays the same when the receiver is unplugged.")
  var link: String?

  @Option(help: "Determines what is random.")
  var seed: UInt64 = 1

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Option(help: "Let time pass this many times as fast.")
  var speed = 1.0

  @Option(help: "Send a recording instead, at its times and rates, or a log in the pace of its epochs; then end.")
  var replay: String?

  @Option(help: "The rate it is set to when it is opened, in baud; a reset takes it back to its own.")
  var baud: UInt32?

  @Flag(help: "Be on USB: the baud rate does not matter.")
  var usb = false

  @Flag(help: .hidden)
  var forClient = false

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if let baud, !(1200...8_000_000 ~= baud) {
      throw ValidationError("--baud is a rate from 1200 to 8000000, such as 9600.")
    }
    if !(speed > 0 && speed <= 1000) { throw ValidationError("--speed is above 0, and 1000 at the most.") }
  }

  func run() throws {
    let now = SystemClock.monotonic
    let device: any SimulatedDevice
    if let replay {
      device = try recorded(replay, at: now)
    } else {
      device = try line(at: now)
    }
    guard forClient else { return try serve(device, link: link ?? "", at: now) }
    let folder = try PrivateTemporaryFolder()
    defer { folder.remove() }
    try serve(device, link: "\(folder.path)/receiver", at: now)
  }

  private func serve(_ device: any SimulatedDevice, link: String, at now: Instant) throws {
    var loop = try SimulationLoop(
      device, link: link, forClient: forClient, speed: speed, seconds: seconds, now: now)
    try loop.run()
  }

  private func recorded(_ path: String, at now: Instant) throws -> any SimulatedDevice {
    let bytes = try readAll(path)
    guard ReplayedRecording.isRecording(bytes) else {
      var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
      unsafe stream.receive(bytes.span.bytes) { _ in }
      stream.finish { _ in }
      // Sentences without a checksum are what some program may have to bear.
      let counters = stream.counters
      if counters.withoutChecksum == 0, let reason = NoRecording.reason(counters, bytes: UInt64(bytes.count)) {
        throw CommandFailure(exitCode: CommandFailure.badData, description: "\(path): \(reason)")
      }
      return Replay(bytes, startingAt: now)
    }
    do throws(RecordingError) { return try ReplayedRecording(bytes, startingAt: now) } catch {
      throw CommandFailure(exitCode: CommandFailure.badData, description: "\(path): \(error.description)")
    }
  }

  private func line(at now: Instant) throws -> VirtualLine {
    guard let baud else {
      return VirtualLine(
        model: model, scenario: try Scenario.read(scenario), seed: seed, startUTCSeconds: secondsSince1970(),
        hasRate: !usb, startingAt: now)
    }
    // It was switched on some seconds ago, and somebody set its rate since.
    let before = Milliseconds(5000)
    let on = Instant(nanoseconds: now.nanoseconds - min(now.nanoseconds, before.count * 1_000_000))
    var line = VirtualLine(
      model: model, scenario: try Scenario.read(scenario), seed: seed,
      startUTCSeconds: secondsSince1970() - Int64(before.count / 1000), hasRate: !usb, startingAt: on)
    line.advance(to: now)
    line.inject(.baudRateChange(to: baud), at: now)
    // What it said then reached nobody.
    _ = line.takeReceived()
    return line
  }
}

extension ReceiverModel: ExpressibleByArgument {}
