// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import LocationService
import Positioning
import Receiver
import ReceiverRuntime
import Synchronization
import WireBytes

/// The permissions that the machine's administrator grants to programs without a user, from /etc/sextant/policy, and
/// the limits for clients of gpsd, from there or from /etc/sextant/config.
final class DaemonPolicy: Sendable {
  private struct State {
    /// The setting of /etc/sextant/config.
    var configured: GPSDSetting?
    /// The permissions, keyed by unit or executable path.
    var grants: [ExactText: AuthorizationStatus]
    var launches: Set<ExactText>
    var servesGPSD: Bool?
    var gpsdLimit = DemandLimit()
    var clock: ClockPolicy
    var pulses: PulsePolicy
    /// The number of times that the file was read.
    var revision = 1

    init(_ policy: LocationPolicy, _ configured: GPSDSetting?) {
      self.configured = configured
      grants = policy.grants
      launches = policy.launches
      servesGPSD = policy.gpsd?.isOn ?? configured?.isOn
      if let limiting = [policy.gpsd, configured].compactMap(\.self).first(where: \.hasLimit) {
        gpsdLimit = DemandLimit(everySeconds: limiting.everySeconds, accuracyMetres: limiting.accuracyMetres)
      }
      clock = policy.clock
      pulses = policy.pulses
    }
  }

  private let state: Mutex<State>

  /// - Parameter gpsd: the setting of /etc/sextant/config; a line of the policy has precedence.
  init(_ policy: LocationPolicy, gpsd: GPSDSetting? = nil) { state = Mutex(State(policy, gpsd)) }

  /// The policy of this machine.
  ///
  /// - Parameter variable: returns a variable of the environment.
  static func installed(_ variable: (String) -> String?) -> DaemonPolicy {
    // The service does not start with a mistake in the configuration, which is reported with its other settings.
    DaemonPolicy(.installed(), gpsd: (try? SextantConfiguration.installed(variable))?.gpsd)
  }

  /// Reads the files again, on any thread.
  func reload(_ variable: (String) -> String?) {
    let configuration = try? SextantConfiguration.installed(variable)
    reload(.installed(), configuration)
  }

  /// - Parameter configuration: nil if it cannot be read; its old setting stays then, because it may deny.
  func reload(_ policy: LocationPolicy, _ configuration: SextantConfiguration?) {
    state.withLock { state in
      var new = State(policy, configuration.map(\.gpsd) ?? state.configured)
      new.revision = state.revision + 1
      state = new
    }
  }

  /// The number of times that the file was read.
  var revision: Int { state.withLock { $0.revision } }

  /// Whether clients of gpsd are served; nil if the policy does not decide it.
  var servesGPSD: Bool? { state.withLock { $0.servesGPSD } }

  /// The limits for the demands of gpsd's clients.
  var gpsdLimit: DemandLimit { state.withLock { $0.gpsdLimit } }

  /// How the first receiver serves the computer's clock.
  var clock: ClockPolicy { state.withLock { $0.clock } }

  /// The source of its pulses.
  var pulses: PulsePolicy { state.withLock { $0.pulses } }

  /// Returns the permission of a program; nil if the policy has none.
  func grant(to peer: Peer) -> AuthorizationStatus? {
    grant(unit: peer.unit, executable: peer.executable)
  }

  /// Whether the policy gives permission to a unit of the system.
  func hasGrant(ofUnit unit: ExactText?) -> Bool {
    unit.map { unit in state.withLock { $0.grants[unit] != nil } } ?? false
  }

  /// Returns the permission of a system unit, otherwise of an executable.
  func grant(unit: ExactText?, executable: ExactText?) -> AuthorizationStatus? {
    state.withLock { state in
      unit.flatMap { state.grants[$0] } ?? executable.flatMap { state.grants[$0] }
    }
  }

  /// Whether a program without a terminal is in use: it runs in a system service with the permission `whenInUse` from
  /// the policy. The administrator starts and stops it.
  func isInUse(_ peer: Peer) -> Bool {
    guard let unit = peer.unit?.text, unit.ends(with: ".service"), !unit.begins(with: "user@") else { return false }
    return grant(to: peer) == .authorizedWhenInUse
  }

  /// Whether the service may start a unit of the system for its events. The rule for polkit reads the same lines
  /// (hw-rules/sextant.rules).
  func mayLaunch(_ unit: String) -> Bool {
    let unit = ExactText(unit)
    return state.withLock { $0.grants[unit] == .authorizedAlways || $0.launches.contains(unit) }
  }
}
