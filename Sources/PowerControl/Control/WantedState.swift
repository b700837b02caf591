import MonotonicTime

/// What the receiver is to do. The session carries it out, as often as it has to, and reports what came of it.
public struct WantedState: Hashable, Sendable {
  public var mode: PowerMode
  /// The smaller set of constellations will do.
  public var reducedConstellations: Bool
  /// Fixes are collected in the receiver; nothing is sent by itself meanwhile.
  public var batching: Batch?

  public init(mode: PowerMode, reducedConstellations: Bool = false, batching: Batch? = nil) {
    self.mode = mode
    self.reducedConstellations = reducedConstellations
    self.batching = batching
  }

  /// No navigation output is to come by itself: the line stays silent and the host asleep.
  public var isSilent: Bool { batching != nil || mode.isAsleep }

  /// How the receiver collects.
  public struct Batch: Hashable, Sendable {
    /// Epochs to reserve.
    public var epochs: Int
    /// With heights over sea level and all accuracies.
    public var extended: Bool

    public init(epochs: Int, extended: Bool) {
      self.epochs = epochs
      self.extended = extended
    }
  }
}

/// The power states, from the dearest to the cheapest.
public enum PowerMode: Hashable, Sendable {
  /// Full power, a fix every so many seconds.
  case continuous(everySeconds: Int)
  /// Power-optimised tracking, a fix every so many seconds.
  case cyclicTracking(everySeconds: Int)
  /// The receiver's own on/off operation with this period.
  case onOff(periodSeconds: Int)
  /// The receiver runs on and cannot be stopped, but nobody listens until then (nil: until something is asked for).
  case unread(until: Instant?)
  /// Backup by request, until then or until it is woken.
  case backup(until: Instant?)
  /// Its supply is switched off until then.
  case off(until: Instant?)

  /// Neither fixes nor signal reports come in this mode.
  public var isAsleep: Bool {
    switch self {
    case .continuous, .cyclicTracking, .onOff: false
    case .unread, .backup, .off: true
    }
  }
}
