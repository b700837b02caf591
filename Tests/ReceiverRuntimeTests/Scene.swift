// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort

/// A connection to a simulated receiver on a real pseudo-terminal, in virtual time. The kernel returns the bytes of a
/// terminal on each read, so no test waits.
final class RuntimeScene {
  var poller: Poller
  let receiver: SimulatedReceiver
  let connection: ReceiverConnection
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var events: [ReceiverConnection.Event] = []
  private(set) var lastFix: Fix?
  /// Runs a feed in each round.
  var feed: CorrectionFeed?
  private(set) var feedReports: [String] = []
  /// Bytes that were written to the receiver.
  var written: [UInt8] { (receiver.device as? RecordedLine)?.sent ?? [] }

  init(_ model: ReceiverModel, intent: SessionSettings.Intent = .serve) throws {
    let start = now
    poller = try Poller()
    let line = VirtualLine(model: model, startUTCSeconds: 1_780_000_000, startingAt: start)
    receiver = try SimulatedReceiver(RecordedLine(line), link: "", now: start)
    _ = try receiver.wake(&poller, token: Poller.Token(rawValue: 2), at: start)
    connection = ReceiverConnection(
      path: receiver.path ?? "", settings: SessionSettings(intent: intent, line: .serial), baud: nil,
      token: Poller.Token(rawValue: 1), reference: { nil })
    try connection.open(&poller, at: start)
  }

  /// Advances the time until `condition` is true, at most by `seconds`. Returns whether it became true.
  func run(_ seconds: Double, until condition: (RuntimeScene) -> Bool = { _ in false }) throws -> Bool {
    let end = now + Milliseconds(seconds: seconds)
    while now < end {
      try step()
      if condition(self) { return true }
      now = now + Milliseconds(5)
    }
    return false
  }

  /// Runs one round: reads available bytes, and performs the actions that are due.
  func step() throws {
    _ = try receiver.wake(&poller, token: Poller.Token(rawValue: 2), at: now)
    for event in try poller.wait(deadline: 0) {
      connection.handle(event, &poller, at: now) { report, _ in lastFix = report.fix }
      feed?.handle(event, &poller, at: now)
    }
    connection.wake(&poller, at: now) { report, _ in lastFix = report.fix }
    if let fix = lastFix { feed?.receive(fix) }
    while let event = connection.nextEvent() {
      if case .finished(let ticket, _) = event { feed?.finished(ticket) }
      events.append(event)
    }
    feed?.work(connection, &poller, at: now)
    while let text = feed?.nextReport() { feedReports.append(text) }
  }
}

/// A simulated line that records the bytes written to it.
private struct RecordedLine: SimulatedDevice {
  var line: VirtualLine
  private(set) var sent: [UInt8] = []

  init(_ line: VirtualLine) { self.line = line }

  var hostRate: UInt32 {
    get { line.hostRate }
    set { line.hostRate = newValue }
  }
  var isPresent: Bool { line.isPresent }
  var deadline: Instant? { line.deadline }
  mutating func send(_ bytes: [UInt8], at now: Instant) {
    sent += bytes
    line.send(bytes, at: now)
  }
  mutating func advance(to now: Instant) { line.advance(to: now) }
  mutating func takeReceived() -> [UInt8] { line.takeReceived() }
}

extension [UInt8] {
  /// The number of occurrences of a piece in the bytes.
  func occurrences(of piece: [UInt8]) -> Int {
    guard !piece.isEmpty, count >= piece.count else { return 0 }
    return (0...count - piece.count).count { Array(self[$0..<$0 + piece.count]) == piece }
  }
}
