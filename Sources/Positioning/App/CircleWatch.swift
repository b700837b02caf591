// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The side of a circle's border, with hysteresis (RG-13, RG-14).
///
///     unknown ──first fix that is precise enough──▶ inside │ outside           without an event
///     inside  ──across the border, past the margin, 20 s──▶ outside            a crossing
///     outside ──across the border, past the margin, 20 s──▶ inside             a crossing
///
/// The time counts from the first fix beyond the border and restarts when fixes are back on the former side. A slow
/// crossing does not pass the margin in time: a quarter of the margin and 28 s are enough for it, because an event is
/// due at most 30 s after the crossing.
struct CircleWatch: Hashable, Sendable {
  /// The time on the new side, from Apple's archived guide.
  static var dwellSeconds: Double { 20 }
  /// The time after which a slow crossing counts: within the contract's 30 s, with a reserve of one epoch.
  static var slowDwellSeconds: Double { 28 }
  /// The time after a fix beyond the border within which a fix back over it may be an outlier.
  static var outlierSeconds: Double { 2 }
  /// Metres past the border, unless the client has set them (RG-24).
  static var defaultMarginMetres: Double { 20 }
  /// A fix whose error is greater than this, and greater than the region, does not determine the side.
  static var blurMetres: Double { 100 }

  let circle: Circle
  let marginMetres: Double
  private(set) var state: RegionState
  /// The first and the last fix on the other side.
  private var beyondSince: Instant?
  private var lastBeyond = Instant.zero
  /// Only the last fix was back on this side: it may be an outlier.
  private var isOutlier = false
  private let centre: SurfacePoint

  /// - Parameter state: the state of an earlier run, so that a crossing since then is an event (RG-19).
  init(_ circle: Circle, marginMetres: Double? = nil, state: RegionState = .unknown) {
    self.circle = circle
    self.marginMetres = marginMetres.flatMap { $0 > 0 ? $0 : nil } ?? Self.defaultMarginMetres
    self.state = state
    centre = SurfacePoint(circle.centre)
  }

  /// Whether a possible crossing is in progress: fixes are needed now.
  var isCrossing: Bool { beyondSince != nil }

  /// Watching resumes after a break: an older fix does not count as a stay on the other side (RG-14).
  mutating func restart() {
    beyondSince = nil
    isOutlier = false
  }

  /// Metres to the border.
  func borderMetres(from point: SurfacePoint) -> Double {
    abs(point.distanceMetres(to: centre) - circle.radiusMetres)
  }

  /// Handles a sample; returns whether it completes a crossing.
  mutating func receive(_ sample: Sample) -> Bool {
    guard sample.accuracyMetres >= 0, sample.accuracyMetres <= max(circle.radiusMetres, Self.blurMetres) else {
      return false
    }
    /// Metres inside the border; negative outside.
    let depth = circle.radiusMetres - sample.point.distanceMetres(to: centre)
    let side = depth >= 0 ? RegionState.inside : .outside
    if state == .unknown {
      state = side
      return false
    }
    if side == state {
      turnBack(sample)
      return false
    }
    let since = beyondSince ?? sample.measured
    beyondSince = since
    lastBeyond = sample.measured
    isOutlier = false
    let seconds = sample.measured.seconds(since: since)
    guard seconds >= Self.dwellSeconds else { return false }
    // A small circle is not that deep.
    let margin = side == .inside ? min(margin(sample), circle.radiusMetres / 2) : margin(sample)
    let past = abs(depth)
    guard past >= margin || seconds >= Self.slowDwellSeconds && past >= min(margin, marginMetres) / 4 else {
      return false
    }
    state = side
    beyondSince = nil
    return true
  }

  /// Handles a fix on the current side. A single such fix among many on the other side is ignored: otherwise each
  /// reflected signal would delay a crossing.
  private mutating func turnBack(_ sample: Sample) {
    if !isOutlier, sample.measured.seconds(since: lastBeyond) <= Self.outlierSeconds {
      isOutlier = true
    } else {
      beyondSince = nil
      isOutlier = false
    }
  }

  private func margin(_ sample: Sample) -> Double { max(marginMetres, sample.accuracyMetres) }
}
