// SPDX-License-Identifier: Apache-2.0
import NMEA

/// Recognises positions in sentences that lost digits on the line.
///
/// The checksum of NMEA is an exclusive or, which does not change when a sentence loses two equal characters: the longitude
/// `01136.42600` becomes `036.42600`. Receivers write a coordinate with the same number of digits each time, or with some
/// digits more or less while they move a little. A position with fewer digits than the previous one, and farther from
/// it than the receiver can have moved, is therefore wrong, unless the next position is near it or continues its motion.
struct DigitLossCheck: Sendable {
  /// A position as written.
  struct Position: Sendable {
    var latitudeDegrees: Double
    var longitudeDegrees: Double
    /// The number of digits of each part, a byte each: latitude before and after the decimal point, longitude before
    /// and after it. Zero if there is no position.
    var digits: UInt32
    var nanosecondsOfDay: Int64

    static var none: Position {
      Position(latitudeDegrees: 0, longitudeDegrees: 0, digits: 0, nanosecondsOfDay: 0)
    }
  }

  private var accepted = Position.none
  /// The last accepted position with an earlier time than `accepted`.
  private var earlier = Position.none
  private var refused = Position.none

  /// Whether a position is credible, in degrees.
  ///
  /// - Parameters:
  ///   - nanosecondsOfDay: its time; without a time every position is credible.
  ///   - speedMetresPerSecond: the last known speed; nil if the receiver does not send it.
  @inline(__always)
  mutating func accepts(
    _ latitude: Coordinate, _ longitude: Coordinate, degrees: (latitude: Double, longitude: Double),
    at nanosecondsOfDay: Int64?, speedMetresPerSecond: Double?
  ) -> Bool {
    guard let nanosecondsOfDay else { return true }
    let position = Position(
      latitudeDegrees: degrees.latitude, longitudeDegrees: degrees.longitude,
      digits: Self.digits(latitude) | Self.digits(longitude) &<< 16, nanosecondsOfDay: nanosecondsOfDay)
    if position.digits != accepted.digits, !accept(position, speedMetresPerSecond) { return false }
    // The sentences of an epoch may round its time differently.
    if abs(nanosecondsOfDay &- accepted.nanosecondsOfDay) >= EpochTag.rounding { earlier = accepted }
    accepted = position
    refused.digits = 0
    return true
  }

  @inline(__always)
  private static func digits(_ coordinate: Coordinate) -> UInt32 {
    UInt32(coordinate.wholeDigits) | UInt32(coordinate.minutes.fractionDigits) &<< 8
  }

  /// Whether a position is credible whose number of digits differs from the previous position's.
  @inline(never)
  private mutating func accept(_ position: Position, _ lastSpeed: Double?) -> Bool {
    let top: UInt32 = 0x8080_8080
    let hasFewer = ((position.digits | top) &- accepted.digits) & top != top
    if !hasFewer { return true }
    let speed = lastSpeed ?? speedOfPositions
    let step = Step(from: accepted, to: position)
    if step.isPossible(atSpeed: speed) { return true }
    if refused.digits != 0 {
      let next = Step(from: refused, to: position)
      if next.isPossible(atSpeed: speed) || next.continues(Step(from: accepted, to: refused)) { return true }
    }
    refused = position
    return false
  }

  /// The speed of the last two accepted positions in metres per second; 0 if it is not known or not credible.
  private var speedOfPositions: Double {
    guard earlier.digits != 0 else { return 0 }
    let step = Step(from: earlier, to: accepted)
    guard step.seconds > 0, step.seconds <= Step.longest else { return 0 }
    let speed = (step.squaredMetres / (step.seconds * step.seconds)).squareRoot()
    return speed < 10_000 ? speed : 0
  }

  /// The motion from one position to another.
  private struct Step {
    var seconds: Double
    var northMetres: Double
    var eastMetres: Double

    init(from earlier: Position, to position: Position) {
      let day: Int64 = 86_400_000_000_000
      seconds = Double((position.nanosecondsOfDay - earlier.nanosecondsOfDay + day) % day) / 1e9
      northMetres = (position.latitudeDegrees - earlier.latitudeDegrees) * metresInDegree
      let difference = position.longitudeDegrees - earlier.longitudeDegrees
      let east = difference > 180 ? difference - 360 : difference < -180 ? difference + 360 : difference
      eastMetres = east * metresInDegree * Geodesy.cosine(degrees: position.latitudeDegrees)
    }

    /// The number of seconds without a position after which a receiver can be anywhere.
    static var longest: Double { 60 }

    var squaredMetres: Double { northMetres * northMetres + eastMetres * eastMetres }

    /// Whether a receiver can have moved this far.
    func isPossible(atSpeed speed: Double) -> Bool {
      seconds > Self.longest || squaredMetres <= tolerance(speed) * tolerance(speed)
    }

    /// Whether the receiver can have moved on at the velocity of the preceding step.
    func continues(_ preceding: Step) -> Bool {
      guard preceding.seconds > 0 else { return false }
      let ratio = seconds / preceding.seconds
      let north = northMetres - preceding.northMetres * ratio
      let east = eastMetres - preceding.eastMetres * ratio
      return north * north + east * east <= tolerance(0) * tolerance(0)
    }

    /// 100 m for a position worse than usual, and 50 m/s above the speed.
    private func tolerance(_ speed: Double) -> Double { 100 + (speed + 50) * seconds }
  }

  private static var metresInDegree: Double { 111_320 }
}
