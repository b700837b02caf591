// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// One location on request: the best of about ten seconds (rules RQ).
///
///     idle ──request──▶ pending ──accurate enough │ no longer improving │ 10 s──▶ one outcome, idle
struct OneShot: Sendable {
  enum Outcome: Hashable, Sendable {
    case location(Sample)
    /// There was no fix within the time limit (RQ-6).
    case locationUnknown
  }

  /// The time after which the best fix so far is the outcome (RQ-5).
  static var limit: Milliseconds { Milliseconds(10_000) }
  /// Without a desired accuracy, a request ends when the accuracy has not improved for this long (RQ-4): three epochs
  /// of a typical receiver.
  static var improvementTimeout: Milliseconds { Milliseconds(3000) }
  /// An improvement reduces the radius by a tenth.
  static var improvement: Double { 0.9 }
  /// The age up to which a cached fix may be the outcome (RQ-15).
  static var cacheAge: Milliseconds { Milliseconds(5000) }

  private struct Pending {
    var desiredAccuracyMetres: Double
    var startedAt: Instant
    var best: Sample?
    var improvedAt: Instant
  }
  private var pending: Pending?
  /// When the last cached fix that was an outcome was measured.
  private var repeated: Instant?

  init() {}

  var isPending: Bool { pending != nil }

  /// The desired accuracy; nil when no request is pending.
  var desiredAccuracyMetres: Double? { pending?.desiredAccuracyMetres }

  /// The time at which `wake` is due.
  var deadline: Instant? {
    guard let pending else { return nil }
    let limit = pending.startedAt + Self.limit
    guard pending.best != nil, DesiredAccuracy.isBest(pending.desiredAccuracyMetres) else { return limit }
    return min(limit, pending.improvedAt + Self.improvementTimeout)
  }

  /// Begins a request, unless one is pending (RQ-8).
  ///
  /// - Parameter cached: the newest fix, if any, which is the outcome when it is fresh and accurate enough. A cached fix is an
  ///   outcome once: a program that requests again in its delegate would run without end.
  mutating func request(desiredAccuracyMetres: Double, cached: Sample?, at now: Instant) -> Outcome? {
    guard pending == nil else { return nil }
    if let cached, !DesiredAccuracy.isBest(desiredAccuracyMetres),
      now.milliseconds(since: cached.measured) <= Self.cacheAge.count,
      cached.accuracyMetres >= 0, cached.accuracyMetres <= desiredAccuracyMetres,
      repeated.map({ cached.measured > $0 }) ?? true
    {
      repeated = cached.measured
      return .location(cached)
    }
    pending = Pending(
      desiredAccuracyMetres: desiredAccuracyMetres, startedAt: now, best: nil, improvedAt: now)
    return nil
  }

  /// Changes the desired accuracy of the pending request: it applies from the next fix on (SU-24).
  mutating func aim(desiredAccuracyMetres: Double) { pending?.desiredAccuracyMetres = desiredAccuracyMetres }

  /// Accuracy was reduced: the best fix so far becomes coarse.
  mutating func reduce(to cells: CellGrid) {
    guard let best = pending?.best else { return }
    pending?.best = cells.reduced(best)
  }

  /// Ends without an outcome (RQ-10, RQ-11).
  mutating func cancel() { pending = nil }

  /// - Parameter isReduced: accuracy is reduced, so that no later sample is more accurate than the cell (RQ-3).
  mutating func receive(_ sample: Sample, isReduced: Bool = false, at now: Instant) -> Outcome? {
    guard var current = pending, sample.measured >= current.startedAt, sample.accuracyMetres >= 0 else { return nil }
    if let best = current.best {
      if sample.accuracyMetres < best.accuracyMetres * Self.improvement { current.improvedAt = now }
      if sample.accuracyMetres <= best.accuracyMetres { current.best = sample }
    } else {
      current.best = sample
      current.improvedAt = now
    }
    pending = current
    let isBest = DesiredAccuracy.isBest(current.desiredAccuracyMetres)
    if !isBest && sample.accuracyMetres <= current.desiredAccuracyMetres
      || isReduced && sample.accuracyMetres <= CellGrid.radiusMetres
    {
      pending = nil
      return .location(sample)
    }
    return wake(at: now)
  }

  /// Advances the time.
  mutating func wake(at now: Instant) -> Outcome? {
    guard let current = pending, let deadline, now >= deadline else { return nil }
    pending = nil
    return current.best.map { .location($0) } ?? .locationUnknown
  }
}
