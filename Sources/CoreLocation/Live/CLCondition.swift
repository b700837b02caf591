// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// A condition for `CLMonitor`: `CLMonitor.CircularGeographicCondition` or `CLMonitor.BeaconIdentityCondition`.
public protocol CLCondition: Sendable {}

extension CLMonitor {
  /// The device is within a circle.
  public struct CircularGeographicCondition: CLCondition {
    public let center: CLLocationCoordinate2D
    /// Metres.
    public let radius: CLLocationDistance

    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.center = center
      self.radius = radius
    }
  }

  /// The device is near any beacon with the given parts.
  public struct BeaconIdentityCondition: CLCondition {
    public let uuid: UUID
    /// nil for any.
    public let major: CLBeaconMajorValue?
    /// nil for any.
    public let minor: CLBeaconMinorValue?

    /// Makes a condition for any major and minor.
    public init(uuid: UUID) { self.init(BeaconIdentity(uuid: BeaconUUID(uuid))) }
    /// Makes a condition for any minor.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      self.init(BeaconIdentity(uuid: BeaconUUID(uuid), major: major))
    }
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      self.init(BeaconIdentity(uuid: BeaconUUID(uuid), major: major, minor: minor))
    }

    init(_ identity: BeaconIdentity) {
      uuid = UUID(identity.uuid)
      major = identity.major
      minor = identity.minor
    }
  }
}

extension Region.Shape {
  /// Returns nil for a condition of another module.
  init?(_ condition: any CLCondition) {
    switch condition {
    case let circle as CLMonitor.CircularGeographicCondition:
      self = .circle(Circle(centre: circle.center.asCoordinate, radiusMetres: circle.radius))
    case let beacon as CLMonitor.BeaconIdentityCondition:
      self = .beacon(BeaconIdentity(uuid: BeaconUUID(beacon.uuid), major: beacon.major, minor: beacon.minor))
    default: return nil
    }
  }

  var condition: any CLCondition {
    switch self {
    case .circle(let circle):
      CLMonitor.CircularGeographicCondition(
        center: CLLocationCoordinate2D(circle.centre), radius: circle.radiusMetres)
    case .beacon(let identity): CLMonitor.BeaconIdentityCondition(identity)
    }
  }
}
