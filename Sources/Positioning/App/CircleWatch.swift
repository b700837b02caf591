import MonotonicTime

/// On which side of a circle's border one is, with hysteresis (RG-13, RG-14).
///
///     unknown ──first fix that can tell──▶ inside │ outside                    without an event
///     inside  ──across the border, past the margin, 20 s──▶ outside            a crossing
///     outside ──across the border, past the margin, 20 s──▶ inside             a crossing
///
/// The time counts from the first fix beyond the border and begins anew when fixes lie back over it. Who crosses slowly
/// is not past the margin in time: then a quarter of it and 28 s do, as an event comes 30 s after the crossing at most.
struct CircleWatch: Hashable, Sendable {
  /// The archived guide's time on the new side.
  static var dwellSeconds: Double { 20 }
  /// When a slow crossing counts: before the contract's 30 s are over, with an epoch to spare.
  static var slowDwellSeconds: Double { 28 }
  /// How shortly after a fix beyond the border one back over it may be a stray one.
  static var outlierSeconds: Double { 2 }
  /// Metres past the border, unless the client said how many (RG-24).
  static var defaultMarginMetres: Double { 20 }
  /// A fix that is blurred more than this, and more than the region is large, cannot tell on which side it is.
  static var blurMetres: Double { 100 }

  let circle: Circle
  let marginMetres: Double
  private(set) var state: RegionState
  /// Since when fixes lie on the other side, and the last that did.
  private var beyondSince: Instant?
  private var lastBeyond = Instant.zero
  /// The last fix lay back on this side, alone: it may be a stray one.
  private var isOutlier = false
  private let centre: SurfacePoint

  /// - Parameter state: what an earlier run had found, so that a crossing while nobody looked is one (RG-19).
  init(_ circle: Circle, marginMetres: Double? = nil, state: RegionState = .unknown) {
    self.circle = circle
    self.marginMetres = marginMetres.flatMap { $0 > 0 ? $0 : nil } ?? Self.defaultMarginMetres
    self.state = state
    centre = SurfacePoint(circle.centre)
  }

  /// Whether a crossing is being watched: fixes are needed now.
  var isCrossing: Bool { beyondSince != nil }

  /// Nobody looked for a time: a fix from before proves no stay on the other side (RG-14).
  mutating func restart() {
    beyondSince = nil
    isOutlier = false
  }

  /// Metres to the border.
  func borderMetres(from point: SurfacePoint) -> Double {
    abs(point.distanceMetres(to: centre) - circle.radiusMetres)
  }

  /// Takes a sample; true when the state changed by a crossing.
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
    // A small circle has no inside that deep.
    let margin = side == .inside ? min(margin(sample), circle.radiusMetres / 2) : margin(sample)
    let past = abs(depth)
    guard past >= margin || seconds >= Self.slowDwellSeconds && past >= min(margin, marginMetres) / 4 else {
      return false
    }
    state = side
    beyondSince = nil
    return true
  }

  /// A fix on the side where one is known to be. One alone among many is not believed: who has crossed the border would be
  /// told too late for each reflection.
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
