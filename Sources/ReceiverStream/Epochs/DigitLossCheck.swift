// SPDX-License-Identifier: Apache-2.0
import NMEA

/// Recognises positions in sentences that lost digits on the line.
///
/// The checksum of NMEA is an exclusive or, which does not change when a sentence loses two equal characters: the longitude
/// `01136.42600` becomes `036.42600`. Receivers write a coordinate with the same number of digits each time, or with some
/// digits more or less while they move a little. A position with fewer digits than the previous one, and farther from
/// it than the receiver can have moved, is therefore wrong, unless the next position is near it.
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
  private var refused = Position.none

  /// Whether a position is credible, in degrees.
  ///
  /// - Parameters:
  ///   - nanosecondsOfDay: its time; without a time every position is credible.
  ///   - speedMetresPerSecond: the last known speed.
  @inline(__always)
  mutating func accepts(
    _ latitude: Coordinate, _ longitude: Coordinate, degrees: (latitude: Double, longitude: Double),
    at nanosecondsOfDay: Int64?, speedMetresPerSecond: Double?
  ) -> Bool {
    guard let nanosecondsOfDay else { return true }
    let position = Position(
      latitudeDegrees: degrees.latitude, longitudeDegrees: degrees.longitude,
      digits: Self.digits(latitude) | Self.digits(longitude) &<< 16, nanosecondsOfDay: nanosecondsOfDay)
    if position.digits != accepted.digits, !accept(position, speedMetresPerSecond ?? 0) { return false }
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
  private mutating func accept(_ position: Position, _ speed: Double) -> Bool {
    let top: UInt32 = 0x8080_8080
    let hasFewer = ((position.digits | top) &- accepted.digits) & top != top
    if !hasFewer || Self.isNear(position, accepted, speed) { return true }
    if refused.digits != 0, Self.isNear(position, refused, speed) { return true }
    refused = position
    return false
  }

  /// Whether a receiver can have moved from one position to the other. After a minute without a position it can be anywhere.
  private static func isNear(_ position: Position, _ earlier: Position, _ speed: Double) -> Bool {
    let day: Int64 = 86_400_000_000_000
    let elapsed = (position.nanosecondsOfDay - earlier.nanosecondsOfDay + day) % day
    let seconds = Double(elapsed) / 1e9
    guard seconds <= 60 else { return true }
    let north = (position.latitudeDegrees - earlier.latitudeDegrees) * metresInDegree
    let difference = abs(position.longitudeDegrees - earlier.longitudeDegrees)
    let east = min(difference, 360 - difference) * metresInDegree * cosine(position.latitudeDegrees)
    // Tolerances: 100 m for a position worse than usual, and 50 m/s above the last speed.
    let most = 100 + (speed + 50) * seconds
    return north * north + east * east <= most * most
  }

  private static var metresInDegree: Double { 111_320 }

  /// The cosine of an angle in degrees, −90…90, to within 0.03: the standard library has no cosine.
  private static func cosine(_ degrees: Double) -> Double {
    let square = degrees * degrees * (.pi / 180) * (.pi / 180)
    return max(1 - square / 2 + square * square / 24, 0)
  }
}
