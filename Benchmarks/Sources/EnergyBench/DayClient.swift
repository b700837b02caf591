// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverSimulator

/// A program of the day: its calls, and the comparison of its delegate's events with the promises.
struct DayClient: Sendable {
  let script: Day.Client
  private(set) var isActive = false
  /// Whether its updates are paused.
  private(set) var isPaused = false
  /// The times of the crossings that were reported.
  private(set) var crossings: [Double] = []
  private(set) var worstStaleness = 0.0
  private(set) var late = 0
  private(set) var delivered = 0
  private let day: Day
  /// The newest location that was delivered, by the truth; nil before the first, and after a pause.
  private var last: (seconds: Double, place: Path.Place, accuracyMetres: Double)?
  private var lastDelivery = 0.0
  /// The last fix of the receiver for this client.
  private var lastFix: Double?
  /// The time of the next timed request, and of the one without an answer.
  private var nextRequest = Double.infinity
  private var requestedAt: Double?
  private var isDeferring = false

  init(_ script: Day.Client, on day: Day) {
    self.script = script
    self.day = day
  }

  // MARK: Calls

  /// The time of the next call of the script or of a timer, seconds of the day.
  func nextScripted(after seconds: Double) -> Double {
    if isActive { return min(script.untilSeconds, nextRequest) }
    return script.untilSeconds > seconds ? max(script.fromSeconds, 0.001) : .infinity
  }

  /// Starts, stops and requests what is due; returns the calls.
  mutating func runScript(at seconds: Double, _ scenario: Scenario) -> [ClientCall] {
    if !isActive, max(script.fromSeconds, 0.001) <= seconds, script.untilSeconds > seconds {
      isActive = true
      if case .requests = script.request { nextRequest = seconds }
      return script.request.opening(in: scenario) + timedRequest(at: seconds)
    }
    guard isActive else { return [] }
    if script.untilSeconds <= seconds {
      isActive = false
      return script.request.closing(in: scenario)
    }
    return timedRequest(at: seconds)
  }

  private mutating func timedRequest(at seconds: Double) -> [ClientCall] {
    guard case .requests(let every, _) = script.request, nextRequest <= seconds else { return [] }
    nextRequest += every
    requestedAt = requestedAt ?? seconds
    return [.requestLocation]
  }

  // MARK: Events

  /// Takes an event of the delegate; returns the calls that answer it.
  mutating func receive(_ event: DelegateEvent, at seconds: Double, skySince: Double, started: Double) -> [ClientCall] {
    switch event {
    case .didUpdateLocations(let locations): return receive(locations, at: seconds, skySince, started)
    case .didPauseLocationUpdates: isPaused = true
    case .didResumeLocationUpdates:
      isPaused = false
      last = nil
    case .didFinishDeferredUpdates:
      isDeferring = false
      return isActive ? deferral() : []
    case .didFail:
      // A program that needs a location asks again.
      if requestedAt != nil { return [.requestLocation] }
    case .didEnter, .didExit: crossings.append(seconds)
    default: break
    }
    return []
  }

