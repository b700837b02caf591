// SPDX-License-Identifier: Apache-2.0

/// The thresholds at which a client counts as stationary: it stayed within a radius for a time. Core Location does not
/// document its numbers; these are chosen (rule PA-15).
public struct PauseThresholds: Hashable, Sendable {
  /// Metres around the first place of the standstill.
  public var radiusMetres: Double
  /// Seconds within that radius.
  public var stationarySeconds: Double

  public init(radiusMetres: Double, stationarySeconds: Double) {
    self.radiusMetres = radiusMetres
    self.stationarySeconds = stationarySeconds
  }

  /// The table by activity; nil: never paused.
  public static func of(_ activity: Demand.Activity) -> PauseThresholds? {
    switch activity {
    case .other: PauseThresholds(radiusMetres: 50, stationarySeconds: 15 * 60)
    // Not a traffic jam, a ferry or a long red light.
    case .automotiveNavigation: PauseThresholds(radiusMetres: 100, stationarySeconds: 20 * 60)
    case .fitness: PauseThresholds(radiusMetres: 30, stationarySeconds: 10 * 60)
    case .otherNavigation: PauseThresholds(radiusMetres: 200, stationarySeconds: 20 * 60)
    case .airborne: nil
    }
  }
}
