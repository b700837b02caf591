/// When a client is thought to rest: it stayed within a radius for a time. Core Location does not document its own numbers;
/// these are chosen (rule PA-15).
public struct PauseThresholds: Hashable, Sendable {
  /// Metres around the first place of rest.
  public var radiusMetres: Double
  /// Seconds within that radius.
  public var restSeconds: Double

  public init(radiusMetres: Double, restSeconds: Double) {
    self.radiusMetres = radiusMetres
    self.restSeconds = restSeconds
  }

  /// The table by activity; nil: never paused.
  public static func of(_ activity: Demand.Activity) -> PauseThresholds? {
    switch activity {
    case .other: PauseThresholds(radiusMetres: 50, restSeconds: 15 * 60)
    // A traffic jam, a ferry, a long red light are no rest.
    case .automotiveNavigation: PauseThresholds(radiusMetres: 100, restSeconds: 20 * 60)
    case .fitness: PauseThresholds(radiusMetres: 30, restSeconds: 10 * 60)
    case .otherNavigation: PauseThresholds(radiusMetres: 200, restSeconds: 20 * 60)
    case .airborne: nil
    }
  }
}
