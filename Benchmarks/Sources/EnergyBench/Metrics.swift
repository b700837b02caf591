/// What a day came to, reckoned from what truly happened.
public struct Metrics: Sendable {
  public var chargeMilliampereSeconds = 0.0
  public var seconds = 0.0
  public var fixesDelivered = 0
  /// Fixes that came later than promised.
  public var fixesLate = 0
  public var fixesLost = 0
  /// The longest time without a fix in which a client was promised one and the sky was there.
  public var worstStalenessSeconds = 0.0
  public var hostWakeups = 0
  /// The most in one hour, after the first, in which the receiver starts.
  public var hostWakeupsInWorstHour = 0
  /// From the departure of a paused client until it was resumed; nil: there was none.
  public var worstMovementSeconds: Double?
  /// Departures of a paused client that were never noticed.
  public var movementsMissed = 0
  /// From a crossing of a border until it was reported.
  public var worstCrossingSeconds: Double?
  public var crossingsMissed = 0
  /// From the sky's return until the fix.
  public var worstSkyReturnSeconds: Double?
  /// Changes between sleep and wakefulness in the worst hour of the clock.
  public var switchesInWorstHour = 0

  public var averageMilliamperes: Double { seconds > 0 ? chargeMilliampereSeconds / seconds : 0 }
}

/// Counts by the hour.
struct Hourly: Sendable {
  private var hour = -1
  private var count = 0
  private(set) var worst = 0
  private(set) var total = 0

  mutating func count(at seconds: Double) {
    let now = Int(seconds / 3600)
    if now != hour {
      hour = now
      count = 0
    }
    count += 1
    total += 1
    if hour > 0 { worst = max(worst, count) }
  }
}
