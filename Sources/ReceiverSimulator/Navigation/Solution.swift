/// A satellite in a receiver's tables.
struct SatelliteState: Sendable, Equatable {
  var satellite: VisibleSatellite
  /// dBHz; 0 where nothing is heard.
  var signal: Int
  var isUsed: Bool
  var hasEphemeris: Bool
}

/// What a receiver says of an epoch, in whatever messages.
struct Solution: Sendable, Equatable {
  var utcMilliseconds: Int64 = 0
  /// Since the receiver started.
  var uptimeMilliseconds: UInt32 = 0
  /// Whether date and time are known, and without a doubt.
  var hasTime = false
  var isTimeResolved = false
  var hasFix = false
  var latitudeDegrees = 0.0
  var longitudeDegrees = 0.0
  /// Above mean sea level.
  var altitudeMetres = 0.0
  var velocityNorth = 0.0
  var velocityEast = 0.0
  var velocityDown = 0.0
  /// Accuracies, one standard deviation.
  var horizontalMetres = 0.0
  var verticalMetres = 0.0
  var speedAccuracy = 0.0
  var hdop = 99.99
  var vdop = 99.99
  var satellites: [SatelliteState] = []
  var used = 0
  /// NAV-PVT's code of power save mode.
  var powerSaveState: UInt8 = 0
  var timeToFirstFix: UInt32 = 0
  var odometerMetres = 0.0
  var totalMetres = 0.0

  /// The geoid above the ellipsoid: the receiver's own coarse model has one value here.
  static let geoidSeparation = 45.6

  var pdop: Double { hasFix ? (hdop * hdop + vdop * vdop).squareRoot() : 99.99 }
  var tdop: Double { hasFix ? hdop * 1.1 : 99.99 }
  var gdop: Double { hasFix ? (pdop * pdop + tdop * tdop).squareRoot() : 99.99 }
  var speed: Double { (velocityNorth * velocityNorth + velocityEast * velocityEast).squareRoot() }
  var gps: GPSTime { GPSTime(utcMilliseconds: utcMilliseconds) }
  var civil: CivilTime { CivilTime(secondsSince1970: utcMilliseconds / 1000) }
  var millisecond: Int { Int(utcMilliseconds % 1000) }
}
