/// When a client is thought to rest: it stayed within a radius for a time. Core Location does not document its own numbers;
/// these are chosen (rule PA-15).
public struct PauseThresholds: Hashable, Sendable {
  /// Metres around the first place of rest.
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
    // A traffic jam, a ferry, a long red light are no rest.
    case .automotiveNavigation: PauseThresholds(radiusMetres: 100, stationarySeconds: 20 * 60)
    case .fitness: PauseThresholds(radiusMetres: 30, stationarySeconds: 10 * 60)
    case .otherNavigation: PauseThresholds(radiusMetres: 200, stationarySeconds: 20 * 60)
    case .airborne: nil
    }
  }
}
