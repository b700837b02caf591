// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// An error in a scenario's text: the line, the problem and the correction.
public struct ScenarioError: Error, Equatable, CustomStringConvertible {
  /// The line number from 1; 0 for the text as a whole.
  public var line: Int
  public var message: String

  public var description: String { line == 0 ? message : "line \(line): \(message)" }
}

extension Scenario {
  /// Reads a scenario; the format is described in docs/reference/scenarios.md.
  ///
  /// - Throws: ``ScenarioError`` at the first invalid line.
  public init(parsing text: String) throws(ScenarioError) {
    var parser = ScenarioParser()
    // Some editors write a byte order mark and the line ends of Windows.
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      try parser.read(line, number: index + 1)
    }
    self = try parser.finish()
  }
}

/// Parses lines into a scenario.
struct ScenarioParser {
  private var scenario: Scenario?
  private var hasRepeat = false
  private(set) var words = Words("", line: 0)
  private var random = SeededRandomNumberGenerator(seed: 1)

  mutating func read(_ line: Substring, number: Int) throws(ScenarioError) {
    words = Words(line.prefix { $0 != "#" }, line: number)
    guard let verb = words.next() else { return }
    guard !hasRepeat else { throw words.error("nothing may follow `repeat`; move it to the end") }
    if verb == "start" { return try readStart() }
    if verb == "seed" { return try readSeed() }
    guard var scenario else { throw words.error("a scenario begins with `start LATITUDE,LONGITUDE [HEIGHTm]`") }
    switch verb {
    case "hot": scenario.beginsHot = true
    case "model": scenario.model = try words.model()
    case "quirk": scenario.quirks.insert(try words.quirk())
    case "sky": scenario.setSky(try words.sky(), fromSeconds: try motionTime(scenario))
    case "stay": try readStay(&scenario)
    case "walk": try readWay(&scenario, metresPerSecond: 1.4)
    case "ride": try readWay(&scenario, metresPerSecond: 5)
    case "drive": try readWay(&scenario, metresPerSecond: 14)
    case "circle": try readCircle(&scenario)
    case "eight": try readEight(&scenario)
    case "errand": try readRandomStops(&scenario)
    case "at": try readEvent(&scenario)
    case "repeat":
      try readRepeat(&scenario)
    default:
      throw words.error(
        "`\(verb)` is not a scenario command; use start, hot, seed, model, quirk, sky, stay, walk, ride, drive, circle, eight, errand, "
          + "at and repeat")
    }
    try words.expectEnd()
    try checkDuration(of: scenario)
    self.scenario = scenario
  }

  func finish() throws(ScenarioError) -> Scenario {
    guard let scenario else {
      throw ScenarioError(line: 0, message: "the scenario is empty; it begins with `start LATITUDE,LONGITUDE`")
    }
    return scenario
  }

  private mutating func readSeed() throws(ScenarioError) {
    guard let seed = words.next().flatMap({ UInt64($0) }) else { throw words.error("`seed` takes a whole number") }
    random = SeededRandomNumberGenerator(seed: seed)
    try words.expectEnd()
  }

  private mutating func readStart() throws(ScenarioError) {
    guard scenario == nil else { throw words.error("there is one `start` already; use `drive to` to go elsewhere") }
    let (latitude, longitude) = try words.coordinates()
    let height = words.isAtEnd ? 0 : try words.height()
    try words.expectEnd()
    scenario = Scenario(
      start: Place(latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: height))
  }

  /// The end of the movements so far, in seconds from the start.
  private func motionTime(_ scenario: Scenario) throws(ScenarioError) -> Double {
    guard scenario.durationSeconds.isFinite else {
      throw words.error("the movement before goes on for ever; give it a length with `for DURATION`")
    }
    return scenario.durationSeconds
  }

  private mutating func readStay(_ scenario: inout Scenario) throws(ScenarioError) {
    let now = try motionTime(scenario)
    if words.take("until") {
      let end = try words.seconds()
      guard end > now else {
        throw words.error("it is \(ScenarioParser.clock(now)) already; stay until a later time, or move faster before")
      }
      return scenario.append(.stay, seconds: end - now)
    }
    if words.take("forever") { return scenario.append(.stay, seconds: .infinity) }
    scenario.append(.stay, seconds: try words.seconds())
  }

  /// `to PLACE [at SPEED]`, `via PLACE… to PLACE [at SPEED]`, `by NORTHm,EASTm [at SPEED]`, `home [at SPEED]`.
  private mutating func readWay(_ scenario: inout Scenario, metresPerSecond usual: Double) throws(ScenarioError) {
    _ = try motionTime(scenario)
    var points: [TangentPlane.Point] = []
    if words.take("via") {
      while !words.isAtEnd, words.peek != "to" { points.append(try point(scenario)) }
    }
    if words.take("home") {
      points.append(TangentPlane.Point(north: 0, east: 0))
    } else if words.take("by") {
      let (north, east) = try words.offsets()
      let from = points.last ?? scenario.end
      let point = TangentPlane.Point(north: from.north + north, east: from.east + east)
      try check(point, of: scenario)
      points.append(point)
    } else if words.take("to") {
      points.append(try point(scenario))
    } else {
      throw words.error("name a place: `to LATITUDE,LONGITUDE`, `by NORTHm,EASTm` or `home`")
    }
    let speed = words.take("at") ? try words.speed() : usual
    for point in points { scenario.append(to: point, metresPerSecond: speed) }
  }

