// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX

/// The trust in the signals of one receiver: its own statements, and what a host finds in its epochs.
///
///     message of the receiver ─▶ finding of this source ─┐
///     epoch ─▶ jump, clock, signals ─▶ finding ──────────┼─▶ the worst one, with the reasons of all that are worse than ok
///     epoch of another receiver ─▶ finding ──────────────┘
///
/// A worse finding stays for ``hold`` after its last occurrence, so that a detector at its limit makes no series of changes.
/// A finding without a new message ends after ``lifetime``. What a host finds is never worse than `suspect`.
package struct TrustMonitor: Sendable {
  /// The time for which a worse finding stays.
  static let hold = Milliseconds(10_000)
  /// A finding expires after this time without a new message.
  static let lifetime = Milliseconds(60_000)

  private struct Entry {
    var finding: TrustFinding
    /// Its last occurrence.
    var last: Instant
  }

  private var entries: [TrustFinding.Source: Entry] = [:]
  private var movement = MovementCheck()
  private var clock = ClockCheck()
  private var signals = SignalCheck()
  private var comparison = ComparisonCheck()
  /// What `takeChange` returned last.
  private var reported = SignalTrust.unknown

  package init() {}

  // MARK: Inputs

  /// Takes a message of the receiver.
  package mutating func receive(_ frame: borrowing UBXFrame, at now: Instant) {
    for (source, finding) in Self.findings(of: frame) {
      if let finding { note(finding, of: source, at: now) } else { expire(source, at: now) }
    }
  }

  /// Takes an epoch.
  ///
  /// - Parameters:
  ///   - computerTime: the time of a synchronised clock; nil without one, and for a recording or a simulation.
  ///   - sinceBoot: the time of the clock that runs on while the computer is suspended; nil for `now`.
  package mutating func receive(
    _ fix: Fix, _ sky: borrowing Sky, computerTime: UTCTime? = nil, sinceBoot: Instant? = nil, at now: Instant
  ) {
    let steady = sinceBoot ?? now
    if let reason = movement.receive(fix, at: now) { suspect(reason, .jump, at: now) }
    if let reason = clock.receive(fix, computerTime: computerTime, at: steady) { suspect(reason, .clock, at: now) }
    if let reason = signals.receive(sky, at: now) { suspect(reason, .signals, at: now) }
  }

  /// Takes the newest epochs of this and of another receiver of the same computer.
  package mutating func compare(_ fix: Fix, with other: Fix, at now: Instant) {
    if let reason = comparison.receive(fix, other) { suspect(reason, .comparison, at: now) }
  }

  /// The receiver was lost, or sleeps: its next epochs may be anywhere.
  package mutating func interrupt() {
    movement = MovementCheck()
    clock = ClockCheck()
    signals = SignalCheck()
    comparison = ComparisonCheck()
  }

  // MARK: State

  /// The worst finding.
  package func trust(at now: Instant) -> SignalTrust {
    var worst = SignalTrust.unknown
    for entry in entries.values where now < entry.last + Self.lifetime { worst = max(worst, entry.finding.trust) }
    return worst
  }

  /// The reasons of all findings that are worse than `ok`, the worst first.
  package func reasons(at now: Instant) -> [String] {
    let worse = current(at: now).filter { $0.trust > .ok }
    return worse.enumerated().sorted { ($1.element.trust, $0.offset) < ($0.element.trust, $1.offset) }
      .map(\.element.reason)
  }

  /// Returns a line for the log if the trust has changed, once.
  package mutating func takeChange(at now: Instant) -> String? {
    let trust = trust(at: now)
    guard trust != reported else { return nil }
    let wasWorse = reported > .ok
    reported = trust
    guard trust > .ok else { return wasWorse ? "the signals of the receiver are no longer in doubt" : nil }
    let reasons = reasons(at: now).joined(separator: "; ")
    return switch trust {
    case .jammed: "the receiver is jammed: \(reasons)"
    case .spoofed: "the receiver is spoofed: \(reasons)"
    default: "the signals of the receiver are suspect: \(reasons)"
    }
  }

  private func current(at now: Instant) -> [TrustFinding] {
    TrustFinding.Source.allCases.compactMap { source in
      entries[source].flatMap { now < $0.last + Self.lifetime ? $0.finding : nil }
    }
  }

  // MARK: Changes

  private mutating func suspect(_ reason: String, _ source: TrustFinding.Source, at now: Instant) {
    note(TrustFinding(trust: .suspect, reason: reason), of: source, at: now)
  }

  private mutating func note(_ finding: TrustFinding, of source: TrustFinding.Source, at now: Instant) {
    if let entry = entries[source], finding.trust < entry.finding.trust, now < entry.last + Self.hold { return }
    entries[source] = Entry(finding: finding, last: now)
  }

  private mutating func expire(_ source: TrustFinding.Source, at now: Instant) {
    if let entry = entries[source], now >= entry.last + Self.hold { entries[source] = nil }
  }
}
