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
/// A finding without a new message ends after ``lifetime``. A finding of the host is never worse than `suspect`.
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
  /// The last result of `takeChange`.
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

/// A statement about the signals of a receiver, and its reason.
struct TrustFinding: Equatable, Sendable {
  /// The origin of a finding. There is one finding of each.
  enum Source: CaseIterable, Sendable {
    case securityJamming, securitySpoofing, radio, hardware, navigationStatus, authentication
    case jump, clock, signals, comparison
  }

  var trust: SignalTrust
  /// One line for people; empty for a finding that is not worse than `ok`.
  var reason: String
}

// The statements of a u-blox receiver about its signals (interface descriptions, the messages' own sections).
extension TrustMonitor {
  /// The finding of a message; nil for a message without a statement.
  ///
  /// A detector that is off, and the state "unknown", make no statement. MON-RF of firmware with SEC-SIG version 2 always has
  /// that state.
  static func findings(of frame: borrowing UBXFrame) -> [(TrustFinding.Source, TrustFinding?)] {
    if let message = frame.message(SecSIG.self) {
      let frequencies = (0..<message.frequencyCount).filter { message.frequency($0).jamStateCentFreq_jammed }
        .map { "\(message.frequency($0).jamStateCentFreq_centFreq / 1000) MHz" }
      let place = frequencies.isEmpty ? "" : " at " + frequencies.joined(separator: ", ")
      return [
        (
          .securityJamming,
          message.sigSecFlags_jamDetEnabled
            ? jamming(message.sigSecFlags_jammingState, "SEC-SIG", place: place) : nil
        ),
        (
          .securitySpoofing,
          message.sigSecFlags_spfDetEnabled
            ? spoofing(message.sigSecFlags_spoofingState, "SEC-SIG", strongest: "affirmed") : nil
        ),
      ]
    }
    if let message = frame.message(SecSIG_V1.self) {
      return [
        (.securityJamming, message.jamFlags_jamDetEnabled ? jamming(message.jamFlags_jammingState, "SEC-SIG") : nil),
        (
          .securitySpoofing,
          message.spfFlags_spfDetEnabled
            ? spoofing(message.spfFlags_spoofingState, "SEC-SIG", strongest: "affirmed") : nil
        ),
      ]
    }
    if let message = frame.message(MonRF.self) {
      return [(.radio, worst((0..<message.rFBlockCount).map { message.rFBlock($0).flags_jammingState }))]
    }
    if let message = frame.message(MonRF_Compact.self) {
      return [(.radio, worst((0..<message.rFBlockCount).map { message.rFBlock($0).flags_jammingState }))]
    }
    if let message = frame.message(MonHW.self) {
      return [(.hardware, jamming(message.flags_jammingState, "MON-HW"))]
    }
    if let message = frame.message(MonHW_M6.self) {
      return [(.hardware, jamming(message.flags_jammingState, "MON-HW"))]
    }
    if let message = frame.message(NavSTATUS.self) {
      let state = message.flags2_spoofDetState
      return [(.navigationStatus, spoofing(state, "NAV-STATUS", strongest: "indicated several times"))]
    }
    if let message = frame.message(SecOSNMA.self) {
      return [
        (
          .authentication,
          authentication(
            isEnabled: message.osnmaMonitoring_osnmaEnabled, key: Int(clamping: message.teslaKey_teslaKeyAuthStatus),
            timing: Int(clamping: message.generalAndTiming_timingAuthResult),
            synchronisation: Int(clamping: message.timSyncReq_timSyncStatus),
            satellites: Int(clamping: message.generalAndTiming_authSVs))
        )
      ]
    }
    if let message = frame.message(SecOSNMA_V2.self) {
      return [
        (
          .authentication,
          authentication(
            isEnabled: message.osnmaMonitoring_osnmaEnabled, key: Int(clamping: message.teslaKey_teslaKeyAuthStatus),
            timing: Int(clamping: message.generalAndTiming_timingAuthResult),
            synchronisation: Int(clamping: message.timeSyncReq_timSyncStatus),
            satellites: Int(clamping: message.generalAndTiming_authSVs))
        )
      ]
    }
    return []
  }

  /// jammingState: 0 unknown, 1 none, 2 warning, 3 critical.
  private static func jamming<State: BinaryInteger>(_ state: State, _ name: String, place: String = "") -> TrustFinding?
  {
    switch state {
    case 1: TrustFinding(trust: .ok, reason: "")
    case 2: TrustFinding(trust: .suspect, reason: "\(name): the receiver warns of jamming\(place)")
    case 3: TrustFinding(trust: .jammed, reason: "\(name): jamming is critical\(place)")
    default: nil
    }
  }

  /// spoofingState and spoofDetState: 0 unknown, 1 none, 2 indicated, 3 stronger.
  private static func spoofing<State: BinaryInteger>(_ state: State, _ name: String, strongest: String) -> TrustFinding?
  {
    switch state {
    case 1: TrustFinding(trust: .ok, reason: "")
    case 2: TrustFinding(trust: .spoofed, reason: "\(name): spoofing is indicated")
    case 3: TrustFinding(trust: .spoofed, reason: "\(name): spoofing is \(strongest)")
    default: nil
    }
  }

  /// The worst input of MON-RF.
  private static func worst<State: BinaryInteger>(_ states: [State]) -> TrustFinding? {
    let worst = states.max() ?? 0
    let inputs = states.indices.filter { states[$0] == worst }.map { "\($0)" }.joined(separator: ", ")
    return jamming(worst, "MON-RF", place: " at input \(inputs)")
  }

  /// SEC-OSNMA: a failed authentication is not a proof of spoofing: damaged data fail as well.
  private static func authentication(
    isEnabled: Bool, key: Int, timing: Int, synchronisation: Int, satellites: Int
  ) -> TrustFinding? {
    guard isEnabled else { return nil }
    if key == 2 {
      return TrustFinding(trust: .suspect, reason: "SEC-OSNMA: the authentication of the chain key failed")
    }
    if timing == 2 { return TrustFinding(trust: .suspect, reason: "SEC-OSNMA: the authentication of the time failed") }
    if synchronisation == 4 {
      return TrustFinding(trust: .suspect, reason: "SEC-OSNMA: the satellites' time contradicts the trusted time")
    }
    return key == 1 && satellites > 0 ? TrustFinding(trust: .ok, reason: "") : nil
  }
}
