// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning
import ReceiverStream

/// The location of the device at a time, with its accuracy. Two locations are equal if they are the same object (DA-5).
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: no property changes, and subclasses must not change that.
  private let content: Location
  private let time: Date
  private let source: CLLocationSourceInformation?

  init(_ content: Location) {
    self.content = content
    time = Date(content.timestamp)
    source = content.source.map(CLLocationSourceInformation.init)
  }

  // Every initializer is a designated initializer, as on Apple's systems, so that a subclass may call any.

  /// Makes a location at 0, 0, for mocks in tests, which override what they need.
  public override init() {
    time = Date()
    content = Self.content(CLLocationCoordinate2D(), 0, 0, -1, -1, -1, -1, -1, time)
    source = nil
  }

  /// Makes a location with the current time at sea level and an invalid altitude.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    time = Date()
    content = Self.content(
      CLLocationCoordinate2D(latitude: latitude, longitude: longitude), 0, 0, -1, -1, -1, -1, -1, time)
    source = nil
  }

  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    content = Self.content(coordinate, altitude, hAccuracy, vAccuracy, -1, -1, -1, -1, timestamp)
    time = timestamp
    source = nil
  }

  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
  ) {
    content = Self.content(coordinate, altitude, hAccuracy, vAccuracy, course, -1, speed, -1, timestamp)
    time = timestamp
    source = nil
  }

  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
    timestamp: Date
  ) {
    content = Self.content(
      coordinate, altitude, hAccuracy, vAccuracy, course, courseAccuracy, speed, speedAccuracy, timestamp)
    time = timestamp
    source = nil
  }

  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
    timestamp: Date, sourceInfo: CLLocationSourceInformation
  ) {
    content = Self.content(
      coordinate, altitude, hAccuracy, vAccuracy, course, courseAccuracy, speed, speedAccuracy, timestamp)
    time = timestamp
    source = sourceInfo
  }

  private static func content(
    _ coordinate: CLLocationCoordinate2D, _ altitude: Double, _ horizontal: Double, _ vertical: Double,
    _ course: Double, _ courseAccuracy: Double, _ speed: Double, _ speedAccuracy: Double, _ timestamp: Date
  ) -> Location {
    var content = Location(
      coordinate.asCoordinate, horizontalAccuracyMetres: horizontal, timestamp: UTCTime(timestamp))
    content.altitudeMetres = altitude
    content.verticalAccuracyMetres = vertical
    content.courseDegrees = course
    content.courseAccuracyDegrees = courseAccuracy
    content.speedMetresPerSecond = speed
    content.speedAccuracyMetresPerSecond = speedAccuracy
    return content
  }

  open var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D(content.coordinate) }
  /// Metres above sea level.
  open var altitude: CLLocationDistance { content.altitudeMetres }
  /// Metres above the WGS 84 ellipsoid; 0 if unknown.
  open var ellipsoidalAltitude: CLLocationDistance { content.ellipsoidalAltitudeMetres }
  /// Metres; negative if the coordinate is not valid.
  open var horizontalAccuracy: CLLocationAccuracy { content.horizontalAccuracyMetres }
  /// Metres; negative if the altitude is not valid.
  open var verticalAccuracy: CLLocationAccuracy { content.verticalAccuracyMetres }
  /// Degrees from true north; negative if unknown.
  open var course: CLLocationDirection { content.courseDegrees }
  open var courseAccuracy: CLLocationDirectionAccuracy { content.courseAccuracyDegrees }
  /// Metres per second; negative if unknown.
  open var speed: CLLocationSpeed { content.speedMetresPerSecond }
  open var speedAccuracy: CLLocationSpeedAccuracy { content.speedAccuracyMetresPerSecond }
  /// The time of the measurement.
  open var timestamp: Date { time }
  /// nil for a fix: satellites do not determine the storey.
  open var floor: CLFloor? { content.floorLevel.map(CLFloor.init) }
  open var sourceInformation: CLLocationSourceInformation? { source }
  /// The trust in the receiver's signals at the time of the measurement. Apple's API does not have this property.
  ///
  /// `unknown` for a location that the program has made or decoded, and for a stored one.
  public var signalTrust: SignalTrust { content.source?.trust ?? .unknown }

  /// Metres along the earth's surface; the altitude does not count (DA-4).
  open func distance(from location: CLLocation) -> CLLocationDistance {
    Geodesic.distanceMetres(coordinate.asCoordinate, location.coordinate.asCoordinate)
  }

  @available(*, deprecated, renamed: "distance(from:)")
  open func getDistanceFrom(_ location: CLLocation) -> CLLocationDistance { distance(from: location) }

  /// A human-readable text, whose form may change (DA-1).
  open override var description: String {
    let formatter = DateFormatter()
    formatter.dateStyle = .short
    formatter.timeStyle = .full
    return String(
      format: "<%+.8f,%+.8f> +/- %.2fm (speed %.2f mps / course %.2f) @ %@", coordinate.latitude, coordinate.longitude,
      horizontalAccuracy, speed, course, formatter.string(from: timestamp) as NSString)
  }

  // MARK: Copying and coding

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open class var supportsSecureCoding: Bool { true }

  /// The numbers, keyed by property name.
  private static var numbers: [(key: String, path: WritableKeyPath<Location, Double>)] {
    [
      ("latitude", \.coordinate.latitudeDegrees), ("longitude", \.coordinate.longitudeDegrees),
      ("altitude", \.altitudeMetres), ("ellipsoidalAltitude", \.ellipsoidalAltitudeMetres),
      ("horizontalAccuracy", \.horizontalAccuracyMetres), ("verticalAccuracy", \.verticalAccuracyMetres),
      ("course", \.courseDegrees), ("courseAccuracy", \.courseAccuracyDegrees),
      ("speed", \.speedMetresPerSecond), ("speedAccuracy", \.speedAccuracyMetresPerSecond),
    ]
  }

  open func encode(with coder: NSCoder) {
    for (key, path) in Self.numbers { coder.encode(content[keyPath: path], forKey: "CLLocation.\(key)") }
    coder.encode(time.timeIntervalSinceReferenceDate, forKey: "CLLocation.timestamp")
    if let level = content.floorLevel { coder.encode(level, forKey: "CLLocation.floor") }
    if let source {
      coder.encode(source.isSimulatedBySoftware, forKey: "CLLocation.isSimulatedBySoftware")
      coder.encode(source.isProducedByAccessory, forKey: "CLLocation.isProducedByAccessory")
    }
  }

  /// A subclass that encodes only its own properties gets the values of ``init()`` for these.
  public required init?(coder: NSCoder) {
    guard type(of: self) == CLLocation.self || coder.containsValue(forKey: "CLLocation.latitude") else {
      time = Date()
      content = Self.content(CLLocationCoordinate2D(), 0, 0, -1, -1, -1, -1, -1, time)
      source = nil
      return
    }
    guard coder.containsValue(forKey: "CLLocation.latitude"), coder.containsValue(forKey: "CLLocation.timestamp")
    else { return nil }
    time = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "CLLocation.timestamp"))
    var content = Self.content(CLLocationCoordinate2D(), 0, 0, 0, 0, 0, 0, 0, time)
    for (key, path) in Self.numbers { content[keyPath: path] = coder.decodeDouble(forKey: "CLLocation.\(key)") }
    if coder.containsValue(forKey: "CLLocation.floor") {
      content.floorLevel = coder.decodeInteger(forKey: "CLLocation.floor")
    }
    self.content = content
    source =
      coder.containsValue(forKey: "CLLocation.isSimulatedBySoftware")
      ? CLLocationSourceInformation(
        softwareSimulationState: coder.decodeBool(forKey: "CLLocation.isSimulatedBySoftware"),
        andExternalAccessoryState: coder.decodeBool(forKey: "CLLocation.isProducedByAccessory")) : nil
  }
}

