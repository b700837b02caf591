// SPDX-License-Identifier: Apache-2.0

/// The limits of a scenario, which follow from those of receivers. u-blox receivers give no fix above 80 km or 500
/// m/s, and follow accelerations of up to 4 g (data sheets of M8 to F10, "operational limits").
enum ScenarioLimits {
  /// Metres below and above sea level: the shores of the Dead Sea are 430 m below, mines reach 4 km.
  static let heightMetres = -5000.0...80_000.0
  static let metresPerSecond = 500.0
  static let metresPerSecondSquared = 4 * 9.80665
  /// Metres from the start: the tangent plane is not accurate beyond.
  static let reachMetres = 500_000.0
  static let latitudeDegrees = 89.0
  /// Ten years in seconds, for any single time and for all movements together.
  static let seconds = 3650 * 86_400.0
}

extension Words {
  /// Checks a height above sea level.
  mutating func height() throws(ScenarioError) -> Double {
    let metres = try metres()
    guard ScenarioLimits.heightMetres.contains(metres) else {
      throw error("no receiver works there; a height is between -5km and 80km")
    }
    return metres
  }
}

extension ScenarioParser {
  /// Checks the end of a movement.
  func check(_ point: TangentPlane.Point, of scenario: Scenario) throws(ScenarioError) {
    let home = TangentPlane.Point(north: 0, east: 0)
    guard point.distance(to: home) < ScenarioLimits.reachMetres else {
      throw words.error("the place is more than 500 km from the start; begin the scenario nearer to it")
    }
    guard abs(scenario.plane.coordinates(of: point).latitude) <= ScenarioLimits.latitudeDegrees else {
      throw words.error("the place is beyond 89 degrees of latitude; stay away from the poles")
    }
  }

  /// Checks the edges of a movement, relative to its start.
  func check(north: ClosedRange<Double>, east: Double, of scenario: Scenario) throws(ScenarioError) {
    let middle = scenario.end
    for edge in [north.lowerBound, north.upperBound] {
      for side in [-east, east] {
        try check(TangentPlane.Point(north: middle.north + edge, east: middle.east + side), of: scenario)
      }
    }
  }

  /// Checks a closed path: the maximum speed and the maximum lateral acceleration.
  func check(metresPerSecond speed: Double, metresPerSecondSquared acceleration: Double) throws(ScenarioError) {
    guard speed <= ScenarioLimits.metresPerSecond else {
      throw words.error(
        "that is \(Self.whole(speed)) m/s, and no receiver works above 500 m/s; give it a longer period or a smaller size"
      )
    }
    guard acceleration <= ScenarioLimits.metresPerSecondSquared else {
      throw words.error(
        "that is \(Self.whole(acceleration / 9.80665)) times gravity, and no receiver follows above 4; give it a longer period"
      )
    }
  }

  /// The duration of the movements so far.
  func checkDuration(of scenario: Scenario) throws(ScenarioError) {
    let seconds = scenario.durationSeconds
    guard seconds <= ScenarioLimits.seconds || seconds == .infinity else {
      throw words.error("the movements take more than ten years (3650d); go faster, or use `forever`")
    }
  }

  private static func whole(_ value: Double) -> String {
    Int(exactly: value.rounded(.up)).map { String($0) } ?? "\(value)"
  }
}
