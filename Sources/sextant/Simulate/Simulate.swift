// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort

/// `sextant simulate`: simulates a receiver on a pseudo-terminal.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulate a receiver on a pseudo-terminal.",
    discussion: """
      Prints the path to open. The program that opens it sets the baud rate. At another rate than the receiver's both \
      sides receive garbage. Lines on standard input are commands: `fault …`, such as `fault unplug 5s` (all faults are in \
      docs/reference/scenarios.md), `status`, `settings` and `quit`. Press ^C to end.
      """)

  @Option(
    help: """
      The model of the receiver: \(ReceiverModel.allCases.map(\.rawValue).joined(separator: ", ")). Default: the \
      scenario's, else m10.
      """)
  var model: ReceiverModel?

  @Option(help: "A built-in scenario (\(Scenario.names.joined(separator: ", "))), or a file.")
  var scenario = "walk"

  @Option(
    help: """
      A deviation of the receiver from its documents (repeatable): \
      \(Quirk.allCases.map(\.rawValue).joined(separator: ", ")).
      """)
  var quirk: [Quirk] = []

  @Option(help: "Make a symbolic link to the pseudo-terminal. It stays the same after an unplug.")
  var link: String?

  @Option(help: "The seed of the random number generator.")
  var seed: UInt64 = 1

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Option(help: "The speed of time, as a factor.")
  var speed = 1.0

  @Option(help: "Send a recording at its times and rates, or a log epoch by epoch; then end.")
  var replay: String?

  @Option(help: "The rate that the receiver was set to, in baud. A reset restores its default.")
  var baud: UInt32?

  @Flag(help: "Simulate USB, which ignores the baud rate.")
  var usb = false

  @Flag(help: .hidden)
  var forClient = false

  func validate() throws {
    try ReceiverOptions.check(seconds: seconds)
    if let baud, !(1200...8_000_000 ~= baud) {
      throw ValidationError("--baud must be a rate from 1200 to 8000000, such as 9600.")
    }
    if !(speed > 0 && speed <= 1000) { throw ValidationError("--speed must be above 0, and at most 1000.") }
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
    try withExtendedLifetime(folder) { try serve(device, link: "\(folder.path)/receiver", at: now) }
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
      if let reason = RecordingFault.replayReason(stream.counters, bytes: UInt64(bytes.count)) {
        throw CommandFailure(.badData, "\(path): \(reason)")
      }
      return ReplayedDevice(bytes, startingAt: now)
    }
    do throws(RecordingError) { return try ReplayedRecording(bytes, startingAt: now) } catch {
      throw CommandFailure(.badData, "\(path): \(error.description)")
    }
  }

  private func line(at now: Instant) throws -> VirtualLine {
    var scenario = try Scenario.read(scenario)
    scenario.quirks.formUnion(quirk)
    let model = self.model ?? scenario.model ?? .m10
    guard let baud else {
      return VirtualLine(
        model: model, scenario: scenario, seed: seed, startUTCSeconds: secondsSince1970(),
        hasRate: !usb, startingAt: now)
    }
    // The receiver was switched on some seconds ago, and its rate was set since.
    let before = Milliseconds(5000)
    let on = Instant(nanoseconds: now.nanoseconds - min(now.nanoseconds, before.count * 1_000_000))
    var line = VirtualLine(
      model: model, scenario: scenario, seed: seed,
      startUTCSeconds: secondsSince1970() - Int64(before.count / 1000), hasRate: !usb, startingAt: on)
    line.advance(to: now)
    line.inject(.baudRateChange(to: baud), at: now)
    // The output until now was not received.
    _ = line.takeReceived()
    return line
  }
}

extension ReceiverModel: ExpressibleByArgument {}
extension Quirk: ExpressibleByArgument {}
