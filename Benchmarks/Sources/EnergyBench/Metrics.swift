// SPDX-License-Identifier: Apache-2.0

/// The results of a day, computed from the true events.
public struct Metrics: Sendable {
  /// The charge from the main supply, and from the supply of the pins.
  public var mainChargeMilliampereSeconds = 0.0
  public var pinChargeMilliampereSeconds = 0.0
  public var seconds = 0.0
  public var fixesDelivered = 0
  /// Fixes that came later than promised.
  public var fixesLate = 0
  public var fixesLost = 0
  /// The longest time without a promised fix while the sky was visible, seconds.
  public var worstStalenessSeconds = 0.0
  public var hostWakeups = 0
  /// The most wake-ups in one hour, without the first hour, in which the receiver starts.
  public var hostWakeupsInWorstHour = 0
  /// The time from the departure of a paused client, or of one with an accelerometer, to its resumption and the next
  /// fix; nil without a departure.
  public var worstMovementSeconds: Double?
  /// Such departures that were never detected.
  public var movementsMissed = 0
  /// The time from a crossing of a border to its report.
  public var worstCrossingSeconds: Double?
  public var crossingsMissed = 0
  /// The time from the return of the sky to the fix.
  public var worstSkyReturnSeconds: Double?
  public var start = Start()

  /// The first times of the day, in seconds.
  public struct Start: Sendable {
    /// The first fix.
    public var fixSeconds: Double?
    /// The first state below full power after it: a sleep, cyclic tracking or collecting.
    public var savingSeconds: Double?
  }

  public var chargeMilliampereSeconds: Double { mainChargeMilliampereSeconds + pinChargeMilliampereSeconds }
  public var averageMilliamperes: Double { seconds > 0 ? chargeMilliampereSeconds / seconds : 0 }
}

/// Counts by hour.
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
