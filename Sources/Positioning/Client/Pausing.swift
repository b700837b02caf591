// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The time since when the computer has been within a circle, for pausing, live updates and visits.
struct StationaryDetector: Sendable {
  /// The first sample of the circle that contains the latest samples.
  private(set) var anchor: Sample?

  init() {}

  /// A fix shows a move if it is outside the circle by more than its error.
  static func isMove(_ sample: Sample, from anchor: Sample, radiusMetres: Double) -> Bool {
    sample.point.distanceMetres(to: anchor.point) > max(radiusMetres, sample.accuracyMetres)
  }

  /// Handles a sample; returns whether it is outside the circle and begins a new one.
  mutating func receive(_ sample: Sample, radiusMetres: Double) -> Bool {
    guard let anchor else {
      self.anchor = sample
      return false
    }
    guard Self.isMove(sample, from: anchor, radiusMetres: radiusMetres) else { return false }
    self.anchor = sample
    return true
  }

  mutating func reset() { anchor = nil }
}

/// The automatic pauses of one client's standard service (rules PA).
///
///     moving ──stationary for the activity's time──▶ paused ──a move, a restart, the property──▶ moving
///       └──no fix for 10 min──▶ paused without fix ──any fix, a restart, the property──▶ moving
package struct Pausing: Sendable {
  /// The time and the circle of a stationary client, for an activity.
  package struct Threshold: Hashable, Sendable {
    package var seconds: Double
    package var radiusMetres: Double
  }

  /// PA-15: the times are not documented. A car is paused later than a pedestrian, because it stops at lights and in
  /// queues; a boat or train drifts; an aeroplane is never paused.
  package static func threshold(_ activity: Activity) -> Threshold? {
    switch activity {
    case .other: Threshold(seconds: 900, radiusMetres: 50)
    case .automotiveNavigation: Threshold(seconds: 1200, radiusMetres: 100)
    case .fitness: Threshold(seconds: 600, radiusMetres: 30)
    case .otherNavigation: Threshold(seconds: 1200, radiusMetres: 200)
    case .airborne: nil
    }
  }

  /// Time without a fix after which the hardware is released (PA-6).
  package static var secondsWithoutFix: Double { 600 }

  enum Action: Hashable, Sendable {
    case none, pause, resume
  }

  private enum State: Hashable {
    case moving
    case stationary(since: Sample)
    case withoutFix
  }

  /// Replaces the times of the table for benches and tests.
  var secondsForAll: Double?
  private(set) var activity = Activity.other
  private(set) var mayPause = true
  private var state = State.moving
  private var stationary = StationaryDetector()
  private var isWatching = false
  private var waitingSince = Instant.zero
  private var lastFix: Instant?

  init() {}

  var isPaused: Bool { state != .moving }

  /// Handles the start of the service.
  mutating func start(at now: Instant) {
    isWatching = true
    state = .moving
    stationary.reset()
    waitingSince = now
    lastFix = nil
  }

  /// Handles the stop of the service: a pause ends without an event (PA-11).
  mutating func stop() {
    isWatching = false
    state = .moving
  }

  /// Resumes delivery after a break in which movement was not detected.
  mutating func restart(at now: Instant) {
    guard isWatching, !isPaused else { return }
    start(at: now)
  }

  /// Ends a pause because the client restarted the service or disabled pausing (PA-10).
  mutating func resume(at now: Instant) -> Action {
    guard isPaused else { return .none }
    start(at: now)
    return .resume
  }

  /// Changes the activity. One that is never paused ends a pause of a stationary client (PA-15); without fixes any
  /// activity is paused (PA-6).
  mutating func setActivity(_ activity: Activity, at now: Instant) -> Action {
    self.activity = activity
    guard case .stationary = state, Self.threshold(activity) == nil else { return .none }
    return resume(at: now)
  }

  mutating func setMayPause(_ mayPause: Bool, at now: Instant) -> Action {
    self.mayPause = mayPause
    return mayPause ? .none : resume(at: now)
  }

  /// Handles a fix; `now` is the time of its arrival, which is later than its measurement for a fix from a receiver's
  /// memory.
  mutating func receive(_ sample: Sample, at now: Instant) -> Action {
    guard isWatching, sample.accuracyMetres >= 0 else { return .none }
    let radius = Self.threshold(activity)?.radiusMetres ?? 0
    lastFix = now
    switch state {
    case .withoutFix: return resume(at: now)
    case .stationary(let anchor):
      guard StationaryDetector.isMove(sample, from: anchor, radiusMetres: radius) else { return .none }
      return resume(at: now)
    case .moving:
      _ = stationary.receive(sample, radiusMetres: radius)
      return pauseIfStationary(measured: sample.measured)
    }
  }

  /// Handles movement detected by another source, such as an accelerometer or a change of network.
  mutating func movementNoticed(at now: Instant) -> Action {
    guard case .stationary = state else { return .none }
    return resume(at: now)
  }

  /// The time at which `wake` is due.
  var deadline: Instant? {
    guard isWatching, mayPause, !isPaused else { return nil }
    return (lastFix ?? waitingSince) + Milliseconds(seconds: Self.secondsWithoutFix)
  }

  /// Advances the time.
  ///
  /// - Parameter isOutage: whether the receiver has searched without success, rather than being idle.
  mutating func wake(isOutage: Bool, at now: Instant) -> Action {
    guard let due = deadline, now >= due else { return .none }
    guard isOutage else {
      waitingSince = now
      lastFix = lastFix.map { _ in now }
      return .none
    }
    state = .withoutFix
    return .pause
  }

  private mutating func pauseIfStationary(measured: Instant) -> Action {
    guard mayPause, let threshold = Self.threshold(activity), let anchor = stationary.anchor,
      measured.seconds(since: anchor.measured) >= secondsForAll ?? threshold.seconds
    else { return .none }
    state = .stationary(since: anchor)
    return .pause
  }
}
