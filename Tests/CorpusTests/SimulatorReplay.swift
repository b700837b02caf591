// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import TestSupport
import UBX

/// Sends the requests of a recorded dialogue to a simulated receiver, in virtual time: at the recorded times, but only
/// after the replies that the host had received by then.
struct SimulatorReplay {
  /// The recorded state cannot be set in the simulator.
  struct Unreachable: Error { var request: UInt16 }

  private let dialogue: Dialogue
  private var line: VirtualLine
  private var now = Instant.zero
  private var pieces = Pieces()
  private var events: [Event] = []
  private let isUSB: Bool

  /// The longest wait for a reply that the real receiver sent.
  private static let timeout = Milliseconds(3000)

  /// The simulated model of the recorded receiver, from its MON-VER; nil if there is none.
  static func model(of dialogue: Dialogue) -> ReceiverModel? {
    guard let version = dialogue.first(0x0A04), let receiver = ReceiverDescription(monVER: version) else { return nil }
    return switch receiver.generation {
    case .m6?: .m6
    case .m8?: .m8
    case .m9?: .m9
    case .m10?: .m10
    case .f9?: .f9p
    case .f10?: .f10
    case .x20?: .x20
    case .m7?, .d9?, nil: nil
    }
  }

  init(_ dialogue: Dialogue, _ model: ReceiverModel) {
    self.dialogue = dialogue
    isUSB = dialogue.lines.first?.rate == 0
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: 1_780_000_000, hasRate: !isUSB)
  }

  /// Returns the requests with the replies of the simulator.
  mutating func run() throws -> [RecordedRequest] {
    run(to: .zero + Milliseconds(3000))
    try prepare()
    var base = begin()
    events = []
    for (index, one) in dialogue.lines.enumerated() where one.isSent {
      run(to: max(now, base + Milliseconds(seconds: one.seconds)))
      let before = now
      wait(for: RecordedRequest.list(dialogue.events(before: index)))
      // The host waits longer for the simulator: everything else is delayed too.
      base += Milliseconds(now.milliseconds(since: before))
      events += Event.sent(one.bytes, changesRate: one.rate != nil)
      line.send(one.bytes, at: now)
      if let rate = one.rate, index > 0, line.hostRate > 0 {
        run(
          to: Instant(nanoseconds: now.nanoseconds + UInt64(one.bytes.count) * 10_000_000_000 / UInt64(line.hostRate)))
        line.hostRate = rate
      }
    }
    run(to: now + Self.timeout)
    events += pieces.end().map { .received($0) }
    return RecordedRequest.list(events)
  }

  /// Brings the receiver to the recorded state: rate, protocols, messages and signals.
  private mutating func prepare() throws {
    if let items = dialogue.first(0x068B), items.count > 8, items[6] == 0x31 {
      try request(0x068A, [0, 1, 0, 0] + items[4...])
    } else if let systems = dialogue.first(0x063E) {
      try request(0x063E, systems)
    }
    if dialogue.hasNavigationMessages { line.receiver.setRate(of: MessageIdentity(0x01, 0x07), every: 1) }
    let rate = dialogue.lines.first?.rate.flatMap { $0 == 0 ? nil : $0 } ?? line.receiver.baudRate
    let (port, output) = (isUSB ? 3 : 1, dialogue.hasSentences ? "0003" : "0001")
    line.send(Wire.nmea("PUBX,41,\(port),0007,\(output),\(rate),0"), at: now)
    run(to: now + Milliseconds(1000))
    line.hostRate = rate
    run(to: now + Milliseconds(2000))
  }

  /// Sends a message that must be acknowledged.
  private mutating func request(_ identity: UInt16, _ payload: [UInt8]) throws {
    events = [.sent(identity, payload, changesRate: false)]
    line.send(Wire.ubx(UInt8(identity >> 8), UInt8(identity & 0xFF), payload), at: now)
    run(to: now + Milliseconds(1000))
    guard RecordedRequest.list(events).first?.kinds.contains(.acknowledged) == true else {
      throw Unreachable(request: identity)
    }
  }

  /// Advances to the beginning of an epoch if the recording begins with one, otherwise to a quiet moment. Returns the
  /// time.
  private mutating func begin() -> Instant {
    let startsWithEpoch = dialogue.lines.first?.isSent == false
    let second = 1_000_000_000 * (now.nanoseconds / 1_000_000_000 + 1)
    run(to: Instant(nanoseconds: second) + Milliseconds(startsWithEpoch ? 50 : 500))
    return now
  }

  private mutating func wait(for recorded: [RecordedRequest]) {
    let end = now + Self.timeout
    while now < end {
      let replies = RecordedRequest.list(events)
      let isComplete = zip(recorded, replies).allSatisfy { $0.kindsInTime.isSubset(of: $1.kinds) }
      guard !isComplete, let due = line.deadline else { return }
      run(to: min(end, max(due, now)))
    }
  }

  private mutating func run(to end: Instant) {
    while let due = line.deadline, due <= end {
      now = max(now, due)
      take()
    }
    now = end
    take()
  }

  private mutating func take() {
    line.advance(to: now)
    events += pieces.take(line.takeReceived()).map { .received($0) }
  }
}

extension Dialogue {
  /// The events before a line.
  fileprivate func events(before index: Int) -> [Event] { Dialogue(name: name, lines: Array(lines[..<index])).events }
}
