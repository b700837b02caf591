extension Fix {
  /// Takes out where, how fast and how well, of an epoch whose status says that there is no position: receivers send
  /// NAV-POSLLH and NAV-VELNED before their first fix too, with zeros or with what they last knew, and sentences whose status
  /// is void with the last place. A place of nought north and nought east is one, in the Gulf of Guinea.
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
    horizontalAccuracyMetres = nil
    verticalAccuracyMetres = nil
    speedAccuracyMetresPerSecond = nil
    courseAccuracyDegrees = nil
    accuracySource = .none
  }
}
