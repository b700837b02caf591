// SPDX-License-Identifier: Apache-2.0

/// The identifier of a client. The caller chooses the numbers.
public struct ClientID: Hashable, Comparable, Sendable {
  public var number: UInt64

  public init(_ number: UInt64) { self.number = number }

  public static func < (a: ClientID, b: ClientID) -> Bool { a.number < b.number }
}

/// What one client needs of the receiver. A client may need several things at once; the strictest decides.
///
/// Invalid numbers (NaN, below zero) are read as the strictest valid ones: see ``sanitized``.
public struct Demand: Hashable, Sendable {
  /// Standard updates; nil when the client has not started them.
  public var updates: Updates?
  /// A fix is needed now, and every second until the demand is withdrawn (requestLocation).
  public var oneShot: Bool
  /// A fix at least this often, in seconds; the receiver may sleep in between.
  public var everySeconds: Double?
  /// Significant changes: about 500 m, at most every 5 minutes (rules SC-2, SC-3).
  public var significantChange: Bool
  /// The monitored border that is nearest, if regions are monitored.
  public var border: Border?
  /// Only a movement is to be detected: position checks at growing intervals, and none with an accelerometer.
  public var movement: Bool

  public init(
    updates: Updates? = nil, oneShot: Bool = false, everySeconds: Double? = nil, significantChange: Bool = false,
    border: Border? = nil, movement: Bool = false
  ) {
    self.updates = updates
    self.oneShot = oneShot
    self.everySeconds = everySeconds
    self.significantChange = significantChange
    self.border = border
    self.movement = movement
  }

  /// Standard updates: accuracy, distance, and what the client permits.
  public struct Updates: Hashable, Sendable {
    public var accuracy: Accuracy
    /// A fix is needed whenever this many metres were covered; 0 or less: every fix (rule SU-31).
    public var distanceFilterMetres: Double
    public var activity: Activity
    /// Fixes are only collected for later; nil when they are delivered live.
    public var deferral: Deferral?

    public init(
      accuracy: Accuracy = .best, distanceFilterMetres: Double = 0, activity: Activity = .other,
      deferral: Deferral? = nil
    ) {
      self.accuracy = accuracy
      self.distanceFilterMetres = distanceFilterMetres
      self.activity = activity
      self.deferral = deferral
    }
  }

  /// The accuracy that a position needs. It selects effort and never suppresses a fix (rule SU-5).
  public enum Accuracy: Hashable, Sendable {
    /// The best accuracy, for navigation: nothing is saved.
    case navigation
    case best
    case metres(Double)
  }

  /// The kind of movement: it sets the plausible speed.
  public enum Activity: UInt8, Hashable, Sendable, CaseIterable {
    case other, automotiveNavigation, fitness, otherNavigation, airborne
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

  /// The nearest border of the monitored regions, from the newest fix.
  public struct Border: Hashable, Sendable {
    /// Metres to the border from either side, 0 or more.
    public var distanceMetres: Double
    /// The greatest plausible speed, in metres per second. A crossing is reported in time up to this speed; a fix with
    /// a greater speed raises it.
    public var speedBoundMetresPerSecond: Double
    /// Seconds on the same side after which a detected crossing counts; nil without a dwell time.
    public var dwellSeconds: Double?

    public init(distanceMetres: Double, speedBoundMetresPerSecond: Double = 50, dwellSeconds: Double? = nil) {
      self.distanceMetres = distanceMetres
      self.speedBoundMetresPerSecond = speedBoundMetresPerSecond
      self.dwellSeconds = dwellSeconds
    }
  }

  /// Whether the client needs nothing.
  public var isEmpty: Bool {
    updates == nil && !oneShot && everySeconds == nil && !significantChange && border == nil && !movement
  }

  /// The demand with every invalid number replaced by the strictest valid one.
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
  /// The greatest plausible speed, in metres per second: a running person; a car or a train; an aeroplane.
  public var speedBoundMetresPerSecond: Double {
    switch self {
    case .fitness: 12
    case .other, .automotiveNavigation: 60
    case .otherNavigation: 90
    case .airborne: 300
    }
  }
}
