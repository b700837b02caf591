// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The standard service of one client, which selects the client's samples (rules SU).
///
///     stopped ──start──▶ waiting for a fresh fix ──any fix──▶ filtering ──stop──▶ stopped
///
/// Pausing and deferral come between selection and delivery: `delivered` reports the samples that were delivered.
struct LocationUpdates: Sendable {
  /// Changes take effect with the next sample (SU-24). It selects effort and suppresses nothing (SU-5).
  var desiredAccuracyMetres = DesiredAccuracy.best
  /// 0 or less delivers every sample (SU-31).
  var distanceFilterMetres = -1.0
  private(set) var isRunning = false
  /// The last delivered sample since the start.
  private(set) var lastDelivered: Sample?

  /// With reduced accuracy: whether a place is delivered again.
  var coarse = ReducedAccuracy()

  private var wantsFreshFix = false
  private(set) var startedAt = Instant.zero

  /// A sample counts as better if its radius is at most this fraction of the delivered one: the estimates of receivers
  /// fluctuate and creep, and each step would wake a client with a filter. From 100 m to 3 m there are at most ten such
  /// fixes.
  static var betterShare: Double { 0.7 }

  init() {}

  /// Whether there is no filter.
  var isUnfiltered: Bool { !(distanceFilterMetres > 0) }

  /// Starts; no effect if it is running (SU-13).
  ///
  /// - Returns: whether the cached fix is to be delivered, if there is one (SU-1).
  mutating func start(at now: Instant) -> Bool {
    if isRunning { return false }
    isRunning = true
    wantsFreshFix = true
    startedAt = now
    coarse.reset()
    return true
  }

  mutating func stop() {
    isRunning = false
    lastDelivered = nil
  }

  /// The next fix is delivered regardless of the filter: after a pause, or after permission has returned.
  mutating func expectFreshFix() {
    wantsFreshFix = true
    coarse.reset()
  }

  /// Accuracy was reduced: the last place becomes coarse.
  mutating func reduce(to cells: CellGrid) { lastDelivered = lastDelivered.map(cells.reduced) }

  /// Whether the client receives a sample.
  func wants(_ sample: Sample) -> Bool {
    // Samples measured before the start were for other clients.
    guard isRunning, sample.measured >= startedAt, sample.accuracyMetres >= 0 else { return false }
    guard !wantsFreshFix, !isUnfiltered, let lastDelivered else { return true }
    return sample.accuracyMetres <= lastDelivered.accuracyMetres * Self.betterShare
      || sample.point.distanceMetres(to: lastDelivered.point) >= distanceFilterMetres
  }

  /// A fresh sample was delivered: distances are measured from it (SU-8).
  mutating func delivered(_ sample: Sample) {
    lastDelivered = sample
    wantsFreshFix = false
  }

  /// The cached fix was delivered; the fresh one is still expected (SU-2).
  mutating func delivered(cached: Sample) { lastDelivered = cached }
}
