// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The time since when the computer has been within a circle, for pausing, live updates and visits.
struct StationaryDetector: Sendable {
  /// The first sample of the circle that contains the latest samples.
  private(set) var anchor: Sample?

  init() {}

  /// A fix shows a move if it is outside the circle by more than its error.
  static func isMove(_ sample: Sample, from anchor: Sample, radiusMetres: Double) -> Bool {
    sample.point.distanceMetres(to: anchor.point) > max(radiusMetres, sample.accuracyMetres)
  }

  /// Handles a sample; returns whether it is outside the circle and begins a new one.
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
