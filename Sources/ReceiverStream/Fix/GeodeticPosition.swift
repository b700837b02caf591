// SPDX-License-Identifier: Apache-2.0

/// A place on the WGS 84 ellipsoid.
public struct GeodeticPosition: Equatable, Sendable {
  /// Degrees, north positive, -90…90.
  public var latitudeDegrees: Double
  /// Degrees, east positive, -180…180.
  public var longitudeDegrees: Double
  /// The height above the ellipsoid, metres.
  public var heightMetres: Double

  public init(latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.heightMetres = heightMetres
  }

  /// The place of earth-centred coordinates, metres; nil if they are more than a few hundred kilometres inside the earth, or far
  /// beyond the orbits of satellites.
  public init?(earthCentredMetres place: SIMD3<Double>) {
    guard let found = Geodesy.geodetic(place) else { return nil }
    self.init(latitudeDegrees: found.latitude, longitudeDegrees: found.longitude, heightMetres: found.height)
  }

  /// The earth-centred coordinates, metres.
  public var earthCentredMetres: SIMD3<Double> {
    Geodesy.earthCentred(
      latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees, heightMetres: heightMetres)
  }

  /// The straight distance to another place, metres.
  public func distance(to other: GeodeticPosition) -> Double {
    let between = earthCentredMetres - other.earthCentredMetres
    return (between * between).sum().squareRoot()
  }
}
