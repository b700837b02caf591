// SPDX-License-Identifier: Apache-2.0
import FileSystem
import LocationService
import Positioning
import Synchronization
import Timekeeping

/// The permissions that the machine's administrator gives to programs without a user, from /etc/sextant/policy.
final class DaemonPolicy: Sendable {
  private struct State {
    /// The permission by the unit or the executable's path.
    var grants: [String: AuthorizationStatus]
    var launches: Set<String>
    var servesGPSD: Bool?
    var clock: ClockPolicy
    var pulses: PulsePolicy
    /// The number of times that the file was read.
    var revision = 1
  }

  private let state: Mutex<State>

  init(_ policy: LocationPolicy) {
    state = Mutex(
      State(
        grants: policy.grants, launches: policy.launches, servesGPSD: policy.servesGPSD, clock: policy.clock,
        pulses: policy.pulses))
  }

  /// The policy of this machine.
  static func installed() -> DaemonPolicy { DaemonPolicy(installedPolicy()) }

  private static func installedPolicy() -> LocationPolicy {
    LocationPolicy(parsing: try? UserFile.read(LocationPolicy.path))
  }

  /// Reads the file again, on any thread.
  func reload() {
    let policy = Self.installedPolicy()
    state.withLock { state in
      state.grants = policy.grants
      state.launches = policy.launches
      state.servesGPSD = policy.servesGPSD
      state.clock = policy.clock
      state.pulses = policy.pulses
      state.revision += 1
    }
  }

  /// The number of times that the file was read.
  var revision: Int { state.withLock { $0.revision } }

  /// Whether clients of gpsd are served; nil if the policy does not decide it.
  var servesGPSD: Bool? { state.withLock { $0.servesGPSD } }

  /// How the first receiver serves the computer's clock.
  var clock: ClockPolicy { state.withLock { $0.clock } }

  /// Where its pulses are.
  var pulses: PulsePolicy { state.withLock { $0.pulses } }

  /// Returns the permission of a program; nil if the policy has none.
  func grant(to peer: Peer) -> AuthorizationStatus? {
    grant(unit: peer.unit, executable: peer.executable)
  }

  /// Returns the permission of a unit of the system, or else of an executable.
  func grant(unit: String?, executable: String?) -> AuthorizationStatus? {
    state.withLock { state in
      unit.flatMap { state.grants[$0] } ?? executable.flatMap { state.grants[$0] }
    }
  }

  /// Whether the service may start a unit of the system for its events. The rule for polkit reads the same lines
  /// (hw-rules/sextant.rules).
  func mayLaunch(_ unit: String) -> Bool {
    state.withLock { $0.grants[unit] == .authorizedAlways || $0.launches.contains(unit) }
  }
}
