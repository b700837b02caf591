// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The stays of the computer with their times (rules VI); one set for all managers of an app.
///
///     moving ──5 min within 100 m──▶ there: an arrival ──beyond 100 m for 1 min──▶ moving: a departure
///
/// The numbers are not documented. Five minutes are longer than a red light or a queue and shorter than a purchase; 100
/// m covers a large building, and exceeds the drift of indoor fixes.
///
/// Between two fixes that come every two minutes a stay may have begun with the first one, which is elsewhere. A stay
/// counts from then, so that one of six minutes is reported, and none below four.
public struct Visits: Sendable {
  static var dwellSeconds: Double { 300 }
  static var radiusMetres: Double { 100 }
  /// Seconds outside after which a visit ends, so that an outlier does not end it.
  static var leaveSeconds: Double { 60 }
  /// The interval of fixes that detects a stay (rule VI-1).
  static var fixSeconds: Double { 120 }

  /// The state that is stored between runs (VI-2).
  public struct Record: Hashable, Sendable {
    public var isRunning: Bool
    /// The place of the current visit, if there is one.
    public var current: Visit?

    public init(isRunning: Bool, current: Visit?) {
      self.isRunning = isRunning
      self.current = current
    }
  }

  private struct Stay {
    var anchor: Sample
    /// The earliest begin.
    var since: Instant
    /// The mean of the fixes so far in degrees, and their number.
    var middle: Coordinate
    var count = 1.0
    /// Nil if the visit is from an earlier run.
    var lastInside: UTCTime?
    /// The first of the consecutive fixes outside the place.
    var away: Sample?
    /// Whether the stay began before the monitoring (VI-3).
    var isFirst: Bool

    mutating func include(_ sample: Sample) {
      away = nil
      lastInside = sample.location.timestamp
      count += 1
      let coordinate = sample.location.coordinate
      middle.latitudeDegrees += (coordinate.latitudeDegrees - middle.latitudeDegrees) / count
      let turn = Visits.turn(coordinate.longitudeDegrees - middle.longitudeDegrees)
      // The mean of fixes on both sides of the date line crosses it.
      middle.longitudeDegrees = Visits.turn(middle.longitudeDegrees + turn / count)
    }
  }

  public private(set) var isRunning = false
  /// The visit in progress.
  public private(set) var current: Visit?
  private var stay: Stay?
  private var isFirstStay = true
  /// The time of the newest sample.
  private var lastMeasured: Instant?

  init(restored: Record? = nil) {
    isRunning = restored?.isRunning ?? false
    current = restored?.current
  }

  /// The record to store; it changes with a start, a stop, an arrival and a departure.
  public var record: Record { Record(isRunning: isRunning, current: current) }

  /// Starts for all managers; no effect if it is running.
  mutating func start() {
    guard !isRunning else { return }
    self = Visits()
    isRunning = true
  }

  /// Stops for all managers (VI-1).
  mutating func stop() { self = Visits() }

  /// Sets the current visit from an event that was reported before it was stored.
  mutating func assume(_ visit: Visit) {
    if isRunning { current = visit.departure == nil ? visit : nil }
  }

  /// Handles a sample; returns the arrival or departure that it completes.
  mutating func receive(_ sample: Sample) -> Visit? {
    guard isRunning, sample.accuracyMetres >= 0 else { return nil }
    defer { lastMeasured = sample.measured }
    if stay == nil, let current { goOn(current, at: sample) }
    guard let anchor = stay?.anchor else {
      begin(with: sample)
      return nil
    }
    if StationaryDetector.isMove(sample, from: anchor, radiusMetres: Self.radiusMetres) { return moved(to: sample) }
    stay?.include(sample)
    return arrive(at: sample)
  }

  private mutating func arrive(at sample: Sample) -> Visit? {
    guard current == nil, let stay, sample.measured.seconds(since: stay.since) >= Self.dwellSeconds else {
      return nil
    }
    current = Visit(
      arrival: stay.isFirst ? nil : stay.anchor.location.timestamp, departure: nil, coordinate: stay.middle,
      horizontalAccuracyMetres: max(Self.radiusMetres / 2, sample.accuracyMetres))
    return current
  }

  private mutating func moved(to sample: Sample) -> Visit? {
    guard var departure = current else {
      begin(with: sample)
      return nil
    }
    let away = stay?.away ?? sample
    stay?.away = away
    guard sample.measured.seconds(since: away.measured) >= Self.leaveSeconds else { return nil }
    // After a break the departure has the time of the first fix that shows it. It is never before the arrival, even if
    // the receiver's time has stepped back since.
    let departed = stay?.lastInside ?? away.location.timestamp
    departure.departure = departure.arrival.map { max($0, departed) } ?? departed
    current = nil
    begin(with: sample)
    return departure
  }

  private mutating func begin(with sample: Sample) {
    let since = max(lastMeasured ?? sample.measured, sample.measured.moved(by: -Self.fixSeconds))
    stay = Stay(
      anchor: sample, since: since, middle: sample.location.coordinate, lastInside: sample.location.timestamp,
      isFirst: isFirstStay)
    isFirstStay = false
  }

  /// A visit from an earlier run continues at its place. The first fix of a run may be an outlier or a poor one: it
  /// neither replaces the place nor ends the visit alone.
  private mutating func goOn(_ visit: Visit, at sample: Sample) {
    let place = Location(
      visit.coordinate, horizontalAccuracyMetres: visit.horizontalAccuracyMetres, timestamp: sample.location.timestamp)
    stay = Stay(
      anchor: Sample(place, measured: sample.measured), since: sample.measured, middle: visit.coordinate, isFirst: false
    )
    isFirstStay = false
  }

  /// The angle in degrees, in the shorter direction.
  static func turn(_ degrees: Double) -> Double {
    degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
  }
}
