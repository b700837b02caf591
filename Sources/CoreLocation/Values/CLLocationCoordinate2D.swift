// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A place on the WGS 84 ellipsoid. It conforms only to `Sendable`, because programs add their own conformances.
public struct CLLocationCoordinate2D: Sendable {
  /// Degrees, −90…90, north positive.
  public var latitude: CLLocationDegrees
  /// Degrees, −180…180, east positive.
  public var longitude: CLLocationDegrees

  public init() { self.init(latitude: 0, longitude: 0) }

  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }

  init(_ coordinate: Coordinate) {
    self.init(latitude: coordinate.latitudeDegrees, longitude: coordinate.longitudeDegrees)
  }

  /// The same place for the modules below.
  var asCoordinate: Coordinate { Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude) }
}

/// Whether latitude and longitude are in their ranges.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool { coord.asCoordinate.isValid }

/// Returns the coordinate of a latitude and a longitude.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}
