// SPDX-License-Identifier: Apache-2.0
import FileSystem
import LocationService
import Positioning
import Synchronization

/// The permissions that the machine's administrator gives to programs without a user, from /etc/sextant/policy.
final class DaemonPolicy: Sendable {
  private struct State {
    /// The permission by the unit or the executable's path.
    var grants: [String: AuthorizationStatus]
    /// The number of times that the file was read.
    var revision = 1
  }

  private let state: Mutex<State>

  init(_ policy: LocationPolicy) { state = Mutex(State(grants: policy.grants)) }

  /// The policy of this machine.
  static func installed() -> DaemonPolicy { DaemonPolicy(installedPolicy()) }

  private static func installedPolicy() -> LocationPolicy {
    LocationPolicy(parsing: try? UserFile.read(LocationPolicy.path))
  }

  /// Reads the file again, on any thread.
  func reload() {
    let grants = Self.installedPolicy().grants
    state.withLock { state in
      state.grants = grants
      state.revision += 1
    }
  }

  /// The number of times that the file was read.
  var revision: Int { state.withLock { $0.revision } }

  /// Returns the permission of a program; nil if the policy has none.
  func grant(to peer: Peer) -> AuthorizationStatus? {
    state.withLock { state in
      peer.unit.flatMap { state.grants[$0] } ?? peer.executable.flatMap { state.grants[$0] }
    }
  }
}
