// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The place of the computer at a time: the content of a CLLocation.
public struct Location: Hashable, Sendable {
  /// The origin of a location: the content of a CLLocationSourceInformation.
  public struct Source: Hashable, Codable, Sendable {
    /// From a simulator or a recording.
    public var isSimulatedBySoftware: Bool
    /// From a receiver that is attached from outside.
    public var isProducedByAccessory: Bool
    /// The trust in the receiver's signals at the time of the fix; nil for a location without a receiver.
    public var trust: SignalTrust?

    public init(isSimulatedBySoftware: Bool, isProducedByAccessory: Bool, trust: SignalTrust? = nil) {
      self.isSimulatedBySoftware = isSimulatedBySoftware
      self.isProducedByAccessory = isProducedByAccessory
      self.trust = trust
    }
  }

  public var coordinate: Coordinate
  /// Radius of uncertainty, one standard deviation; negative if the coordinate is not valid.
  public var horizontalAccuracyMetres: Double
  /// Above mean sea level; 0 while `verticalAccuracyMetres` is negative.
  public var altitudeMetres = 0.0
  /// Above the WGS 84 ellipsoid; 0 while unknown.
  public var ellipsoidalAltitudeMetres = 0.0
  /// One standard deviation; negative if the altitudes are not valid.
  public var verticalAccuracyMetres = -1.0
  /// 0 ≤ course < 360 from true north; negative if unknown.
  public var courseDegrees = -1.0
  /// Negative: unknown.
  public var courseAccuracyDegrees = -1.0
  /// Negative: unknown.
  public var speedMetresPerSecond = -1.0
  /// Negative: unknown.
  public var speedAccuracyMetresPerSecond = -1.0
  /// The time of the measurement, not of the delivery.
  public var timestamp: UTCTime
  /// The storey of a mapped building, 0 at street level; no satellite receiver has it.
  public var floorLevel: Int?
  public var source: Source?

  public init(
    _ coordinate: Coordinate, horizontalAccuracyMetres: Double, timestamp: UTCTime, source: Source? = nil
  ) {
    self.coordinate = coordinate
    self.horizontalAccuracyMetres = horizontalAccuracyMetres
    self.timestamp = timestamp
    self.source = source
  }

  /// The location of a fix; nil if the fix has no position.
  ///
  /// A fix that the receiver marks as outside its limits has no location: clients rely on the location.
  ///
  /// - Parameters:
  ///   - fix: the receiver's fix.
  ///   - received: the time to use for a fix without a date.
  ///   - source: the origin, if known; a fix marked as simulated always remains simulated.
  public init?(_ fix: Fix, received: UTCTime, source: Source? = nil) {
    guard fix.hasPosition, fix.isWithinLimits, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees
    else { return nil }
    let coordinate = Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude)
    guard coordinate.isValid else { return nil }
    self.init(
      coordinate, horizontalAccuracyMetres: fix.horizontalAccuracyMetres ?? -1, timestamp: fix.time ?? received,
      source: source)
    if fix.quality == .simulated {
      self.source = Source(
        isSimulatedBySoftware: true, isProducedByAccessory: source?.isProducedByAccessory ?? false,
        trust: source?.trust)
    }
    let separation = fix.geoidSeparationMetres
    let aboveSea =
      fix.heightAboveSeaLevelMetres
      ?? fix.heightAboveEllipsoidMetres.flatMap { height in separation.map { height - $0 } }
    if let aboveSea {
      altitudeMetres = aboveSea
      verticalAccuracyMetres = fix.verticalAccuracyMetres ?? -1
    }
    ellipsoidalAltitudeMetres =
      fix.heightAboveEllipsoidMetres
      ?? fix.heightAboveSeaLevelMetres.flatMap { height in separation.map { height + $0 } } ?? 0
    if let course = fix.courseDegrees { courseDegrees = course >= 360 ? course - 360 : course }
    courseAccuracyDegrees = fix.courseAccuracyDegrees ?? -1
    speedMetresPerSecond = fix.speedMetresPerSecond ?? -1
    speedAccuracyMetresPerSecond = fix.speedAccuracyMetresPerSecond ?? -1
  }

  /// The distance along the earth's surface in metres, without altitude (DA-4).
  public func distanceMetres(from other: Location) -> Double {
    Geodesic.distanceMetres(coordinate, other.coordinate)
  }
}
