// SPDX-License-Identifier: Apache-2.0
import UBX

extension DesiredConfiguration {
  /// Adds the messages in which a u-blox receiver reports jamming, spoofing and authentication.
  ///
  /// SEC-SIG is in the interface descriptions of F9 HPG from protocol version 27.40 on (HPS has 33), F10 and X20. It replaces the states of
  /// MON-RF, which are always 0 beside version 2 of it, and NAV-STATUS spoofDetState. Other receivers have MON-RF from
  /// protocol version 27 on, else MON-HW, and spoofDetState from 18 on. SEC-OSNMA is in the description of X20.
  package mutating func addSignalReports(for receiver: ReceiverDescription) {
    // Other makers' receivers are used as they are.
    guard receiver.family == nil else { return }
    let version = receiver.protocolVersion ?? ProtocolVersion(0, 0)
    let hasSecurity =
      switch receiver.generation {
      case .f9: version >= ProtocolVersion(27, 40) && version < ProtocolVersion(28, 0)
      case .f10, .x20: true
      default: false
      }
    var reports: [MessageIdentity] = []
    if hasSecurity {
      reports.append(SecSIG.identity)
      if receiver.generation == .x20 { reports.append(SecOSNMA.identity) }
    } else {
      reports.append(receiver.can(.valset) ? MonRF.identity : MonHW.identity)
      if version >= ProtocolVersion(18, 0) { reports.append(NavSTATUS.identity) }
    }
    messages += reports.map { MessageRate($0, 1) }
  }
}
