import MonotonicTime
import ReceiverStream

/// Where the computer stays, and from when to when (rules VI); one for all managers of an app.
///
///     moving ──5 min within 100 m──▶ there: an arrival ──beyond 100 m for 1 min──▶ moving: a departure
///
/// No document says the numbers. Five minutes is more than a red light or a queue and less than a purchase; 100 m is a
/// large building, and more than a fix indoors wanders.
public struct Visits: Sendable {
  static var dwellSeconds: Double { 300 }
  static var radiusMetres: Double { 100 }
  /// For how long one must be away, so that a stray fix ends no visit.
  static var leaveSeconds: Double { 60 }

  /// What is stored between runs (VI-2).
  public struct Record: Hashable, Sendable {
    public var isRunning: Bool
    /// The place where one is, if one has arrived.
    public var current: Visit?

    public init(isRunning: Bool, current: Visit?) {
      self.isRunning = isRunning
      self.current = current
    }
  }

  private struct Stay {
    var anchor: Sample
    /// The middle of the fixes so far, degrees; and how many.
    var middle: Coordinate
    var count = 1.0
    /// nil: an earlier run knew that one was there.
    var lastInside: UTCTime?
    /// The first of the fixes that lie outside.
    var away: Sample?
    /// Whether one was there before the monitoring began (VI-3).
    var isFirst: Bool

    mutating func include(_ sample: Sample) {
      away = nil
      lastInside = sample.location.timestamp
      count += 1
      let coordinate = sample.location.coordinate
      middle.latitudeDegrees += (coordinate.latitudeDegrees - middle.latitudeDegrees) / count
      middle.longitudeDegrees += Visits.turn(coordinate.longitudeDegrees - middle.longitudeDegrees) / count
    }
  }

  public private(set) var isRunning = false
  /// The visit that has begun and not ended.
  public private(set) var current: Visit?
  private var stay: Stay?
  private var isFirstStay = true

  init(restored: Record? = nil) {
    isRunning = restored?.isRunning ?? false
    current = restored?.current
  }

  /// What is to be stored; it changes with a start, a stop, an arrival and a departure.
  public var record: Record { Record(isRunning: isRunning, current: current) }

  /// Starts for all managers; nothing when it is running.
  mutating func start() {
    guard !isRunning else { return }
    self = Visits()
    isRunning = true
  }

  /// Stops for all managers (VI-1).
  mutating func stop() { self = Visits() }

  /// Takes a sample; an arrival or a departure, if it is one.
  mutating func receive(_ sample: Sample) -> Visit? {
    guard isRunning, sample.accuracyMetres >= 0 else { return nil }
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
    guard current == nil, let stay, sample.measured.seconds(since: stay.anchor.measured) >= Self.dwellSeconds else {
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
    // One left while nobody looked: when is not known better than by the first fix that shows it. And no visit ends
    // before it began, although the receiver's time may have stepped back since.
    let departed = stay?.lastInside ?? away.location.timestamp
    departure.departure = departure.arrival.map { max($0, departed) } ?? departed
    current = nil
    begin(with: sample)
    return departure
  }

  private mutating func begin(with sample: Sample) {
    stay = Stay(
      anchor: sample, middle: sample.location.coordinate, lastInside: sample.location.timestamp, isFirst: isFirstStay)
    isFirstStay = false
  }

  /// The place of an earlier run is where its visit goes on. The first fix of a run may be a stray or a blurred one: it is
  /// not what the place is measured by, and ends no visit alone.
  private mutating func goOn(_ visit: Visit, at sample: Sample) {
    let place = Location(
      visit.coordinate, horizontalAccuracyMetres: visit.horizontalAccuracyMetres, timestamp: sample.location.timestamp)
    stay = Stay(anchor: Sample(place, measured: sample.measured), middle: visit.coordinate, isFirst: false)
    isFirstStay = false
  }

  /// Degrees the short way round.
  static func turn(_ degrees: Double) -> Double {
    degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
  }
}