  private mutating func deferral() -> [ClientCall] {
    guard case .updates(let updates) = script.request, let limit = updates.deferralSeconds, !isDeferring else {
      return []
    }
    isDeferring = true
    return [.allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: limit)]
  }

  /// - Parameter started: UTC of the day's start, seconds since 1970.
  private mutating func receive(
    _ locations: [Location], at seconds: Double, _ skySince: Double, _ started: Double
  ) -> [ClientCall] {
    delivered += locations.count
    guard let newest = locations.last else { return [] }
    let measured = Double(newest.timestamp.nanosecondsSince1970) / 1e9 - started
    // The cached location of an earlier client comes first (rule SU-1), and promises nothing.
    guard measured >= script.fromSeconds else { return [] }
    let place = day.path.place(at: measured)
    if skySince <= lastDelivery { judge(newest, place, at: seconds) }
    last = (measured, place, newest.horizontalAccuracyMetres)
    lastDelivery = seconds
    requestedAt = nil
    return deferral()
  }

  /// The longest time from a request to its answer with usable orbits: rule RQ-5.
  private static let answerSeconds = 10.0

  /// Counts a delivery that came later than promised. Without a sky since the last one nothing was promised.
  private mutating func judge(_ location: Location, _ place: Path.Place, at seconds: Double) {
    guard let last else { return }
    switch script.request {
    case .requests: if let requestedAt, seconds - requestedAt > Self.answerSeconds { late += 1 }
    case .updates(let updates) where updates.deferralSeconds == nil:
      let policy = updates.policy
      guard policy.spacingMetres > 0, policy.allowsSavingWhileMoving else {
        if seconds - lastDelivery > 5 { late += 1 }
        return
      }
      // A distance is known to the errors of its ends.
      let metres = updates.distanceFilterMetres + 2 * (last.accuracyMetres + location.horizontalAccuracyMetres)
      if overdue(metres, last.seconds, last.place, until: seconds) > policy.lateSeconds + 2 { late += 1 }
    case .updates, .region, .significantChanges, .visits: break
    }
  }

  /// Seconds since a distance was reached.
  private func overdue(_ metres: Double, _ from: Double, _ place: Path.Place, until seconds: Double) -> Double {
    var time = seconds
    while time > from, day.path.place(at: time - 0.5).metres(to: place) >= metres { time -= 0.5 }
    return seconds - time
  }

  /// Takes a live fix of the receiver: the longest time without one counts while fixes are promised. A region takes each
  /// fix and delivers none.
  mutating func noteFix(at seconds: Double, skySince: Double) {
    guard isActive else { return lastFix = nil }
    defer { lastFix = seconds }
    if case .region = script.request { delivered += 1 }
    // An accelerometer makes fixes at rest unnecessary.
    guard !day.hasAccelerometer, let lastFix, skySince <= lastFix else { return }
    switch script.request {
    case .requests(let every, _): if every.isFinite { worstStaleness = max(worstStaleness, seconds - lastFix) }
    case .updates(let updates):
      if updates.deferralSeconds == nil { worstStaleness = max(worstStaleness, seconds - lastFix) }
    case .region, .significantChanges, .visits: break
    }
  }
}

extension Day.Updates {
  /// The same for the power policy.
  var policy: Demand.Updates {
    Demand.Updates(
      accuracy: .init(desiredMetres: accuracyMetres), distanceFilterMetres: max(distanceFilterMetres, 0),
      activity: activity)
  }
}

extension Day.Request {
  /// The calls with which a program begins.
  func opening(in scenario: Scenario) -> [ClientCall] {
    let delegate = ClientCall.setDelegate([.takesLocations, .takesErrors])
    switch self {
    case .updates(let updates):
      return [
        delegate, .setDesiredAccuracy(metres: updates.accuracyMetres),
        .setDistanceFilter(metres: updates.distanceFilterMetres > 0 ? updates.distanceFilterMetres : -1),
        .setActivity(updates.activity), .setPausesAutomatically(updates.mayPause), .startUpdatingLocation,
      ]
    case .requests(_, let accuracy): return [delegate, .setDesiredAccuracy(metres: accuracy)]
    case .region: return [delegate, .startMonitoring(region(in: scenario)!)]
    case .significantChanges: return [delegate, .startSignificantChanges]
    case .visits: return [delegate, .startVisits]
    }
  }

  /// The calls with which it ends.
  func closing(in scenario: Scenario) -> [ClientCall] {
    switch self {
    case .updates: [.stopUpdatingLocation]
    case .requests: []
    case .region: [.stopMonitoring(region(in: scenario)!)]
    case .significantChanges: [.stopSignificantChanges]
    case .visits: [.stopVisits]
    }
  }

  private func region(in scenario: Scenario) -> Region? {
    guard case .region(let centre, let radius) = self else { return nil }
    let place = scenario.place(northMetres: centre.north, eastMetres: centre.east)
    return Region(
      "region",
      .circle(
        Circle(
          centre: Coordinate(latitudeDegrees: place.latitudeDegrees, longitudeDegrees: place.longitudeDegrees),
          radiusMetres: radius)))
  }
}
