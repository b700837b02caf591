import Foundation
import Positioning

/// What a `CLMonitor` watches: `CLMonitor.CircularGeographicCondition` or `CLMonitor.BeaconIdentityCondition`.
public protocol CLCondition: Sendable {}

extension CLMonitor {
  /// Being within a circle.
  public struct CircularGeographicCondition: CLCondition {
    public let center: CLLocationCoordinate2D
    /// Metres.
    public let radius: CLLocationDistance

    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.center = center
      self.radius = radius
    }
  }

  /// Being near a beacon: any that has the given parts.
  public struct BeaconIdentityCondition: CLCondition {
    public let uuid: UUID
    /// nil: any.
    public let major: CLBeaconMajorValue?
    /// nil: any.
    public let minor: CLBeaconMinorValue?

    /// Any major, any minor.
    public init(uuid: UUID) { self.init(BeaconIdentity(uuid: BeaconUUID(uuid))) }
    /// Any minor.
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
  /// nil for a condition that is none of the module's.
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
