/// What a receiver can live through, and so what a scenario may say. u-blox receivers give no fix above 80 km or 500 m/s, and
/// follow accelerations of up to 4 g (data sheets of M8 to F10, "operational limits").
enum ScenarioLimits {
  /// Above and below sea level: the shores of the Dead Sea are 430 m below, mines reach 4 km.
  static let heightMetres = -5000.0...80_000.0
  static let metresPerSecond = 500.0
  static let metresPerSecondSquared = 4 * 9.80665
  /// From the start: the plane that a scenario is told in is no farther good for anything.
  static let reachMetres = 500_000.0
  static let latitudeDegrees = 89.0
  /// Ten years, of any one time and of all movements together.
  static let seconds = 3650 * 86_400.0
}

extension Words {
  /// A height above sea level.
  mutating func height() throws(ScenarioError) -> Double {
    let metres = try metres()
    guard ScenarioLimits.heightMetres.contains(metres) else {
      throw error("no receiver works there; a height is between -5km and 80km")
    }
    return metres
  }
}

extension ScenarioParser {
  /// A place that a movement comes to.
  func check(_ point: TangentPlane.Point, of scenario: Scenario) throws(ScenarioError) {
    let home = TangentPlane.Point(north: 0, east: 0)
    guard point.distance(to: home) < ScenarioLimits.reachMetres else {
      throw words.error("the place is more than 500 km from the start; begin the scenario nearer to it")
    }
    guard abs(scenario.plane.coordinates(of: point).latitude) <= ScenarioLimits.latitudeDegrees else {
      throw words.error("the place is beyond 89 degrees of latitude; stay away from the poles")
    }
  }

  /// The edges of what is moved in, from where the last movement ended.
  func check(north: ClosedRange<Double>, east: Double, of scenario: Scenario) throws(ScenarioError) {
    let middle = scenario.end
    for edge in [north.lowerBound, north.upperBound] {
      for side in [-east, east] {
        try check(TangentPlane.Point(north: middle.north + edge, east: middle.east + side), of: scenario)
      }
    }
  }

  /// Going round: how fast that is at most, and how much of it is sideways.
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

  /// The movements so far.
  func checkDuration(of scenario: Scenario) throws(ScenarioError) {
    let seconds = scenario.durationSeconds
    guard seconds <= ScenarioLimits.seconds || seconds == .infinity else {
      throw words.error("the movements take more than ten years (3650d); go faster, or say `forever`")
    }
  }

  private static func whole(_ value: Double) -> String {
    Int(exactly: value.rounded(.up)).map { String($0) } ?? "\(value)"
  }
}
