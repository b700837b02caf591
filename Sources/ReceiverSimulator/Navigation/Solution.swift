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
  /// Whether the position is that of a base station, so that only the time is solved.
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

/// The corrections that a receiver has received, and the solution with them.
///
///     none ── station and observations ──▶ float ── 10 s of them, open sky ──▶ fixed
///       ▲                                    │                                  │
///       └───────── no observations for 60 s ─┴──────────────────────────────────┘
///
/// A real receiver also needs enough common satellites and a station nearby, which are assumed here.
struct DifferentialCorrections: Sendable {
  /// The use of corrections in a solution, with NAV-PVT's codes of the carrier phase solution for the last two.
  enum Use: UInt8, Sendable {
    case none
    case float
    case fixed
    /// Of the code alone: a receiver without RTK.
    case code

    /// flags of NAV-PVT and NAV-STATUS: diffSoln.
    var hasCorrections: Bool { self != .none }
    /// carrSoln.
    var carrierSolution: UInt8 { self == .code ? 0 : rawValue }
    /// Standard deviation of a horizontal axis, metres; nil for that of the sky.
    var deviation: Double? {
      switch self {
      case .none: nil
      case .code: 0.5
      case .float: 0.25
      case .fixed: 0.01
      }
    }
    /// Quality of GGA.
    var quality: Int32 {
      switch self {
      case .none: 1
      case .code: 2
      case .fixed: 4
      case .float: 5
      }
    }
  }

  /// Corrections are used for this long (CFG-NAVSPG-CONSTR_DGNSSTO, 60 s by default).
  private static let timeout = Milliseconds(60_000)
  /// The time from the first corrections to a fixed solution: ZED-F9P data sheet, "convergence time", < 10 s.
  private static let convergence = Milliseconds(10_000)

  private var stationAt: Instant?
  private var observedAt: Instant?
  private var since = Instant.zero

  /// Takes an RTCM 3 message of this number.
  mutating func receive(message number: Int, at now: Instant) {
    switch number {
    case 1005, 1006: stationAt = now
    case 1001...1004, 1009...1012, 1071...1137:
      if observedAt.map({ now > $0 + Self.timeout }) ?? true { since = now }
      observedAt = now
    default: break
    }
  }

  func use(hasRTK: Bool, under sky: SkyView, at now: Instant) -> Use {
    guard stationAt != nil, let observedAt, now <= observedAt + Self.timeout else { return .none }
    if !hasRTK { return .code }
    return sky == .open && now >= since + Self.convergence ? .fixed : .float
  }
}
