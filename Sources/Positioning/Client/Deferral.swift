import MonotonicTime

/// Deferred updates of one client (rules DF): fixes are kept while the client is in the background, until it has
/// travelled a distance or a time has passed.
///
///     inactive ──allow──▶ active ──a criterion met──▶ finished(nil), what was kept
///                           └──disallow, stop, pause, another allow, a filter──▶ what was kept, finished(error)
public struct Deferral: Sendable {
  /// What the distance is measured along.
  public enum Measure: Sendable {
    /// The way that was gone: the hike of the location guide subtracts it from its goal.
    case path
    /// From where the client called.
    case straightLine
  }

  /// What a sample leads to.
  enum Action: Equatable, Sendable {
    /// Deliver it as if nothing were deferred.
    case deliver
    /// It is kept.
    case keep
    /// The memory is full: deliver these, the deferral goes on (DF-15).
    case flush([Location])
    /// A criterion is met: tell it, then deliver these, the sample among them (DF-13).
    case finish([Location])
  }

  /// How many fixes are kept: seventeen minutes at one a second, 100 kB.
  public static var defaultCapacity: Int { 1024 }

  let capacity: Int
  private let measure: Measure

  private struct Active {
    var distanceMetres: Double
    var ends: Instant?
    var travelledMetres = 0.0
    /// Where the way is known up to.
    var last: Sample?
  }
  private var active: Active?
  private var kept: [Location] = []
  /// The newest of those that are kept.
  private(set) var lastKept: Sample?

  init(capacity: Int = Deferral.defaultCapacity, measure: Measure = .path) {
    self.capacity = max(1, capacity)
    self.measure = measure
  }

  var isActive: Bool { active != nil }

  /// When the time is over; nil for never.
  var deadline: Instant? { active?.ends }

  /// Metres still to go; infinite for never, nil when inactive.
  var remainingMetres: Double? { active.map { max(0, $0.distanceMetres - $0.travelledMetres) } }

  /// Why a deferral is refused, the first reason in the order of DF-6; nil when it is not.
  static func refusal(
    isUpdating: Bool, hasSatelliteReceiver: Bool, delegateTakesLocations: Bool, desiredAccuracyMetres: Double,
    isUnfiltered: Bool
  ) -> PositioningError? {
    if !isUpdating { return .deferredNotUpdatingLocation }
    if !hasSatelliteReceiver || !delegateTakesLocations { return .deferredFailed }
    if !DesiredAccuracy.isBest(desiredAccuracyMetres) { return .deferredAccuracyTooLow }
    if !isUnfiltered { return .deferredDistanceFiltered }
    return nil
  }

  /// Begins, after what was active has been ended.
  ///
  /// - Parameters:
  ///   - distanceMetres: `greatestFiniteMagnitude` and infinity never fire (DF-9); what is no distance fires at once.
  ///   - seconds: likewise.
  ///   - position: where the client is; nil: the way begins with the next fix.
  mutating func allow(distanceMetres: Double, seconds: Double, position: Sample?, at now: Instant) {
    let never = Double.greatestFiniteMagnitude
    active = Active(
      distanceMetres: distanceMetres >= never ? .infinity : (distanceMetres > 0 ? distanceMetres : 0),
      // A time beyond some centuries is never as well, and would not fit the clock.
      ends: seconds >= 1e10 ? nil : now + Milliseconds(seconds: seconds), last: position)
  }

  /// Takes a sample while active.
  ///
  /// - Parameters:
  ///   - isBackground: in the foreground nothing is kept, the criteria are watched all the same (DF-10).
  ///   - keeps: whether the sample belongs to what is kept; false when it reaches the client by another way.
  mutating func receive(_ sample: Sample, isBackground: Bool, keeps: Bool = true) -> Action {
    guard active != nil else { return .deliver }
    travel(to: sample)
    if keeps { keep(sample) }
    if isMet(at: sample.measured) {
      active = nil
      return .finish(take())
    }
    if !isBackground { return kept.isEmpty ? .keep : .flush(take()) }
    return kept.count >= capacity ? .flush(take()) : .keep
  }

  /// The deadline may have come: what was kept, when it has.
  mutating func wake(at now: Instant) -> [Location]? {
    guard let ends = active?.ends, now >= ends else { return nil }
    active = nil
    return take()
  }

  /// Ends before the criteria are met; what was kept.
  mutating func end() -> [Location] {
    active = nil
    return take()
  }

  /// What was kept, and the deferral goes on: the client has come to the foreground (DF-21).
  mutating func take() -> [Location] {
    defer {
      kept.removeAll(keepingCapacity: true)
      lastKept = nil
    }
    return kept
  }

  /// Accuracy was reduced: what is kept becomes coarse, and so does where the way is known up to.
  mutating func reduce() {
    kept = ReducedAccuracy.reduced(kept)
    lastKept = lastKept.map(ReducedAccuracy.reduced)
    if let last = active?.last { active?.last = ReducedAccuracy.reduced(last) }
  }

  /// The oldest first: what a receiver remembers may come behind what it has sent.
  private mutating func keep(_ sample: Sample) {
    var index = kept.count
    while index > 0, kept[index - 1].timestamp > sample.location.timestamp { index -= 1 }
    kept.insert(sample.location, at: index)
    if index == kept.count - 1 { lastKept = sample }
  }

  private func isMet(at measured: Instant) -> Bool {
    guard let active else { return false }
    return active.travelledMetres >= active.distanceMetres || active.ends.map { measured >= $0 } ?? false
  }

  /// Steps below the fix's own uncertainty are noise: a way is made of what exceeds it, measured from where it was last
  /// known, so that slow ones add up.
  private mutating func travel(to sample: Sample) {
    guard let last = active?.last else {
      active?.last = sample
      return
    }
    let step = sample.point.distanceMetres(to: last.point)
    switch measure {
    case .straightLine: active?.travelledMetres = step
    case .path:
      guard step >= sample.accuracyMetres else { return }
      active?.travelledMetres += step
      active?.last = sample
    }
  }
}
