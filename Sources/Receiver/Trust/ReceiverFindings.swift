// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX

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
