import Foundation
import Positioning

/// A part of the world that is monitored. Its identifier is its identity, within its kind.
///
/// Not `Sendable`: its two flags may be changed until it is monitored.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
  private let name: String
  /// nil for a region that is none of a circle.
  private let circle: Circle?
  /// Whether entering it is told.
  open var notifyOnEntry = true
  /// Whether leaving it is told.
  open var notifyOnExit = true

  /// One that is nowhere: for doubles in tests, which override what they need.
  public override init() {
    name = ""
    circle = nil
  }

  init(name: String, circle: Circle?) {
    self.name = name
    self.circle = circle
  }

  /// The way to make one up to iOS 6.
  public init(circularRegionWithCenter center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    name = identifier
    circle = Circle(centre: center.asCoordinate, radiusMetres: radius)
  }

  open var identifier: String { name }
  /// The middle of a circle; no valid coordinate for another region.
  open var center: CLLocationCoordinate2D {
    circle.map { CLLocationCoordinate2D($0.centre) } ?? kCLLocationCoordinate2DInvalid
  }
  /// Metres; 0 for a region that is no circle.
  open var radius: CLLocationDistance { circle?.radiusMetres ?? 0 }
  /// Whether a place lies within: geometry alone (RG-25).
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    circle?.contains(coordinate.asCoordinate) ?? false
  }

  /// Whether it says what it is: a circle, also by the initializer of iOS 4, or beacons.
  var isOfKnownKind: Bool { circle != nil || isOfBeacons || self is CLCircularRegion }

  /// What is monitored; a region that is nowhere is a circle that is refused.
  var shape: Region.Shape { .circle(circle ?? Circle(centre: center.asCoordinate, radiusMetres: radius)) }

  /// The content, to be monitored.
  var content: Region {
    Region(identifier, shape, notifiesOnEntry: notifyOnEntry, notifiesOnExit: notifyOnExit)
  }

  /// A region as it is monitored.
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

  /// Whether it is one of beacons: the kind is a part of the identity.
  var isOfBeacons: Bool { false }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLRegion else { return false }
    return identifier == other.identifier && isOfBeacons == other.isOfBeacons
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "\(type(of: self)) (identifier:'\(identifier)')" }

  /// Of the same class, with what coding keeps: the one way to make an instance of a subclass that nobody here knows.
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
    coder.encode(name as NSString, forKey: "identifier")
    coder.encode(notifyOnEntry, forKey: "notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "notifyOnExit")
    if let circle {
      coder.encode(circle.centre.latitudeDegrees, forKey: "latitude")
      coder.encode(circle.centre.longitudeDegrees, forKey: "longitude")
      coder.encode(circle.radiusMetres, forKey: "radius")
    }
  }

  public required init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "identifier") else { return nil }
    self.name = name.description
    circle =
      coder.containsValue(forKey: "radius")
      ? Circle(
        centre: Coordinate(
          latitudeDegrees: coder.decodeDouble(forKey: "latitude"),
          longitudeDegrees: coder.decodeDouble(forKey: "longitude")), radiusMetres: coder.decodeDouble(forKey: "radius")
      )
      : nil
    notifyOnEntry = coder.decodeBool(forKey: "notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "notifyOnExit")
  }
}

/// A circle on the earth's surface.
open class CLCircularRegion: CLRegion {
  public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    super.init(name: identifier, circle: Circle(centre: center.asCoordinate, radiusMetres: radius))
  }

  override init(name: String, circle: Circle?) { super.init(name: name, circle: circle) }

  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// For people (DA-3).
  open override var description: String {
    String(
      format: "CLCircularRegion (identifier:'%@', center:<%+.8f,%+.8f>, radius:%.2fm)", identifier as NSString,
      center.latitude, center.longitude, radius)
  }
}
