// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The significant-change service of one client (rules SC): the cached fix, a current fix, then one fix after each move
/// of half a kilometre, at most every five minutes.
struct SignificantChanges: Sendable {
  /// The distance of SC-2.
  static var distanceMetres: Double { 500 }
  /// The interval of SC-3.
  static var interval: Milliseconds { Milliseconds(300_000) }

  private(set) var isRunning = false
  private(set) var lastDelivered: Sample?
  private(set) var startedAt = Instant.zero
  private(set) var deliveredAt: Instant?
  /// A change within the interval, which is delivered when the interval is over.
  private var waiting: Sample?

  init() {}

  /// Starts; no effect if it is running (SC-5).
  ///
  /// - Returns: whether the cached fix is to be delivered, if there is one (SC-1).
  mutating func start(at now: Instant) -> Bool {
    if isRunning { return false }
    self = SignificantChanges()
    isRunning = true
    startedAt = now
    return true
  }

  /// Continues the service of an earlier run, which delivered a sample at that time (SC-3).
  mutating func resume(deliveredAt: Instant?) {
    if isRunning { self.deliveredAt = deliveredAt }
  }

  mutating func stop() { self = SignificantChanges() }

  /// The time at which `wake` is due.
  var deadline: Instant? { waiting == nil ? nil : deliveredAt.map { $0 + Self.interval } }

  /// Whether the client receives a sample now.
  mutating func wants(_ sample: Sample, at now: Instant) -> Bool {
    guard isRunning, sample.measured >= startedAt, sample.accuracyMetres >= 0 else { return false }
    guard let deliveredAt else { return true }
    guard isMove(sample) else {
      waiting = nil
      return false
    }
    if now.milliseconds(since: deliveredAt) >= Self.interval.count { return true }
    waiting = sample
    return false
  }

  /// The change that waited for the interval, when it is over.
  mutating func wake(at now: Instant) -> Sample? {
    guard let due = deadline, now >= due, let sample = waiting else { return nil }
    return sample
  }

  /// Accuracy was reduced: the last place becomes coarse, and so does a waiting change, if it still counts as a change.
  mutating func reduce(to cells: CellGrid) {
    lastDelivered = lastDelivered.map(cells.reduced)
    waiting = waiting.map(cells.reduced)
    if let waiting, !isMove(waiting) { self.waiting = nil }
  }

  /// A move must exceed the fix's uncertainty.
  private func isMove(_ sample: Sample) -> Bool {
    guard let lastDelivered else { return true }
    return sample.point.distanceMetres(to: lastDelivered.point) >= max(Self.distanceMetres, sample.accuracyMetres)
  }

  /// The sample reached the client, through this service or the standard one.
  mutating func delivered(_ sample: Sample, at now: Instant) {
    guard isRunning, sample.measured >= startedAt else { return }
    lastDelivered = sample
    deliveredAt = now
    waiting = nil
  }

  /// The cached fix reached the client; a current fix is still expected.
  mutating func delivered(cached: Sample) { lastDelivered = cached }
}
