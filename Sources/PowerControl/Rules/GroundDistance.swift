import func Glibc.cos

/// Metres over ground between two places, on a sphere, good to half a percent below 1,000 km.
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
