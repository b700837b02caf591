// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The power states of a receiver.
public enum VirtualPowerState: String, CaseIterable, Sendable {
  /// No supply and no backup.
  case off
  /// No supply; the backup pin supplies the clock and the battery-backed memory.
  case hardwareBackup
  /// Asleep on request (RXM-PMREQ).
  case standby
  /// The off phase of power save mode.
  case inactive
  /// The oscillator and the processor start.
  case starting
  /// The processor runs; the satellite search is off.
  case stopped
  /// The receiver searches for satellites.
  case acquisition
  case tracking
  /// Tracking in intervals (power save mode).
  case optimisedTracking

  /// Whether the processor runs, so that the receiver reads and writes.
  public var isAwake: Bool {
    switch self {
    case .stopped, .acquisition, .tracking, .optimisedTracking: true
    case .off, .hardwareBackup, .standby, .inactive, .starting: false
    }
  }

  /// Whether the receiver sleeps and can be woken.
  public var isAsleep: Bool { self == .standby || self == .inactive }
}

/// Integrates the current over time. The result is exact, since the current of a state is constant.
struct PowerMeter: Sendable {
  private(set) var state: VirtualPowerState
  /// The charge since the start, from the main or the backup supply.
  private(set) var chargeMilliampereSeconds = 0.0
  /// The charge since the start from the pins' supply.
  private(set) var pinChargeMilliampereSeconds = 0.0
  /// The latest states, each with its start.
  private(set) var log: [(since: Instant, state: VirtualPowerState)]
  private var milliamperes = 0.0
  private var pinMilliamperes = 0.0
  private var since: Instant

  /// The capacity of the log: more than a day with a wake-up each minute.
  private static let longestLog = 8192

  init(_ state: VirtualPowerState, at now: Instant) {
    self.state = state
    since = now
    log = []
    // The full size is reserved at the start, so that the simulator's log adds no growth to a memory measurement.
    log.reserveCapacity(Self.longestLog + 1)
    log.append((now, state))
  }

  /// Integrates until now.
  mutating func advance(to now: Instant) {
    guard now > since else { return }
    let seconds = now.seconds(since: since)
    chargeMilliampereSeconds += milliamperes * seconds
    pinChargeMilliampereSeconds += pinMilliamperes * seconds
    since = now
  }

  /// Changes the state and the current.
  mutating func enter(_ state: VirtualPowerState, _ currents: Currents, _ systems: SatelliteSystems, at now: Instant) {
    advance(to: now)
    let row = currents.row(for: systems)
    switch state {
    case .off: milliamperes = 0
    case .hardwareBackup: milliamperes = currents.hardwareBackup
    case .standby, .inactive: milliamperes = currents.standby
    case .starting, .acquisition: milliamperes = row.acquisition
    // Most data sheets have no figure for the processor; it is taken as half of the tracking current.
    case .stopped: milliamperes = currents.stopped ?? row.tracking / 2
    case .tracking: milliamperes = row.tracking
    case .optimisedTracking: milliamperes = row.cyclic
    }
    switch state {
    case .off, .hardwareBackup, .standby, .inactive: pinMilliamperes = 0
    default: pinMilliamperes = currents.pinSupply
    }
    guard state != self.state else { return }
    self.state = state
    log.append((now, state))
    if log.count > Self.longestLog { log.removeFirst(log.count / 2) }
  }
}
