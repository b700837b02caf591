/// Names one client of the policy. Whoever feeds demands chooses the numbers.
public struct ClientID: Hashable, Comparable, Sendable {
  public var number: UInt32

  public init(_ number: UInt32) { self.number = number }

  public static func < (a: ClientID, b: ClientID) -> Bool { a.number < b.number }
}

/// What one client wants of the receiver. A client may want several things at once; the strictest decides.
///
/// Numbers that make no sense (NaN, below zero) are read as the strictest that does: see ``sane``.
public struct Demand: Hashable, Sendable {
  /// Standard updates; nil when the client has not started them.
  public var updates: Updates?
  /// A fix is wanted now, and every second until the demand is taken back (requestLocation).
  public var oneShot: Bool
  /// A fix at least this often, in seconds; the receiver may sleep in between.
  public var everySeconds: Double?
  /// Significant changes: about 500 m, at most every 5 minutes (rules SC-2, SC-3).
  public var significantChange: Bool
  /// The monitored border that is nearest, if regions are monitored.
  public var border: Border?

  public init(
    updates: Updates? = nil, oneShot: Bool = false, everySeconds: Double? = nil, significantChange: Bool = false,
    border: Border? = nil
  ) {
    self.updates = updates
    self.oneShot = oneShot
    self.everySeconds = everySeconds
    self.significantChange = significantChange
    self.border = border
  }

  /// Standard updates: how good, how often, and what the client allows.
  public struct Updates: Hashable, Sendable {
    public var accuracy: Accuracy
    /// A fix is wanted whenever this many metres were covered; 0 or less: every fix (rule SU-31).
    public var distanceFilterMetres: Double
    public var activity: Activity
    public var pausing: Pausing
    /// While fixes are only collected for later; nil when they are delivered as they come.
    public var deferral: Deferral?

    public init(
      accuracy: Accuracy = .best, distanceFilterMetres: Double = 0, activity: Activity = .other,
      pausing: Pausing = .automatic, deferral: Deferral? = nil
    ) {
      self.accuracy = accuracy
      self.distanceFilterMetres = distanceFilterMetres
      self.activity = activity
      self.pausing = pausing
      self.deferral = deferral
    }
  }

  /// How good a position has to be. It selects effort and never suppresses a fix (rule SU-5).
  public enum Accuracy: Hashable, Sendable {
    /// The best there is, for navigation: nothing is saved.
    case navigation
    case best
    case metres(Double)
  }

  /// What moves, and so how fast it may be and when it is thought to rest (rules PA-2 to PA-5).
  public enum Activity: UInt8, Hashable, Sendable, CaseIterable {
    case other, automotiveNavigation, fitness, otherNavigation, airborne
  }

  /// Who decides that a resting client is paused.
  public enum Pausing: Hashable, Sendable {
    /// The client is never paused (rule PA-1).
    case never
    /// The policy decides by ``PauseThresholds`` and reports it.
    case automatic
    /// Somebody above decides; this is the present answer.
    case decidedElsewhere(isPaused: Bool)
  }

  /// Fixes are collected until a distance was covered or a time has passed, whichever is first (rule DF-8).
  public struct Deferral: Hashable, Sendable {
    /// Metres from the position at the call; nil: the distance never ends it (rule DF-9).
    public var untilTravelledMetres: Double?
    /// Seconds from the call; nil: the time never ends it.
    public var timeoutSeconds: Double?

    public init(untilTravelledMetres: Double?, timeoutSeconds: Double?) {
      self.untilTravelledMetres = untilTravelledMetres
      self.timeoutSeconds = timeoutSeconds
    }
  }

  /// The nearest border of the monitored regions, as seen from the newest fix.
  public struct Border: Hashable, Sendable {
    /// Metres to it, 0 or more, on whichever side one is.
    public var distanceMetres: Double
    /// The fastest that one may plausibly move, in metres per second. The promise to report a crossing in time holds up
    /// to this speed; a fix that shows a greater one raises it.
    public var speedBoundMetresPerSecond: Double
    /// A crossing was seen and is believed after this many seconds on the same side; nil when none waits.
    public var dwellSeconds: Double?

    public init(distanceMetres: Double, speedBoundMetresPerSecond: Double = 50, dwellSeconds: Double? = nil) {
      self.distanceMetres = distanceMetres
      self.speedBoundMetresPerSecond = speedBoundMetresPerSecond
      self.dwellSeconds = dwellSeconds
    }
  }

  /// Whether nothing is asked for.
  public var isEmpty: Bool {
    updates == nil && !oneShot && everySeconds == nil && !significantChange && border == nil
  }

  /// The demand with every number that makes no sense read as the strictest that does.
  public var sanitized: Demand {
    var demand = self
    if let seconds = everySeconds { demand.everySeconds = seconds >= 1 ? seconds : 1 }
    if let border {
      demand.border = Border(
        distanceMetres: border.distanceMetres >= 0 ? border.distanceMetres : 0,
        speedBoundMetresPerSecond: border.speedBoundMetresPerSecond > 0 ? border.speedBoundMetresPerSecond : 340,
        dwellSeconds: border.dwellSeconds.map { $0 >= 0 ? $0 : 0 })
    }
    if let updates {
      if !(updates.distanceFilterMetres > 0) { demand.updates?.distanceFilterMetres = 0 }
      if case .metres(let metres) = updates.accuracy, !(metres >= 0) { demand.updates?.accuracy = .best }
      if let deferral = updates.deferral {
        demand.updates?.deferral = Deferral(
          untilTravelledMetres: deferral.untilTravelledMetres.map { $0 >= 0 ? $0 : 0 },
          timeoutSeconds: deferral.timeoutSeconds.map { $0 >= 0 ? $0 : 0 })
      }
    }
    return demand
  }
}

extension Demand.Activity {
  /// The fastest that this plausibly moves, in metres per second: a running person; a car or a train; an aeroplane.
  public var speedBoundMetresPerSecond: Double {
    switch self {
    case .fitness: 12
    case .other, .automotiveNavigation: 60
    case .otherNavigation: 90
    case .airborne: 300
    }
  }
}
