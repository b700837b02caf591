// SPDX-License-Identifier: Apache-2.0

/// The solution of a receiver for one epoch: position, time, velocity and their accuracy. A plain value; unknown values
/// are nil.
public struct Fix: Sendable, Equatable {
  /// The kind of a solution.
  public enum Kind: UInt8, Sendable {
    /// No position.
    case none
    /// The time is known, the position is not.
    case timeOnly
    /// Latitude and longitude.
    case twoD
    /// Latitude, longitude and height.
    case threeD
    /// From sensors alone, without satellites.
    case deadReckoning
    /// From satellites and sensors.
    case combined
    /// A position that was surveyed or configured; the satellites provide only the time.
    case surveyed
  }

  /// The method and the corrections of the position.
  public enum Quality: UInt8, Sendable {
    case unknown, autonomous, differential, preciseService, rtkFloat, rtkFixed, estimated, manual, simulated

    /// The quality of a position in GGA, 1 to 8 (NMEA 0183, GGA, field 6).
    package var ofGGA: Int32 {
      switch self {
      case .unknown, .autonomous: 1
      case .differential: 2
      case .preciseService: 3
      case .rtkFixed: 4
      case .rtkFloat: 5
      case .estimated: 6
      case .manual: 7
      case .simulated: 8
      }
    }
  }

  /// The origin of an accuracy.
  public enum AccuracySource: UInt8, Sendable {
    /// No accuracy is known.
    case none
    /// The receiver sent it.
    case receiver
    /// Estimated by this module, from the dilution of precision and the kind of fix.
    case estimated
    /// Assumed by this module for typical reception: the receiver does not send dilutions of precision.
    case assumed
  }

  /// The message with the position. A higher value is preferred within an epoch.
  public enum Source: UInt8, Sendable, Comparable {
    case none, gll, rmc, gga, pubx, ubx, ubxHighPrecision

    public static func < (a: Source, b: Source) -> Bool { a.rawValue < b.rawValue }
  }

  /// The kind of message with the heading. A higher value is preferred within an epoch.
  public enum HeadingSource: UInt8, Sendable, Comparable {
    case none
    /// A compass on the line: HDM, HDG.
    case compass
    /// HDT, THS: a gyroscope, or two antennas.
    case sentence
    /// UBX: sensors of the receiver, or its two antennas.
    case ubx

    public static func < (a: HeadingSource, b: HeadingSource) -> Bool { a.rawValue < b.rawValue }
  }

  // MARK: Time

  /// The time of the epoch, UTC; nil while date or time are not valid.
  public var time: UTCTime?
  /// Whether the time is confirmed: the receiver has resolved seconds and date from the satellites.
  public var timeIsResolved = false
  /// One standard deviation of the time, seconds.
  public var timeAccuracySeconds: Double?
  /// GPS − UTC, seconds, as the receiver reports it.
  public var leapSeconds: Int?

  // MARK: Position

  public var kind = Kind.none
  /// Whether the receiver sent its kind of solution in this epoch. An epoch with only time and satellites does not mean that
  /// the receiver has no position.
  public var reportsKind = false
  public var quality = Quality.unknown
  /// Whether the fix is within the receiver's own limits of accuracy and dilution (UBX gnssFixOK). A position outside
  /// these limits may be displayed, but decisions should not be based on it.
  public var isWithinLimits = true
  /// The source of the position.
  public var source = Source.none
  /// −90…90, north positive.
  public var latitudeDegrees: Double?
  /// −180…180, east positive.
  public var longitudeDegrees: Double?
  /// Height above the WGS 84 ellipsoid.
  public var heightAboveEllipsoidMetres: Double?
  /// Height above mean sea level, from the receiver's geoid; from a coarse model if the receiver sends only the other
  /// height.
  public var heightAboveSeaLevelMetres: Double?
  /// Geoid above the ellipsoid: the difference of the two heights.
  public var geoidSeparationMetres: Double?
  /// Earth-centred, earth-fixed coordinates of the receiver; see `earthCentredMetres`.
  public var ecefMetres: SIMD3<Double>?

  // MARK: Velocity

