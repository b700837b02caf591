// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The needs of one client for the receiver and the other sensors: a manager, or an app apart from its managers.
///
/// The rules of Core Location produce it from a client's calls, and the power policy reads it. A client may need several
/// things at once; the strictest decides. Nil and false mean no need.
public struct Demand: Hashable, Sendable {
  /// Continuous locations: of the standard service, or of streams of live updates.
  public var updates: Updates?
  /// One location is requested: a fix is needed now, and every second until the request has ended. Its accuracy.
  public var oneShot: Accuracy?
  /// A fix at least this often, in seconds; the receiver may sleep in between. Visits need it.
  public var everySeconds: Double?
  /// Significant changes: about 500 m, at most every 5 minutes (rules SC-2, SC-3).
  public var significantChange = false
  /// The nearest border of the monitored regions and conditions; nil if none is monitored.
  public var border: Border?
  /// The start of the newest of these services. It is served only by a later fix, because an earlier one was measured
  /// for an earlier run (rules SU-2, SU-14, SC-5, MO-2). Nil if the demand itself is as old as its services.
  public var startedAt: Instant?
  /// The compass is needed: the smallest turn that is delivered, in degrees; 0 or less for every one.
  public var headingFilterDegrees: Double?
  /// A scan for beacons is needed.
  public var beacons = false

  public init(
    updates: Updates? = nil, oneShot: Accuracy? = nil, everySeconds: Double? = nil, significantChange: Bool = false,
    border: Border? = nil
  ) {
    self.updates = updates
    self.oneShot = oneShot
    self.everySeconds = everySeconds
    self.significantChange = significantChange
    self.border = border
  }

  /// Continuous locations.
  public struct Updates: Hashable, Sendable {
    public var service: Service
    public var accuracy: Accuracy
    /// A fix is needed whenever this many metres were covered; 0 or less: every fix (rule SU-31).
    public var distanceFilterMetres: Double
    public var activity: Activity
    public var delivery: Delivery

    public init(
      _ service: Service = .standard, accuracy: Accuracy = .best, distanceFilterMetres: Double = 0,
      activity: Activity = .other, delivery: Delivery = .live
    ) {
      self.service = service
      self.accuracy = accuracy
      self.distanceFilterMetres = distanceFilterMetres
      self.activity = activity
      self.delivery = delivery
    }
  }

  /// The service that delivers continuous locations.
  public enum Service: Hashable, Sendable { case standard, stream }

  /// How continuous locations are delivered.
  public enum Delivery: Hashable, Sendable {
    case live
    /// They are only collected for later.
    case deferred(Deferral)
    /// Nothing is delivered; only a movement is to be detected. Position checks come at growing intervals, and none with an
    /// accelerometer.
    case paused
  }

  /// The accuracy that a position needs. It selects effort and never suppresses a fix (rule SU-5).
  public enum Accuracy: Hashable, Sendable {
    /// The best accuracy, for navigation: nothing is saved.
    case navigation
    case best
    case metres(Double)

    /// The accuracy of `desiredAccuracy`, in metres: kCLLocationAccuracyBestForNavigation is -2, kCLLocationAccuracyBest -1.
    public init(desiredMetres metres: Double) {
      self = metres <= -2 ? .navigation : metres > 0 ? .metres(metres) : .best
    }

    /// Metres; 0 for the best.
    public var coarsenessMetres: Double { if case .metres(let metres) = self { metres } else { 0 } }
  }

  /// Fixes may stay in the receiver's memory until a distance was covered or a time has come, whichever is first (rule
  /// DF-8).
  public struct Deferral: Hashable, Sendable {
    /// Metres from the position at the time of this demand; nil: the distance never ends it (rule DF-9).
    public var remainingMetres: Double?
    /// nil: the time never ends it.
    public var ends: Instant?

    public init(remainingMetres: Double?, ends: Instant?) {
      self.remainingMetres = remainingMetres
      self.ends = ends
    }
  }

  /// The nearest border, from the newest location.
  public struct Border: Hashable, Sendable {
    /// Metres to the border from either side, 0 or more; nil if there is no location.
    public var metres: Double?
    /// A crossing is being watched: fixes are needed until it is decided.
    public var isCrossing: Bool

    public init(metres: Double?, isCrossing: Bool = false) {
      self.metres = metres
      self.isCrossing = isCrossing
    }
  }

  /// Whether nothing is needed.
  public var isEmpty: Bool { self == Demand() }

  /// Whether a position is needed; a compass and beacons are other hardware.
  public var needsPosition: Bool {
    updates != nil || oneShot != nil || everySeconds != nil || significantChange || border != nil
  }

  /// Whether continuous locations are only collected for later.
  public var isDeferring: Bool { if case .deferred = updates?.delivery { true } else { false } }

  /// Whether continuous locations are paused, so that a movement must be detected.
  public var isPaused: Bool { updates?.delivery == .paused }

  /// The demand with every invalid number (NaN, below zero) replaced by the strictest valid one.
  public var sanitized: Demand {
    var demand = self
    if let seconds = everySeconds { demand.everySeconds = seconds >= 1 ? seconds : 1 }
    if let metres = border?.metres { demand.border?.metres = metres >= 0 ? metres : 0 }
    if let oneShot { demand.oneShot = oneShot.sanitized }
    if let updates {
      demand.updates?.accuracy = updates.accuracy.sanitized
      if !(updates.distanceFilterMetres > 0) { demand.updates?.distanceFilterMetres = 0 }
      if case .deferred(let deferral) = updates.delivery, let metres = deferral.remainingMetres, !(metres >= 0) {
        demand.updates?.delivery = .deferred(Deferral(remainingMetres: 0, ends: deferral.ends))
      }
    }
    return demand
  }
}

extension Demand.Accuracy {
  fileprivate var sanitized: Demand.Accuracy {
    if case .metres(let metres) = self, !(metres >= 0) { .best } else { self }
  }
}

extension Activity {
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
