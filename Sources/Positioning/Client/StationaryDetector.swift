import MonotonicTime

/// Since when the computer has been within a circle. Pausing, live updates and visits ask.
struct StationaryDetector: Sendable {
  /// The first sample of the circle that the last ones lie in.
  private(set) var anchor: Sample?

  init() {}

  /// A fix proves a move when it lies outside the circle by more than it may be wrong.
  static func isMove(_ sample: Sample, from anchor: Sample, radiusMetres: Double) -> Bool {
    sample.point.distanceMetres(to: anchor.point) > max(radiusMetres, sample.accuracyMetres)
  }

  /// Takes a sample; true when it lies outside, and begins a circle of its own.
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
