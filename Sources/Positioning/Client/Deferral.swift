// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Deferred updates of one client (rules DF): fixes are kept while the client is in the background, until it has
/// travelled a distance or a time has passed.
///
///     inactive ──allow──▶ active ──a criterion met──▶ finished(nil), kept fixes
///                           └──disallow, stop, pause, another allow, a filter──▶ kept fixes, finished(error)
public struct Deferral: Sendable {
  /// The kind of path along which the distance is measured.
  public enum Measure: Sendable {
    /// The travelled path: the hike example in Apple's location guide subtracts it from its goal.
    case path
    /// The straight distance from the place of the call.
    case straightLine
  }

  /// The handling of a sample.
  enum Action: Equatable, Sendable {
    /// Deliver the sample as without a deferral.
    case deliver
    /// The sample is kept.
    case keep
    /// The memory is full: deliver these, the deferral continues (DF-15).
    case flush([Sample])
    /// A criterion is met: report it, then deliver these, including the sample (DF-13).
    case finish([Sample])
  }

  /// The maximum number of kept fixes: seventeen minutes at 1 Hz, 150 kB.
  public static var defaultCapacity: Int { 1024 }

  let capacity: Int
  private let measure: Measure

  private struct Active {
    var distanceMetres: Double
    var ends: Instant?
    var travelledMetres = 0.0
    /// The end of the path so far.
    var last: Sample?
  }
  private var active: Active?
  private var kept: [Sample] = []

  init(capacity: Int = Deferral.defaultCapacity, measure: Measure = .path) {
    self.capacity = max(1, capacity)
    self.measure = measure
  }

  var isActive: Bool { active != nil }

  /// The time at which the deferral ends; nil if never.
  var deadline: Instant? { active?.ends }

  /// Remaining metres; infinite if never reached, nil when inactive.
  var remainingMetres: Double? { active.map { max(0, $0.distanceMetres - $0.travelledMetres) } }

  /// The reason why a deferral is refused, the first in the order of DF-6; nil if it is not refused.
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

  /// Begins a deferral, after the active one has ended.
  ///
  /// - Parameters:
  ///   - distanceMetres: `greatestFiniteMagnitude` and infinity are never reached (DF-9); an invalid distance is
  ///     reached at once.
  ///   - seconds: as for `distanceMetres`.
  ///   - position: the client's position; if nil, the path begins with the next fix.
  mutating func allow(distanceMetres: Double, seconds: Double, position: Sample?, at now: Instant) {
    let never = Double.greatestFiniteMagnitude
    active = Active(
      distanceMetres: distanceMetres >= never ? .infinity : (distanceMetres > 0 ? distanceMetres : 0),
      // A time of more than some centuries counts as never: it would overflow the clock.
      ends: seconds >= 1e10 ? nil : now + Milliseconds(seconds: seconds), last: position)
  }

  /// Handles a sample while active.
  ///
  /// - Parameters:
  ///   - isBackground: in the foreground nothing is kept, but the criteria are evaluated (DF-10).
  ///   - keeps: whether the sample may be kept; false if it reaches the client through another service.
  ///   - hasMore: whether samples of the same time may follow: if it is over, `wake` ends the deferral after them.
  mutating func receive(
    _ sample: Sample, isBackground: Bool, keeps: Bool = true, hasMore: Bool = false
  ) -> Action {
    guard active != nil else { return .deliver }
    travel(to: sample)
    if keeps { keep(sample) }
    if isMet(at: hasMore ? nil : sample.measured) {
      active = nil
      return .finish(take())
    }
    if !isBackground { return kept.isEmpty ? .keep : .flush(take()) }
    return kept.count >= capacity ? .flush(take()) : .keep
  }

  /// Advances the time; returns the kept fixes when the deadline is reached.
  mutating func wake(at now: Instant) -> [Sample]? {
    guard let ends = active?.ends, now >= ends else { return nil }
    active = nil
    return take()
  }

  /// Ends before the criteria are met; returns the kept fixes.
  mutating func end() -> [Sample] {
    active = nil
    return take()
  }

  /// Returns the kept fixes and continues: the client has come to the foreground (DF-21).
  mutating func take() -> [Sample] {
    defer { kept.removeAll(keepingCapacity: true) }
    return kept
  }

  /// Drops a kept fix that reaches the client through another service.
  mutating func drop(_ sample: Sample) { kept.removeAll { $0 == sample } }

  /// Accuracy was reduced: the kept fixes and the end of the path become coarse.
  mutating func reduce(to cells: CellGrid) {
    kept = cells.reduced(kept)
    if let last = active?.last { active?.last = cells.reduced(last) }
  }

  /// Oldest first: fixes of a receiver's memory may arrive after live ones.
  private mutating func keep(_ sample: Sample) {
    var index = kept.count
    while index > 0, kept[index - 1].location.timestamp > sample.location.timestamp { index -= 1 }
    kept.insert(sample, at: index)
  }

  private func isMet(at measured: Instant?) -> Bool {
    guard let active else { return false }
    if active.travelledMetres >= active.distanceMetres { return true }
    guard let ends = active.ends, let measured else { return false }
    return measured >= ends
  }

  /// Steps smaller than the fix's uncertainty are noise: only larger ones, measured from the end of the path, extend
  /// it. Slow movement therefore adds up.
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
