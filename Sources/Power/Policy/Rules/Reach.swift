// SPDX-License-Identifier: Apache-2.0
import Positioning

import func Glibc.cos

/// The earliest time at which a distance can have been covered. Deferral, distance filters, regions and significant
/// changes use it: no position check is needed before.
public struct Reach: Hashable, Sendable {
  /// The present speed, in metres per second.
  public var speed: Double
  /// The greatest plausible speed. A greater present speed replaces it.
  public var bound: Double
  /// The greatest plausible acceleration, in metres per second squared: a car from 0 to 100 km/h in 9 s.
  public static let acceleration = 3.0

  public init(speed: Double, bound: Double) {
    self.speed = max(0, speed)
    self.bound = max(bound, speed, 0.1)
  }

  /// Seconds until `metres` can have been covered.
  public func earliestSeconds(_ metres: Double) -> Double {
    guard metres > 0 else { return 0 }
    let secondsToBound = (bound - speed) / Self.acceleration
    let metresToBound = (speed + bound) / 2 * secondsToBound
    if metres >= metresToBound { return secondsToBound + (metres - metresToBound) / bound }
    return ((speed * speed + 2 * Self.acceleration * metres).squareRoot() - speed) / Self.acceleration
  }
}

/// The distance over ground between two places in metres, on a sphere; error below half a percent up to 1,000 km.
func groundMetres(_ a: FixObservation, _ b: FixObservation) -> Double {
  let north = (b.latitudeDegrees - a.latitudeDegrees) * Geodesic.metresPerDegree
  var degrees = b.longitudeDegrees - a.longitudeDegrees
  if degrees > 180 { degrees -= 360 }
  if degrees < -180 { degrees += 360 }
  let middle = (a.latitudeDegrees + b.latitudeDegrees) / 2
  let east = degrees * Geodesic.metresPerDegree * cos(middle * .pi / 180)
  return (north * north + east * east).squareRoot()
}
