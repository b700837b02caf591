// SPDX-License-Identifier: Apache-2.0

/// A region whose border is watched. Its identifier is its identity, within its kind.
public struct Region: Hashable, Codable, Sendable {
  /// The kind of the region.
  public enum Shape: Hashable, Codable, Sendable {
    case circle(Circle)
    case beacon(BeaconIdentity)
  }

  public var identifier: String
  public var shape: Shape
  public var notifiesOnEntry = true
  public var notifiesOnExit = true
  /// A flag of beacon regions, kept for the client; it has no effect here, where no display turns on.
  public var notifiesStateOnDisplay = false

  public init(_ identifier: String, _ shape: Shape, notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true) {
    self.identifier = identifier
    self.shape = shape
    self.notifiesOnEntry = notifiesOnEntry
    self.notifiesOnExit = notifiesOnExit
  }

  /// Whether the other region replaces this one: same identifier, same kind (RG-2).
  public func isSame(as other: Region) -> Bool {
    identifier == other.identifier && shape.isBeacon == other.shape.isBeacon
  }
}

extension Region.Shape {
  /// Whether it is a beacon region.
  public var isBeacon: Bool {
    switch self {
    case .circle: false
    case .beacon: true
    }
  }

  /// Whether a circle has a valid centre and is not larger than the limit (RG-6).
  package func isPossible(maximumRadiusMetres: Double) -> Bool {
    guard case .circle(let circle) = self else { return true }
    return circle.centre.isValid && circle.radiusMetres > 0 && circle.radiusMetres <= maximumRadiusMetres
  }
}

/// A circle on the earth's surface.
public struct Circle: Hashable, Codable, Sendable {
  public var centre: Coordinate
  public var radiusMetres: Double

  public init(centre: Coordinate, radiusMetres: Double) {
    self.centre = centre
    self.radiusMetres = radiusMetres
  }

  /// By geometry only, without hysteresis and flags (RG-25).
  public func contains(_ coordinate: Coordinate) -> Bool {
    Geodesic.distanceMetres(centre, coordinate) <= radiusMetres
  }
}

/// The side of a region's border; the raw values equal those of CLRegionState.
public enum RegionState: Int, Codable, Sendable {
  case unknown = 0
  case inside = 1
  case outside = 2
}