extension CLLocation {
  /// The trust in the signals of a receiver. Apple's API does not have this type.
  public typealias SignalTrust = ReceiverStream.SignalTrust
}

/// The storey of a building.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let number: Int

  public override init() { number = 0 }
  init(_ number: Int) { self.number = number }

  /// 0 is the level of the street.
  open var level: Int { number }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }
  open func encode(with coder: NSCoder) { coder.encode(number, forKey: "CLFloor.level") }
  public required init?(coder: NSCoder) { number = coder.decodeInteger(forKey: "CLFloor.level") }
}

/// The origin of a location.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let isSoftware: Bool
  private let isAccessory: Bool

  public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
    self.isSoftware = isSoftware
    self.isAccessory = isAccessory
  }

  convenience init(_ source: Location.Source) {
    self.init(
      softwareSimulationState: source.isSimulatedBySoftware, andExternalAccessoryState: source.isProducedByAccessory)
  }

  /// Whether it comes from a simulator or a recording.
  open var isSimulatedBySoftware: Bool { isSoftware }
  /// Whether it comes from an external receiver.
  open var isProducedByAccessory: Bool { isAccessory }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }
  open func encode(with coder: NSCoder) {
    coder.encode(isSoftware, forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    coder.encode(isAccessory, forKey: "CLLocationSourceInformation.isProducedByAccessory")
  }
  public required init?(coder: NSCoder) {
    isSoftware = coder.decodeBool(forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    isAccessory = coder.decodeBool(forKey: "CLLocationSourceInformation.isProducedByAccessory")
  }
}
