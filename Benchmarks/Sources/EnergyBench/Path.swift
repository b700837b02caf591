// SPDX-License-Identifier: Apache-2.0

/// The position over the day: stops and straight ways on a plane in metres, with ordinary acceleration at both ends
/// of a way.
public struct Path: Sendable {
  private var legs: [Leg] = []
  /// The place and time of the path's end.
  public private(set) var end = Place(east: 0, north: 0)
  public private(set) var endSeconds = 0.0

  public struct Place: Hashable, Sendable {
    public var east: Double
    public var north: Double

    public init(east: Double, north: Double) {
      self.east = east
      self.north = north
    }

    public func metres(to other: Place) -> Double {
      let (x, y) = (other.east - east, other.north - north)
      return (x * x + y * y).squareRoot()
    }
  }

  private struct Leg: Sendable {
    var from: Place
    var to: Place
    var startSeconds: Double
    var seconds: Double
    var metres: Double
    var speed: Double
  }

  /// The acceleration and deceleration, m/s².
  private static let acceleration = 1.5

  public init(start: Place = Place(east: 0, north: 0)) { end = start }

  /// Stays until this second of the day.
  public mutating func rest(until seconds: Double) {
    guard seconds > endSeconds else { return }
    legs.append(Leg(from: end, to: end, startSeconds: endSeconds, seconds: seconds - endSeconds, metres: 0, speed: 0))
    endSeconds = seconds
  }

  public mutating func rest(for seconds: Double) { rest(until: endSeconds + seconds) }

  /// Moves to a place; `speed` is the speed in m/s between acceleration and deceleration.
  public mutating func go(to place: Place, speed: Double) {
    let metres = end.metres(to: place)
    guard metres > 0 else { return }
    // A short way has a lower maximum speed.
    let speed = min(speed, (metres * Self.acceleration).squareRoot())
    let seconds = metres / speed + speed / Self.acceleration
    legs.append(Leg(from: end, to: place, startSeconds: endSeconds, seconds: seconds, metres: metres, speed: speed))
    end = place
    endSeconds += seconds
  }

  /// The index of the leg at a time; legs are in order of time.
  private func leg(at seconds: Double) -> Leg? {
    var low = 0
    var high = legs.count
    while low < high {
      let middle = (low + high) / 2
      if legs[middle].startSeconds <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? legs.first : legs[low - 1]
  }

  public func place(at seconds: Double) -> Place {
    guard let leg = leg(at: seconds) else { return end }
    guard leg.metres > 0 else { return leg.to }
    let share = min(Self.metres(leg, after: seconds - leg.startSeconds) / leg.metres, 1)
    return Place(
      east: leg.from.east + (leg.to.east - leg.from.east) * share,
      north: leg.from.north + (leg.to.north - leg.from.north) * share)
  }

  /// Metres per second.
  public func speed(at seconds: Double) -> Double {
    guard let leg = leg(at: seconds), leg.metres > 0 else { return 0 }
    let after = seconds - leg.startSeconds
    return max(0, min(leg.speed, Self.acceleration * after, Self.acceleration * (leg.seconds - after)))
  }

  private static func metres(_ leg: Leg, after seconds: Double) -> Double {
    let ramp = leg.speed / acceleration
    if seconds < ramp { return acceleration * seconds * seconds / 2 }
    if seconds < leg.seconds - ramp { return leg.speed * (seconds - ramp / 2) }
    let left = max(leg.seconds - seconds, 0)
    return leg.metres - acceleration * left * left / 2
  }

  /// The starts of all ways, in seconds of the day.
  public var departures: [Double] { legs.filter { $0.metres > 0 }.map(\.startSeconds) }

  /// The path as straight pieces of constant speed, each with its start time and place. During acceleration a piece
  /// is one second.
  var pieces: [(untilSeconds: Double, place: Place)] {
    var pieces: [(Double, Place)] = []
    for leg in legs {
      let end = leg.startSeconds + leg.seconds
      if leg.metres > 0 {
        let ramp = leg.speed / Self.acceleration
        let up = stride(from: leg.startSeconds + 1, to: leg.startSeconds + ramp, by: 1)
        let down = stride(from: end - ramp, to: end, by: 1)
        for time in Array(up) + Array(down) { pieces.append((time, place(at: time))) }
      }
      pieces.append((end, leg.to))
    }
    return pieces
  }
}
