import MonotonicTime

/// The standard service of one client: which samples it is given (rules SU).
///
///     stopped ──start──▶ waiting for a fresh fix ──any fix──▶ filtering ──stop──▶ stopped
///
/// It decides; what is delivered it is told by `delivered`, as pausing and deferral stand between.
struct LocationUpdates: Sendable {
  /// Changes take effect with the next sample (SU-24). Selects the effort, suppresses nothing (SU-5).
  var desiredAccuracyMetres = DesiredAccuracy.best
  /// 0 and below: every sample (SU-31).
  var distanceFilterMetres = -1.0
  private(set) var isRunning = false
  /// What the client was given last, since the start.
  private(set) var lastDelivered: Sample?

  /// With reduced accuracy: whether a place is told again.
  var coarse = ReducedAccuracy()

  private var wantsFreshFix = false
  private var startedAt = Instant.zero

  /// An accuracy is better when it is so by a decimetre: below, receivers' estimates move by themselves, and a client with
  /// a filter would be woken for each.
  static var improvementMetres: Double { 0.1 }

  init() {}

  /// Whether there is no filter.
  var isUnfiltered: Bool { !(distanceFilterMetres > 0) }

  /// Starts; nothing when it is running (SU-13).
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

  /// The next fix is delivered whatever the filter says: after a pause, after permission came back.
  mutating func expectFreshFix() {
    wantsFreshFix = true
    coarse.reset()
  }

  /// Accuracy was reduced: what is known of the last place becomes coarse.
  mutating func reduce() { lastDelivered = lastDelivered.map(ReducedAccuracy.reduced) }

  /// Whether a sample is for this client.
  func wants(_ sample: Sample) -> Bool {
    // What was measured before the start was for others.
    guard isRunning, sample.measured >= startedAt, sample.accuracyMetres >= 0 else { return false }
    guard !wantsFreshFix, !isUnfiltered, let lastDelivered else { return true }
    return sample.accuracyMetres <= lastDelivered.accuracyMetres - Self.improvementMetres
      || sample.point.distanceMetres(to: lastDelivered.point) >= distanceFilterMetres
  }

  /// A fresh sample was delivered: distances are measured from it (SU-8).
  mutating func delivered(_ sample: Sample) {
    lastDelivered = sample
    wantsFreshFix = false
  }

  /// The cached fix was delivered; the fresh one is still awaited (SU-2).
  mutating func delivered(cached: Sample) { lastDelivered = cached }
}