  private mutating func point(_ scenario: Scenario) throws(ScenarioError) -> TangentPlane.Point {
    let (latitude, longitude) = try words.coordinates()
    let point = scenario.plane.point(latitude: latitude, longitude: longitude)
    try check(point, of: scenario)
    return point
  }

  private mutating func readCircle(_ scenario: inout Scenario) throws(ScenarioError) {
    let (radius, period) = try sizeAndPeriod(scenario)
    try check(north: 0...2 * radius, east: radius, of: scenario)
    let rate = 2 * Double.pi / period
    try check(metresPerSecond: radius * rate, metresPerSecondSquared: radius * rate * rate)
    try readLoop(&scenario, .circle(radius: radius, period: period))
  }

  private mutating func readEight(_ scenario: inout Scenario) throws(ScenarioError) {
    let (reach, period) = try sizeAndPeriod(scenario)
    try check(north: -reach / 2...reach / 2, east: reach, of: scenario)
    // The maximum speed is in the middle, where x = sin t and y = sin t cos t both contribute; the maximum
    // acceleration is at the ends of y.
    let rate = 2 * Double.pi / period
    try check(
      metresPerSecond: reach * rate * 2.0.squareRoot(), metresPerSecondSquared: reach * rate * rate * 2.125)
    try readLoop(&scenario, .eight(reach: reach, period: period))
  }

  /// `SIZE in PERIOD`.
  private mutating func sizeAndPeriod(_ scenario: Scenario) throws(ScenarioError) -> (Double, Double) {
    _ = try motionTime(scenario)
    let size = try words.metres()
    guard size > 0 else { throw words.error("the size is more than 0 m") }
    try words.expect("in")
    return (size, try words.seconds())
  }

  /// `for DURATION` or `forever`.
  private mutating func readLoop(_ scenario: inout Scenario, _ course: Scenario.Leg.Course) throws(ScenarioError) {
    if words.take("forever") { return scenario.append(course, seconds: .infinity) }
    try words.expect("for")
    scenario.append(course, seconds: try words.seconds())
  }

  /// `within RADIUS stops N pause DURATION [at SPEED]`: random stops, and then back to the start of the movement.
  private mutating func readRandomStops(_ scenario: inout Scenario) throws(ScenarioError) {
    _ = try motionTime(scenario)
    try words.expect("within")
    let radius = try words.metres()
    guard radius > 0 else { throw words.error("the radius is more than 0 m") }
    try check(north: -radius...radius, east: radius, of: scenario)
    try words.expect("stops")
    guard let stops = words.next().flatMap({ Int($0) }), 1...1000 ~= stops else {
      throw words.error("`stops` takes a number from 1 to 1000")
    }
    try words.expect("pause")
    let pause = try words.seconds()
    let speed = words.take("at") ? try words.speed() : 8
    let middle = scenario.end
    for _ in 0..<stops {
      let point = TangentPlane.Point(
        north: middle.north + random.number(in: -radius...radius),
        east: middle.east + random.number(in: -radius...radius))
      scenario.append(to: point, metresPerSecond: speed)
      scenario.append(.stay, seconds: pause)
    }
    scenario.append(to: middle, metresPerSecond: speed)
  }

  private mutating func readRepeat(_ scenario: inout Scenario) throws(ScenarioError) {
    let length = try motionTime(scenario)
    guard length >= 1 else { throw words.error("there is nothing to repeat; add movements, or `stay 24h`") }
    let home = TangentPlane.Point(north: 0, east: 0)
    guard scenario.end.distance(to: home) < 1 else {
      throw words.error("a scenario that repeats ends where it starts; add `walk home` or `drive home` before")
    }
    if let late = scenario.skyChanges.last?.atSeconds, late >= length {
      throw words.error("the sky changes at \(Self.clock(late)), when the next round is on; stay until later")
    }
    scenario.repeats = true
    hasRepeat = true
  }

  /// `at TIME sky SKY`, `at TIME fault …`.
  private mutating func readEvent(_ scenario: inout Scenario) throws(ScenarioError) {
    let at = try words.time()
    if words.take("sky") { return scenario.setSky(try words.sky(), fromSeconds: at) }
    try words.expect("fault", or: "sky")
    scenario.addFault(try words.fault(), atSeconds: at)
  }

  static func clock(_ seconds: Double) -> String {
    let whole = Int(clamping: seconds.rounded())
    let text = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return "\(text(whole / 3600)):\(text(whole / 60 % 60)):\(text(whole % 60))"
  }
}
