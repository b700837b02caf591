import MonotonicTime

/// What a receiver is doing, as its current shows.
public enum VirtualPowerState: String, CaseIterable, Sendable {
  /// No supply and no backup.
  case off
  /// No supply; the backup pin keeps the clock and the battery-backed memory.
  case hardwareBackup
  /// Asleep on request (RXM-PMREQ).
  case standby
  /// The off phase of power save mode.
  case inactive
  /// The oscillator and the processor start.
  case starting
  /// The processor runs, satellites are not listened to.
  case stopped
  /// Searching.
  case acquisition
  case tracking
  /// Tracking in intervals (power save mode).
  case optimisedTracking

  /// Whether its processor runs, so that it reads and writes.
  public var isAwake: Bool {
    switch self {
    case .stopped, .acquisition, .tracking, .optimisedTracking: true
    case .off, .hardwareBackup, .standby, .inactive, .starting: false
    }
  }

  /// Whether it sleeps and can be woken.
  public var isAsleep: Bool { self == .standby || self == .inactive }
}

/// Adds up current over time, exactly: a state's current is constant.
struct PowerMeter: Sendable {
  private(set) var state: VirtualPowerState
  /// Since the start, from the main or the backup supply.
  private(set) var chargeMilliampereSeconds = 0.0
  /// The same of the pins' supply.
  private(set) var pinChargeMilliampereSeconds = 0.0
  /// The last states and when they began.
  private(set) var log: [(since: Instant, state: VirtualPowerState)]
  /// The states of the log that were dropped.
  private(set) var forgotten = 0
  private var milliamperes = 0.0
  private var pinMilliamperes = 0.0
  private var since: Instant

  /// Entries that the log keeps: a day of a wake-up each minute and more.
  private static let longestLog = 8192

  init(_ state: VirtualPowerState, at now: Instant) {
    self.state = state
    since = now
    log = []
    // At its full size from the start: who measures memory over a day sees no growth that is the simulator's.
    log.reserveCapacity(Self.longestLog + 1)
    log.append((now, state))
  }

  /// Adds up until now.
  mutating func advance(to now: Instant) {
    guard now > since else { return }
    let seconds = now.seconds(since: since)
    chargeMilliampereSeconds += milliamperes * seconds
    pinChargeMilliampereSeconds += pinMilliamperes * seconds
    since = now
  }

  /// Changes the state, and what it draws by the table.
  mutating func enter(_ state: VirtualPowerState, _ currents: Currents, _ systems: SatelliteSystems, at now: Instant) {
    advance(to: now)
    let row = currents.row(for: systems)
    switch state {
    case .off: milliamperes = 0
    case .hardwareBackup: milliamperes = currents.hardwareBackup
    case .standby, .inactive: milliamperes = currents.standby
    case .starting, .acquisition: milliamperes = row.acquisition
    // The data sheets do not tell what the processor draws alone; it is taken for half of tracking.
    case .stopped: milliamperes = row.tracking / 2
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
    if log.count > Self.longestLog {
      forgotten += log.count / 2
      log.removeFirst(log.count / 2)
    }
  }
}
