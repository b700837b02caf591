// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

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
