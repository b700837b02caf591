// SPDX-License-Identifier: Apache-2.0

import func Glibc.cos
import func Glibc.sin

/// The environment of a receiver as a value: the antenna's position, the sky, and faults.
///
/// A scenario begins at its second 0 and has a state for every second. `ScenarioParser` reads it from text;
/// `named(_:)` returns the built-in ones.
public struct Scenario: Sendable, Equatable {
  /// The place of the start.
  public let start: Place
  /// Seconds until the last movement ends; infinite for a movement without an end.
  public var durationSeconds: Double { legs.last?.endSeconds ?? 0 }
  /// Whether the scenario repeats after its end.
  public internal(set) var repeats = false
  /// Whether the receiver has time, position and orbits at the start, so that its first start is hot.
  public var beginsHot = false
  /// The receiver; nil for an M10, or the one that a command names.
  public var model: ReceiverModel?
  /// The deviations of the receiver from its documents.
  public var quirks: Set<Quirk> = []
  /// The faults in order of time.
  public internal(set) var faults: [TimedFault] = []

  /// A fault and its second.
  public struct TimedFault: Sendable, Equatable {
    public var atSeconds: Double
    public var fault: Fault
  }

  /// A movement.
  struct Leg: Sendable, Equatable {
    enum Course: Sendable, Equatable {
      case stay
      case straight(to: TangentPlane.Point)
      /// A circle that begins at its southern end, counter-clockwise.
      case circle(radius: Double, period: Double)
      /// A figure of eight (a lemniscate, x = sin t, y = sin t cos t) that begins in its middle.
      case eight(reach: Double, period: Double)
    }

    var startSeconds: Double
    var endSeconds: Double
    var from: TangentPlane.Point
    var course: Course
  }

  struct SkyChange: Sendable, Equatable {
    var atSeconds: Double
    var sky: SkyView
  }

  let plane: TangentPlane
  private(set) var legs: [Leg] = []
  /// The changes of the sky in order of time; the first is at second 0.
  private(set) var skyChanges = [SkyChange(atSeconds: 0, sky: .open)]

  /// The built-in scenario `walk`, a walk in the park.
  public init() { self = Self.named("walk")! }

  init(start: Place) {
    self.start = start
    plane = TangentPlane(at: start)
  }

  /// Returns a scenario that stays at a place under a sky.
  public init(stayingAt place: Place, sky: SkyView = .open) {
    self.init(start: place)
    skyChanges[0].sky = sky
  }

  /// The end of the last movement.
  var end: TangentPlane.Point {
    guard let leg = legs.last else { return TangentPlane.Point(north: 0, east: 0) }
    return motion(of: leg, at: leg.endSeconds.isFinite ? leg.endSeconds - leg.startSeconds : 0).point
  }

  /// Adds a movement with a duration in seconds.
  mutating func append(_ course: Leg.Course, seconds: Double) {
    let (from, now) = (end, durationSeconds)
    legs.append(Leg(startSeconds: now, endSeconds: now + seconds, from: from, course: course))
  }

  /// Adds a straight movement to a place; nothing if the place is already reached.
  mutating func append(to point: TangentPlane.Point, metresPerSecond speed: Double) {
    let distance = end.distance(to: point)
    if distance > 0 { append(.straight(to: point), seconds: distance / speed) }
  }

  /// Adds a straight movement to a place in metres north and east of the start; nothing if the place is already
  /// reached.
  public mutating func move(northMetres: Double, eastMetres: Double, seconds: Double) {
    let point = TangentPlane.Point(north: northMetres, east: eastMetres)
    append(end == point ? .stay : .straight(to: point), seconds: seconds)
  }

  /// Metres north and east of the start.
  public func metres(latitudeDegrees: Double, longitudeDegrees: Double) -> (north: Double, east: Double) {
    let point = plane.point(latitude: latitudeDegrees, longitude: longitudeDegrees)
    return (point.north, point.east)
  }

  /// A place by metres north and east of the start.
  public func place(northMetres: Double, eastMetres: Double) -> Place {
    let (latitude, longitude) = plane.coordinates(of: TangentPlane.Point(north: northMetres, east: eastMetres))
    return Place(latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: plane.origin.altitudeMetres)
  }

  /// Changes the sky from a second on. It replaces a change at the same second.
  public mutating func setSky(_ sky: SkyView, fromSeconds seconds: Double) {
    let change = SkyChange(atSeconds: seconds, sky: sky)
    if let same = skyChanges.firstIndex(where: { $0.atSeconds == seconds }) {
      skyChanges[same] = change
    } else {
      skyChanges.insert(change, at: skyChanges.firstIndex { $0.atSeconds > seconds } ?? skyChanges.endIndex)
    }
  }

  /// Adds a fault.
  public mutating func addFault(_ fault: Fault, atSeconds seconds: Double) {
    faults.insert(
      TimedFault(atSeconds: seconds, fault: fault),
      at: faults.firstIndex { $0.atSeconds > seconds } ?? faults.endIndex)
  }

