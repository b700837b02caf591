// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// A region to monitor. Its identifier is its identity, within its kind.
///
/// Not `Sendable`, because its two flags may change until it is monitored.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
  private let name: String
  /// nil for a region that is not a circle.
  private let circle: Circle?
  /// Whether an entry is delivered.
  open var notifyOnEntry = true
  /// Whether an exit is delivered.
  open var notifyOnExit = true

  /// Makes an empty object, for mocks in tests, which override what they need.
  public override init() {
    name = ""
    circle = nil
  }

  init(name: String, circle: Circle?) {
    self.name = name
    self.circle = circle
  }

  /// Makes a circle, as up to iOS 6.
  public init(circularRegionWithCenter center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    name = identifier
    circle = Circle(centre: center.asCoordinate, radiusMetres: radius)
  }

  open var identifier: String { name }
  /// The centre of a circle; an invalid coordinate for another region.
  open var center: CLLocationCoordinate2D {
    circle.map { CLLocationCoordinate2D($0.centre) } ?? kCLLocationCoordinate2DInvalid
  }
  /// Metres; 0 for a region that is not a circle.
  open var radius: CLLocationDistance { circle?.radiusMetres ?? 0 }
  /// Whether the region contains a coordinate, by geometry only (RG-25).
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    circle?.contains(coordinate.asCoordinate) ?? false
  }

  /// Whether it is a circle, including one made with the initializer of iOS 4, or a region of beacons.
  var isOfKnownKind: Bool { circle != nil || isOfBeacons || self is CLCircularRegion }

  /// The shape to monitor; for an empty region a circle that is refused.
  var shape: Region.Shape { .circle(circle ?? Circle(centre: center.asCoordinate, radiusMetres: radius)) }

  /// The content to monitor.
  var content: Region {
    Region(identifier, shape, notifiesOnEntry: notifyOnEntry, notifiesOnExit: notifyOnExit)
  }

  /// Returns the region for a monitored content.
  static func made(of content: Region) -> CLRegion {
    let region: CLRegion
    switch content.shape {
    case .circle(let circle): region = CLCircularRegion(name: content.identifier, circle: circle)
    case .beacon(let identity):
      let beacons = CLBeaconRegion(name: content.identifier, identity: identity)
      beacons.notifyEntryStateOnDisplay = content.notifiesStateOnDisplay
      region = beacons
    }
    region.notifyOnEntry = content.notifiesOnEntry
    region.notifyOnExit = content.notifiesOnExit
    return region
  }

  // MARK: Identity, copying and coding

  /// Whether it is a region of beacons; the kind is a part of the identity.
  var isOfBeacons: Bool { false }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLRegion else { return false }
    return identifier == other.identifier && isOfBeacons == other.isOfBeacons
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "\(type(of: self)) (identifier:'\(identifier)')" }

  /// Returns a copy made with NSCoding, which is the only way to make an instance of an unknown subclass.
  open func copy(with zone: NSZone? = nil) -> Any {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    encode(with: archiver)
    archiver.finishEncoding()
    guard let reader = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData),
      let copy = type(of: self).init(coder: reader)
    else { return CLRegion.made(of: content) }
    return copy
  }

  open class var supportsSecureCoding: Bool { true }

  open func encode(with coder: NSCoder) {
    coder.encode(name as NSString, forKey: "CLRegion.identifier")
    coder.encode(notifyOnEntry, forKey: "CLRegion.notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "CLRegion.notifyOnExit")
    if let circle {
      coder.encode(circle.centre.latitudeDegrees, forKey: "CLRegion.latitude")
      coder.encode(circle.centre.longitudeDegrees, forKey: "CLRegion.longitude")
      coder.encode(circle.radiusMetres, forKey: "CLRegion.radius")
    }
  }

  public required init?(coder: NSCoder) {
    guard let name = coder.text("CLRegion.identifier") else { return nil }
    self.name = name
    circle =
      coder.containsValue(forKey: "CLRegion.radius")
      ? Circle(
        centre: Coordinate(
          latitudeDegrees: coder.decodeDouble(forKey: "CLRegion.latitude"),
          longitudeDegrees: coder.decodeDouble(forKey: "CLRegion.longitude")),
        radiusMetres: coder.decodeDouble(forKey: "CLRegion.radius")
      )
      : nil
    notifyOnEntry = coder.decodeBool(forKey: "CLRegion.notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "CLRegion.notifyOnExit")
  }
}

/// A circle on the earth's surface.
open class CLCircularRegion: CLRegion {
  public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    super.init(name: identifier, circle: Circle(centre: center.asCoordinate, radiusMetres: radius))
  }

  override init(name: String, circle: Circle?) { super.init(name: name, circle: circle) }

  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// A human-readable text (DA-3).
  open override var description: String {
    String(
      format: "CLCircularRegion (identifier:'%@', center:<%+.8f,%+.8f>, radius:%.2fm)", identifier as NSString,
      center.latitude, center.longitude, radius)
  }
}
