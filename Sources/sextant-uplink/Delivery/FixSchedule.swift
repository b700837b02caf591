// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// Which locations are due for the server, and what the location service has to provide for that.
///
/// A location is due when the interval **and** the distance since the last one are reached; either may be absent. With a distance, a
/// board that rests sends nothing, except every `stationary`.
struct FixSchedule {
  struct Settings: Equatable, Sendable {
    /// nil: each location.
    var intervalSeconds: Double?
    var distanceMetres: Double?
    /// The accuracy that is asked for; less accurate locations are not sent.
    var accuracyMetres = 100.0
    /// The interval of a board that does not move; nil for none.
    var stationarySeconds: Double?
    var activity = Activity.other
  }

  /// The task of the location service.
  enum Demand: Equatable {
    /// Locations without a pause in between.
    case updates
    /// A single location at each due time: the receiver sleeps in between.
    case single
  }

  /// The least interval for which single locations need less charge than updates: a receiver that starts hot has a position within
  /// a few seconds.
  static let leastSingleInterval = 30.0

  /// The longest time that a location of a batch is under way, seconds.
  private static let longestDelay = 60.0

  private(set) var settings: Settings
  private var last: (location: Location, received: Instant)?
  /// When a single location is requested next: of a long interval, or of a board that does not move. Updates that are paused do not
  /// prove that the board is stationary. nil without either, and before the first location of updates.
  private var nextRequest: Instant?
  private var isRequested = false
  private var isRequestPending = false
  /// The last request for a single location had no result, and no newer location has arrived.
  private var isSearching = false

  init(_ settings: Settings) {
    self.settings = settings
    nextRequest = isForSingle ? .zero : nil
  }

  /// A search for a single location ends after half a minute, in which a receiver without orbits has no position however often it is
  /// repeated. Updates leave it to the location service how long it searches, and when again.
  var demand: Demand { isForSingle && !isSearching ? .single : .updates }

  private var isForSingle: Bool { (settings.intervalSeconds ?? 0) >= Self.leastSingleInterval }

  /// The time between two requests, seconds.
  private var requestPeriod: Double? { isForSingle ? settings.intervalSeconds : settings.stationarySeconds }

  mutating func change(_ settings: Settings, at now: Instant) {
    self.settings = settings
    nextRequest = requestPeriod.map { min(nextRequest ?? now, now.moved(by: $0)) }
  }

  /// The server asks for a location now.
  mutating func request() { isRequested = true }

  /// Begins a request if a single location is due. Returns whether it did.
  mutating func startRequest(at now: Instant) -> Bool {
    guard !isRequestPending, isRequested || nextRequest.map({ $0 <= now }) ?? false else { return false }
    isRequestPending = true
    return true
  }

  /// When ``startRequest(at:)`` has something to do.
  var deadline: Instant? { isRequestPending ? nil : nextRequest }

  /// A request ended without a location.
  ///
  /// - Parameter isSearch: whether the receiver had no position; false without permission.
  mutating func requestFailed(isSearch: Bool = true, at now: Instant) {
    isRequestPending = false
    isSearching = isSearch
    isRequested = false
    waitForRequest(at: now)
  }

  /// Positions are permitted after a refusal: the next request need not wait.
  mutating func permit(at now: Instant) { if isForSingle { nextRequest = now } }

  /// A request without a result is repeated after a pause.
  private mutating func waitForRequest(at now: Instant) {
    nextRequest = requestPeriod.map { now.moved(by: max($0, Self.leastSingleInterval)) }
  }

  /// Takes a location of the service. Returns why it is due; nil if it is not.
  mutating func receive(_ location: Location, at now: Instant) -> QueuedFix.Trigger? {
    isRequestPending = false
    guard let trigger = trigger(of: location, at: now) else {
      if let next = nextRequest, next <= now { waitForRequest(at: now) }
      return nil
    }
    isRequested = false
    last = (location, now)
    nextRequest = requestPeriod.map { now.moved(by: $0) }
    return trigger
  }

  private mutating func trigger(of location: Location, at now: Instant) -> QueuedFix.Trigger? {
    guard location.horizontalAccuracyMetres >= 0, location.coordinate.isValid else { return nil }
    if last.map({ $0.location.timestamp < location.timestamp }) ?? true { isSearching = false }
    if isRequested { return .request }
    return location.horizontalAccuracyMetres <= settings.accuracyMetres && isDue(location, at: now) ? .schedule : nil
  }

  private func isDue(_ location: Location, at now: Instant) -> Bool {
    guard let last else { return true }
    // By the times of the measurements: locations of a batch arrive together.
    let (elapsed, isTooLong) = location.timestamp.nanosecondsSince1970.subtractingReportingOverflow(
      last.location.timestamp.nanosecondsSince1970)
    var seconds = isTooLong ? now.seconds(since: last.received) : Double(elapsed) / 1e9
    let waited = now.seconds(since: last.received)
    // A repeated or older location: updates begin with the newest one that the service has. If older ones alone have come for a
    // while, the time of the last one was wrong.
    if seconds < 0, waited >= Self.longestDelay { seconds = waited }
    guard seconds > 0 else { return false }
    // The epochs of a receiver are not synchronous with the interval.
    let interval = settings.intervalSeconds ?? 0
    guard seconds >= interval - min(0.5, interval / 10) else { return false }
    if let distance = settings.distanceMetres {
      // The noise of two positions is not movement.
      let noise = max(last.location.horizontalAccuracyMetres, location.horizontalAccuracyMetres)
      let hasMoved = location.distanceMetres(from: last.location) >= max(distance, noise)
      let hasRested = settings.stationarySeconds.map { seconds >= $0 } ?? false
      return hasMoved || hasRested
    }
    return true
  }
}
