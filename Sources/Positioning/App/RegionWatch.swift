// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// The watch of a region, circle or beacon.
enum RegionWatch: Hashable, Sendable {
  case circle(CircleWatch)
  case beacon(BeaconWatch)

  init(
    _ shape: Region.Shape, marginMetres: Double? = nil, state: RegionState = .unknown, isAssumed: Bool = false,
    at now: Instant
  ) {
    switch shape {
    case .circle(let circle):
      self = .circle(CircleWatch(circle, marginMetres: marginMetres, state: state, isAssumed: isAssumed))
    case .beacon(let identity): self = .beacon(BeaconWatch(identity, state: state, at: now))
    }
  }

  var state: RegionState {
    switch self {
    case .circle(let watch): watch.state
    case .beacon(let watch): watch.state
    }
  }

  var deadline: Instant? {
    switch self {
    case .circle: nil
    case .beacon(let watch): watch.deadline
    }
  }

  mutating func restart(at now: Instant) {
    switch self {
    case .circle(var watch):
      watch.restart()
      self = .circle(watch)
    case .beacon(var watch):
      watch.restart(at: now)
      self = .beacon(watch)
    }
  }

  /// Handles a sighting while the state must not change.
  mutating func note(_ sighting: BeaconSighting) {
    guard case .beacon(var watch) = self else { return }
    watch.note(sighting)
    self = .beacon(watch)
  }

  /// Each function returns whether a crossing changed the state.
  mutating func receive(_ sample: Sample) -> Bool {
    guard case .circle(var watch) = self else { return false }
    defer { self = .circle(watch) }
    return watch.receive(sample)
  }

  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    guard case .beacon(var watch) = self else { return false }
    defer { self = .beacon(watch) }
    return watch.receive(sighting)
  }

  mutating func wake(at now: Instant) -> Bool {
    guard case .beacon(var watch) = self else { return false }
    defer { self = .beacon(watch) }
    return watch.wake(at: now)
  }
}

/// The watch of a beacon region (BE-9): inside at the first sighting, outside after half a minute without a sighting.
/// The first sighting, or its absence, sets the state without an event, as with circles (RG-13).
struct BeaconWatch: Hashable, Sendable {
  static var silence: Milliseconds { Milliseconds(30_000) }

  let identity: BeaconIdentity
  private(set) var state: RegionState
  /// The time of the last sighting, or the start of the watch.
  private var lastSighting: Instant

  init(_ identity: BeaconIdentity, state: RegionState = .unknown, at now: Instant) {
    self.identity = identity
    self.state = state
    lastSighting = now
  }

  var deadline: Instant? { state == .outside ? nil : lastSighting + Self.silence }

  /// Scanning has resumed: the time without scanning does not count as silence.
  mutating func restart(at now: Instant) { lastSighting = max(lastSighting, now) }

  /// Handles a sighting while the state must not change: it only ends a silence.
  mutating func note(_ sighting: BeaconSighting) {
    if identity.matches(sighting) { lastSighting = sighting.received.instant }
  }

  /// Handles a sighting; returns whether it is a crossing.
  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    guard identity.matches(sighting) else { return false }
    lastSighting = sighting.received.instant
    defer { state = .inside }
    return state == .outside
  }

  /// Advances the time; returns whether the region was left.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    defer { state = .outside }
    return state == .inside
  }
}

/// The side of a circle's border, with hysteresis (RG-13, RG-14).
///
///     unknown ──first fix that is precise enough──▶ inside │ outside           without an event
///     inside  ──across the border, past the margin, 20 s──▶ outside            a crossing
///     outside ──across the border, past the margin, 20 s──▶ inside             a crossing
///     assumed ──first fix that is precise enough──▶ inside │ outside           as it shows, or as assumed
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
  /// Whether no fix has shown the state, which the client has assumed (MO-2).
  private var isAssumed: Bool
  /// The first and the last fix on the other side.
  private var beyondSince: Instant?
  private var lastBeyond = Instant.zero
  /// Only the last fix was back on this side: it may be an outlier.
  private var isOutlier = false
  private let centre: SurfacePoint

  /// - Parameters:
  ///   - circle: the circle.
  ///   - marginMetres: the client's own margin.
  ///   - state: the state of an earlier run, so that a crossing since then is an event (RG-19).
  ///   - isAssumed: whether the client has assumed the state.
  init(_ circle: Circle, marginMetres: Double? = nil, state: RegionState = .unknown, isAssumed: Bool = false) {
    self.circle = circle
    self.isAssumed = isAssumed && state != .unknown
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
    if isAssumed {
      isAssumed = false
      // A fix that is as near to the border as its error does not disprove the assumption.
      if abs(depth) > sample.accuracyMetres { state = side }
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

extension Sequence where Element == RegionWatch {
  /// The distance to the nearest border of a circle in metres, and whether a possible crossing is in progress; nil
  /// without circles.
  func nearestBorder(from point: SurfacePoint) -> (metres: Double, isCrossing: Bool)? {
    var nearest: (metres: Double, isCrossing: Bool)?
    for case .circle(let watch) in self {
      let metres = watch.borderMetres(from: point)
      nearest = (Swift.min(nearest?.metres ?? .infinity, metres), nearest?.isCrossing ?? false || watch.isCrossing)
    }
    return nearest
  }
}
