// SPDX-License-Identifier: Apache-2.0
import func Glibc.cos

/// The distance over ground between two places in metres, on a sphere; error below half a percent up to 1,000 km.
func groundMetres(_ a: FixObservation, _ b: FixObservation) -> Double {
  let metresPerDegree = 111_195.0
  let north = (b.latitudeDegrees - a.latitudeDegrees) * metresPerDegree
  var degrees = b.longitudeDegrees - a.longitudeDegrees
  if degrees > 180 { degrees -= 360 }
  if degrees < -180 { degrees += 360 }
  let middle = (a.latitudeDegrees + b.latitudeDegrees) / 2
  let east = degrees * metresPerDegree * cos(middle * .pi / 180)
  return (north * north + east * east).squareRoot()
}
