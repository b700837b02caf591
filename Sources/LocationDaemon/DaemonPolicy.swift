// SPDX-License-Identifier: Apache-2.0
import LocationService
import Positioning

/// The permissions that the machine's administrator gives to programs without a user, from /etc/sextant/policy.
struct DaemonPolicy: Sendable {
  /// The permission by the unit or the executable's path.
  private let grants: [String: AuthorizationStatus]

  init(_ policy: LocationPolicy) { grants = policy.grants }

  /// Returns the permission of a program; nil if the policy has none.
  func grant(to peer: Peer) -> AuthorizationStatus? {
    peer.unit.flatMap { grants[$0] } ?? peer.executable.flatMap { grants[$0] }
  }
}
