// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// A satellite in the receiver's tables.
struct SatelliteState: Sendable, Equatable {
  var satellite: VisibleSatellite
  /// dBHz; 0 without a signal.
  var signal: Int
  var isUsed: Bool
  /// The remaining validity of the ephemeris, in seconds; 0 without one.
  var ephemerisSeconds: Int64

  var hasEphemeris: Bool { ephemerisSeconds > 0 }
}

/// The receiver's solution for an epoch, in any message.
struct Solution: Sendable, Equatable {
  var utcMilliseconds: Int64 = 0
  /// Milliseconds since the receiver started.
  var uptimeMilliseconds: UInt32 = 0
  /// Whether date and time are known, and whether they are confirmed.
  var hasTime = false
  var isTimeResolved = false
  var hasFix = false
  /// Whether the position belongs to a base station, so that only the time is solved.
  var isBase = false
  var latitudeDegrees = 0.0
  var longitudeDegrees = 0.0
  /// The height above mean sea level, metres.
  var altitudeMetres = 0.0
  /// The use of corrections.
  var differential = DifferentialCorrections.Use.none
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
  /// Whether the receiver reports spoofing.
  var isSpoofed = false
  /// NAV-PVT's code of power save mode.
  var powerSaveState: UInt8 = 0
  var timeToFirstFix: UInt32 = 0
  var odometerMetres = 0.0
  var totalMetres = 0.0

  /// The geoid above the ellipsoid, metres: the receiver's coarse model has this value here.
  static let geoidSeparation = 45.6

  var pdop: Double { hasFix ? (hdop * hdop + vdop * vdop).squareRoot() : 99.99 }
  var tdop: Double { hasFix ? hdop * 1.1 : 99.99 }
  var gdop: Double { hasFix ? (pdop * pdop + tdop * tdop).squareRoot() : 99.99 }
  var speed: Double { (velocityNorth * velocityNorth + velocityEast * velocityEast).squareRoot() }
  var gps: GPSTime { GPSTime(utcMilliseconds: utcMilliseconds) }
  var civil: CivilTime { CivilTime(secondsSince1970: utcMilliseconds / 1000) }
  var millisecond: Int { Int(utcMilliseconds % 1000) }
}