  /// The truth at a second from the start.
  public func truth(atSeconds seconds: Double) -> Truth {
    let seconds = folded(seconds)
    var (point, velocity) = (TangentPlane.Point(north: 0, east: 0), TangentPlane.Point(north: 0, east: 0))
    var rise = 0.0
    if let index = leg(at: seconds) {
      let leg = legs[index]
      (point, velocity) = motion(of: leg, at: min(seconds, leg.endSeconds) - leg.startSeconds)
      if seconds >= leg.endSeconds { velocity = TangentPlane.Point(north: 0, east: 0) }
      if case .eight(let reach, _) = leg.course { rise = 4 * (point.east - leg.from.east) / reach }
    }
    let (latitude, longitude) = plane.coordinates(of: point)
    return Truth(
      latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: start.altitudeMetres + rise,
      northMetresPerSecond: velocity.north, eastMetresPerSecond: velocity.east,
      sky: skyChanges[skyIndex(at: seconds)].sky)
  }

  /// The sky at a second from the start.
  func sky(atSeconds seconds: Double) -> SkyView { skyChanges[skyIndex(at: folded(seconds))].sky }

  /// The second of the next change of the sky; nil without one.
  func nextSkyChange(afterSeconds seconds: Double) -> Double? {
    let inside = folded(seconds)
    let next = skyIndex(at: inside) + 1
    let base = seconds - inside
    if next < skyChanges.count, !repeats || skyChanges[next].atSeconds < durationSeconds {
      return base + skyChanges[next].atSeconds
    }
    guard repeats, skyChanges.count > 1 else { return nil }
    return base + durationSeconds
  }

  private func folded(_ seconds: Double) -> Double {
    let seconds = max(0, seconds)
    guard repeats, durationSeconds.isFinite, durationSeconds > 0 else { return seconds }
    return seconds - (seconds / durationSeconds).rounded(.down) * durationSeconds
  }

  private func leg(at seconds: Double) -> Int? {
    guard !legs.isEmpty else { return nil }
    var (low, high) = (0, legs.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if legs[middle].startSeconds <= seconds { low = middle } else { high = middle }
    }
    return low
  }

  private func skyIndex(at seconds: Double) -> Int {
    var (low, high) = (0, skyChanges.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if skyChanges[middle].atSeconds <= seconds { low = middle } else { high = middle }
    }
    return low
  }

  private func motion(
    of leg: Leg, at seconds: Double
  ) -> (point: TangentPlane.Point, velocity: TangentPlane.Point) {
    let still = TangentPlane.Point(north: 0, east: 0)
    switch leg.course {
    case .stay: return (leg.from, still)
    case .straight(let to):
      let length = leg.endSeconds - leg.startSeconds
      // The way is too short for the resolution of the time.
      guard length > 0 else { return (to, still) }
      let velocity = TangentPlane.Point(
        north: (to.north - leg.from.north) / length, east: (to.east - leg.from.east) / length)
      return (
        TangentPlane.Point(
          north: leg.from.north + velocity.north * seconds, east: leg.from.east + velocity.east * seconds), velocity
      )
    case .circle(let radius, let period):
      let rate = 2 * Double.pi / period
      let angle = rate * seconds
      return (
        TangentPlane.Point(
          north: leg.from.north + radius * (1 - cos(angle)), east: leg.from.east + radius * sin(angle)),
        TangentPlane.Point(north: radius * rate * sin(angle), east: radius * rate * cos(angle))
      )
    case .eight(let reach, let period):
      let rate = 2 * Double.pi / period
      let angle = rate * seconds
      return (
        TangentPlane.Point(
          north: leg.from.north + reach * sin(angle) * cos(angle), east: leg.from.east + reach * sin(angle)),
        TangentPlane.Point(north: reach * cos(2 * angle) * rate, east: reach * cos(angle) * rate)
      )
    }
  }
}

/// The limits of a scenario, which follow from the limits of receivers. u-blox receivers give no fix above 80 km or 500
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

/// A plane that touches the Earth at a scenario's start. Places are metres north and east of it, by the radii of
/// curvature of the ellipsoid (WGS 84). The plane defines a scenario's truth, so that it has no error.
struct TangentPlane: Sendable, Equatable {
  /// Metres north and east of the origin.
  struct Point: Sendable, Equatable {
    var north: Double
    var east: Double

    func distance(to other: Point) -> Double {
      let (north, east) = (other.north - north, other.east - east)
      return (north * north + east * east).squareRoot()
    }
  }

  let origin: Place
  private let metresPerDegreeNorth: Double
  private let metresPerDegreeEast: Double

  init(at origin: Place) {
    self.origin = origin
    let (axis, flattening) = (6_378_137.0, 1 / 298.257223563)
    let squared = flattening * (2 - flattening)
    let latitude = origin.latitudeDegrees * .pi / 180
    let inner = 1 - squared * sin(latitude) * sin(latitude)
    metresPerDegreeNorth = axis * (1 - squared) / (inner * inner.squareRoot()) * .pi / 180
    metresPerDegreeEast = axis / inner.squareRoot() * cos(latitude) * .pi / 180
  }

  func point(latitude: Double, longitude: Double) -> Point {
    // The shorter direction around the Earth.
    Point(
      north: (latitude - origin.latitudeDegrees) * metresPerDegreeNorth,
      east: Self.wrapped(longitude - origin.longitudeDegrees) * metresPerDegreeEast)
  }

  func coordinates(of point: Point) -> (latitude: Double, longitude: Double) {
    (
      origin.latitudeDegrees + point.north / metresPerDegreeNorth,
      Self.wrapped(origin.longitudeDegrees + point.east / metresPerDegreeEast)
    )
  }

  /// The longitude of a place beyond the date line, in the range of receivers.
  static func wrapped(_ longitude: Double) -> Double {
    abs(longitude) <= 180 ? longitude : longitude - ((longitude + 180) / 360).rounded(.down) * 360
  }
}
