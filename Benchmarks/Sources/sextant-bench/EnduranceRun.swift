// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream

/// A session on a virtual receiver's line with a fault about every ten minutes. The run stores only counts.
final class EnduranceRun {
  private(set) var faults = 0
  /// Fixes with a position.
  private(set) var fixes = 0
  /// Fixes whose error exceeds their own accuracy.
  private(set) var wrongFixes = 0
  private(set) var missedRecoveries = 0

  private var line: VirtualLine
  private var random: SeededRandomNumberGenerator
  private var held: Held?
  /// An optional of the session itself cannot be borrowed.
  private struct Held: ~Copyable { var session: ReceiverSession }
  private let settings = SessionSettings(intent: .serve, line: .serial)
  private var memory: SessionMemory?
  private var now = Instant.zero
  private var nextPoll = Instant.zero
  private let isIdentifiable: Bool

  private static let rates: [UInt32] = [9600, 38_400, 115_200]
  /// The interval between two searches for a device that is gone.
  private static let pollInterval = Milliseconds(500)
  /// A cold start takes half a minute, and a receiver with an incomplete identity is polled again after a minute.
  private static let recovery = Milliseconds(100_000)

  init(_ model: ReceiverModel, seed: UInt64) {
    line = VirtualLine(model: model, seed: seed, startUTCSeconds: 1_780_000_000)
    line.hostRate = 9600
    random = SeededRandomNumberGenerator(seed: seed)
    isIdentifiable = model != .nmea
    _ = pass(Milliseconds(60_000))
  }

  /// Runs an hour, and completes recoveries that have begun: the session is idle at the end.
  func passHour() {
    let end = now + Milliseconds(3_600_000)
    while now < end {
      _ = pass(Milliseconds(UInt64(300 + random.next(below: 600)) * 1000))
      let seconds = 1 + random.next(below: 30)
      line.inject(fault(lasting: Milliseconds(UInt64(seconds) * 1000)), at: now)
      faults += 1
      _ = pass(Milliseconds(UInt64(seconds) * 1000))
      let count = fixes
      let isBack = pass(Self.recovery) { $0.fixes > count + 1 }
      let isSteady = !isIdentifiable || pass(Self.recovery) { $0.isSteady }
      if !isBack || !isSteady { missedRecoveries += 1 }
    }
  }

  private func fault(lasting length: Milliseconds) -> Fault {
    switch random.next(below: 11) {
    case 0: .unplug(for: length)
    case 1: .powerCycle(for: length, losingBackup: random.next(below: 2) == 0)
    case 2: .corrupt(share: Double(1 + random.next(below: 200)) / 10_000, for: length)
    case 3: .drop(share: Double(1 + random.next(below: 200)) / 10_000, for: length)
    case 4: .freeze(for: length)
    case 5: .refuseEverything(for: length)
    case 6: .silence(for: length)
    case 7: .flood(for: length)
    case 8: .baudRateChange(to: Self.rates[random.next(below: 3)])
    case 9: .cutFrame(silenceFor: length)
    default: .reboot
    }
  }

  private var isSteady: Bool {
    if held == nil { return false }
    return held!.session.isSteady
  }

  private var deadline: Instant? {
    if held == nil { return nextPoll }
    return held!.session.deadline
  }

  // MARK: Time

  /// Advances the time until `condition` holds; returns whether it did.
  private func pass(_ length: Milliseconds, until condition: (EnduranceRun) -> Bool = { _ in false }) -> Bool {
    let end = now + length
    while now < end {
      let wasAt = now
      now = max(now, Instant.earlier(Instant.earlier(line.deadline, deadline), end) ?? end)
      line.advance(to: now)
      plug()
      work(wasAt: wasAt)
      if condition(self) { return true }
    }
    return condition(self)
  }

  /// The runtime's part after received bytes or at the session's deadline.
  private func work(wasAt: Instant) {
    let bytes = line.takeReceived()
    guard held != nil else { return }
    if !bytes.isEmpty {
      unsafe held!.session.receive(bytes.span.bytes, at: now) { report, _ in take(report) }
    }
    if let due = held!.session.deadline, now >= due {
      held!.session.wake(at: now) { report, _ in take(report) }
      if let again = held!.session.deadline, again <= now, wasAt == now { now = now + Milliseconds(1) }
    }
    carryOut()
  }

  /// The runtime's part when the device disappears or appears.
  private func plug() {
    if held != nil, !line.isPresent {
      held!.session.lost { report, _ in take(report) }
      carryOut()
      memory = held!.session.memory
      held = nil
      nextPoll = now + Self.pollInterval
    } else if held == nil, now >= nextPoll {
      nextPoll = now + Self.pollInterval
      guard line.isPresent else { return }
      var settings = settings
      settings.memory = memory
      held = Held(session: ReceiverSession(settings, lineRate: line.hostRate, reference: nil, now: now))
    }
  }

  private func carryOut() {
    while held != nil, let action = held!.session.nextAction() {
      switch action {
      case .send(let bytes): line.send(bytes, at: now)
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report, .finished, .batch: break
      }
    }
  }

  private func take(_ report: borrowing EpochAssembler.Report) {
    guard !report.isUpdate, report.fix.hasPosition, let latitude = report.fix.latitudeDegrees,
      let longitude = report.fix.longitudeDegrees
    else { return }
    fixes += 1
    let truth = line.receiver.truth(at: now)
    let north = (latitude - truth.latitudeDegrees) * 111_200
    // The walk's scenario is at 48 degrees north; this is its cosine.
    let east = (longitude - truth.longitudeDegrees) * 111_200 * 0.67
    let error = (north * north + east * east).squareRoot()
    // Ten standard deviations, and a second of motion.
    if error > 10 * (report.fix.horizontalAccuracyMetres ?? 10) + 40 { wrongFixes += 1 }
  }
}