  public var speedMetresPerSecond: Double?
  /// 0…360 from true north, of the motion over ground.
  public var courseDegrees: Double?
  /// Upwards.
  public var climbMetresPerSecond: Double?
  /// North, east, down.
  public var velocityMetresPerSecond: SIMD3<Double>?
  /// Earth-centred, earth-fixed velocity of the receiver; see `earthCentredMetresPerSecond`.
  public var ecefMetresPerSecond: SIMD3<Double>?
  /// The direction of the vehicle's bow, 0…360 from true north. It is never derived from the course: a stationary
  /// vehicle has a heading, and the heading of a drifting vehicle differs from its course.
  public var headingDegrees: Double?
  /// 0…360 from magnetic north, of the bow; from a compass on the line, corrected for deviation.
  public var magneticHeadingDegrees: Double?
  /// One standard deviation of the heading; nil when the source does not send it.
  public var headingAccuracyDegrees: Double?
  /// The source of the heading.
  public var headingSource = HeadingSource.none
  /// East positive.
  public var magneticVariationDegrees: Double?

  // MARK: Accuracy, one standard deviation

  public var horizontalAccuracyMetres: Double?
  public var verticalAccuracyMetres: Double?
  /// Of the longitude, if the receiver sends it; see `eastNorthAccuracyMetres`.
  public var eastAccuracyMetres: Double?
  /// Of the latitude, if the receiver sends it.
  public var northAccuracyMetres: Double?
  /// Of the earth-centred position, if the receiver sends it.
  public var ecefAccuracyMetres: Double?
  public var speedAccuracyMetresPerSecond: Double?
  public var climbAccuracyMetresPerSecond: Double?
  public var courseAccuracyDegrees: Double?
  /// The origin of the position's accuracies.
  public var accuracySource = AccuracySource.none

  // MARK: Geometry, as the receiver sends it; see `Dilutions`

  public var gdop: Double?
  public var pdop: Double?
  public var hdop: Double?
  public var vdop: Double?
  public var tdop: Double?
  /// East.
  public var edop: Double?
  /// North.
  public var ndop: Double?
  public var satellitesUsed: Int?
  public var satellitesInView: Int?

  // MARK: Corrections

  public var differentialAgeSeconds: Double?
  public var differentialStation: Int?

  public init() {}

  /// Whether there is a position that may be used.
  public var hasPosition: Bool {
    kind != .none && kind != .timeOnly && latitudeDegrees != nil && longitudeDegrees != nil
  }

  /// Whether a dilution of precision is known.
  var hasDilutions: Bool {
    gdop != nil || pdop != nil || hdop != nil || vdop != nil || tdop != nil || edop != nil || ndop != nil
  }

  /// Whether the receiver sent every dilution.
  public var hasAllDilutions: Bool {
    gdop != nil && pdop != nil && hdop != nil && vdop != nil && tdop != nil && edop != nil && ndop != nil
  }

  func hasSameDilutions(as other: Fix) -> Bool {
    gdop == other.gdop && pdop == other.pdop && hdop == other.hdop && vdop == other.vdop && tdop == other.tdop
      && edop == other.edop && ndop == other.ndop
  }

  /// Whether the fixes have the same values, apart from satellites, dilutions and source: a sentence that repeats the
  /// position of another kind of sentence changes nothing. The accuracies of longitude and latitude depend on `edop` and
  /// `ndop`.
  func isSame(butForSkyOf other: Fix) -> Bool {
    var here = self
    here.source = other.source
    (here.satellitesInView, here.satellitesUsed) = (other.satellitesInView, other.satellitesUsed)
    (here.gdop, here.pdop, here.hdop) = (other.gdop, other.pdop, other.hdop)
    (here.vdop, here.tdop) = (other.vdop, other.tdop)
    return here == other
  }
}

extension Fix {
  /// Removes position, velocity and accuracy from an epoch whose status is "no position". Receivers send NAV-POSLLH and
  /// NAV-VELNED before their first fix too, with zeros or old values, and sentences with a void status and the last
  /// position. Latitude 0, longitude 0 is a valid position, in the Gulf of Guinea.
  mutating func removePlace() {
    source = .none
    latitudeDegrees = nil
    longitudeDegrees = nil
    heightAboveEllipsoidMetres = nil
    heightAboveSeaLevelMetres = nil
    geoidSeparationMetres = nil
    ecefMetres = nil
    speedMetresPerSecond = nil
    courseDegrees = nil
    climbMetresPerSecond = nil
    velocityMetresPerSecond = nil
    ecefMetresPerSecond = nil
    horizontalAccuracyMetres = nil
    verticalAccuracyMetres = nil
    eastAccuracyMetres = nil
    northAccuracyMetres = nil
    ecefAccuracyMetres = nil
    speedAccuracyMetresPerSecond = nil
    climbAccuracyMetresPerSecond = nil
    courseAccuracyDegrees = nil
    accuracySource = .none
  }
}
