// SPDX-License-Identifier: Apache-2.0

/// A place on the WGS 84 ellipsoid.
public struct Coordinate: Hashable, Codable, Sendable {
  /// −90…90, north positive.
  public var latitudeDegrees: Double
  /// −180…180, east positive.
  public var longitudeDegrees: Double

  public init(latitudeDegrees: Double, longitudeDegrees: Double) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
  }

  /// Whether both are in range; NaN is out of range.
  public var isValid: Bool { abs(latitudeDegrees) <= 90 && abs(longitudeDegrees) <= 180 }
}
