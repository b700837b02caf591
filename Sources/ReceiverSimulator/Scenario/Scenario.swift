// SPDX-License-Identifier: Apache-2.0
import Glibc

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
