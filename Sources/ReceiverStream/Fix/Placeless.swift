// SPDX-License-Identifier: Apache-2.0
extension Fix {
  /// Removes position, velocity and accuracy from an epoch whose status is "no position". Receivers send NAV-POSLLH and
  /// NAV-VELNED before their first fix too, with zeros or old values, and sentences with a void status and the last
  /// position. Latitude 0, longitude 0 is a valid position, in the Gulf of Guinea.
  mutating func removePlace() {
    source = .none
    latitudeDegrees = nil
    longitudeDegrees = nil
    heightAboveEllipsoidMetres = nil
    heightAboveSeaLevelMetres = nil
    geoidSeparationMetres = nil
    ecefMetres = nil
    speedMetresPerSecond = nil
    courseDegrees = nil
    climbMetresPerSecond = nil
    velocityMetresPerSecond = nil
    ecefMetresPerSecond = nil
    horizontalAccuracyMetres = nil
    verticalAccuracyMetres = nil
    eastAccuracyMetres = nil
    northAccuracyMetres = nil
    ecefAccuracyMetres = nil
    speedAccuracyMetresPerSecond = nil
    climbAccuracyMetresPerSecond = nil
    courseAccuracyDegrees = nil
    accuracySource = .none
  }
}
