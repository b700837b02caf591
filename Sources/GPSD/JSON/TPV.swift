// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

extension JSONLine {
  /// Writes gpsd's TPV object for a fix, and a line end. Names and units follow gpsd's protocol. Unknown values
  /// are absent.
  ///
  /// - Parameters:
  ///   - geometry: the dilutions computed from the satellites, for `epx` and `epy` if the receiver does not send them.
  ///   - device: the path of the receiver; absent if nil.
  ///   - isForOldClients: whether `alt` is written too, which gpsd 3.20 has replaced by `altHAE` and `altMSL`.
  ///   - jamming: the indicator of jamming, 0 to 255.
  package mutating func tpv(
    _ fix: Fix, geometry: Dilutions? = nil, device: String? = nil, isForOldClients: Bool = false, jamming: Int? = nil
  ) {
    beginObject()
    field("class", "TPV")
    if let device { field("device", text: device) }
    field("mode", fix.gpsdMode)
    field("status", fix.gpsdStatus)
    if let time = fix.time { field("time", time) }
    field("leapseconds", fix.leapSeconds)
    if fix.time != nil {
      if let accuracy = fix.timeAccuracySeconds {
        field("ept", accuracy, digits: 9)
      } else if fix.hasPosition {
        field("ept", Self.roundingOfSentences, digits: 3)
      }
    }
    if fix.hasPosition {
      if isForOldClients { field("alt", fix.heightAboveSeaLevelMetres, digits: 4) }
      position(fix, geometry)
      motion(fix)
    }
    field("jam", jamming)
    endObject()
    endLine()
  }

  /// Half of the last digit of a sentence's time, hhmmss.ss, in seconds: used as the accuracy of a time without one.
  /// gpsd assumes the same.
  private static var roundingOfSentences: Double { 0.005 }

  private mutating func position(_ fix: Fix, _ geometry: Dilutions?) {
    field("lat", fix.latitudeDegrees, digits: 9)
    field("lon", fix.longitudeDegrees, digits: 9)
    field("altHAE", fix.heightAboveEllipsoidMetres, digits: 4)
    field("altMSL", fix.heightAboveSeaLevelMetres, digits: 4)
    field("geoidSep", fix.geoidSeparationMetres, digits: 3)
    if let ecef = fix.earthCentredMetres {
      field("ecefx", ecef.x, digits: 4)
      field("ecefy", ecef.y, digits: 4)
      field("ecefz", ecef.z, digits: 4)
    }
    // An assumed accuracy is not a measured one.
    if fix.accuracySource != .assumed {
      field("eph", fix.horizontalAccuracyMetres, digits: 3)
      field("epv", fix.verticalAccuracyMetres, digits: 3)
      field("sep", fix.sphericalAccuracyMetres, digits: 3)
      if let accuracy = fix.eastNorthAccuracyMetres(geometry) {
        field("epx", accuracy.east, digits: 3)
        field("epy", accuracy.north, digits: 3)
      }
      field("ecefpAcc", fix.earthCentredAccuracyMetres, digits: 4)
    }
    field("dgpsAge", fix.differentialAgeSeconds, digits: 1)
    field("dgpsSta", fix.differentialStation)
  }

  private mutating func motion(_ fix: Fix) {
    field("speed", fix.speedMetresPerSecond, digits: 3)
    field("track", fix.courseDegrees, digits: 4)
    field("climb", fix.climbMetresPerSecond, digits: 3)
    if let velocity = fix.velocityMetresPerSecond {
      field("velN", velocity.x, digits: 3)
      field("velE", velocity.y, digits: 3)
      field("velD", velocity.z, digits: 3)
    }
    if let velocity = fix.earthCentredMetresPerSecond {
      field("ecefvx", velocity.x, digits: 3)
      field("ecefvy", velocity.y, digits: 3)
      field("ecefvz", velocity.z, digits: 3)
      field("ecefvAcc", fix.speedAccuracyMetresPerSecond, digits: 3)
    }
    field("eps", fix.speedAccuracyMetresPerSecond, digits: 3)
    field("epc", fix.climbAccuracyMetresPerSecond, digits: 3)
    field("epd", fix.courseAccuracyDegrees, digits: 4)
    field("magvar", fix.magneticVariationDegrees, digits: 2)
  }

  mutating func field(_ key: StaticString, _ time: UTCTime) {
    name(key)
    put(raw: UInt8(ascii: "\""))
    timestamp(time)
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes the time in ISO 8601 with milliseconds, as gpsd does.
  package mutating func timestamp(_ time: UTCTime) {
    let rounded = time.roundedToMilliseconds
    let date = rounded.day.components
    let milliseconds = UInt64(rounded.nanosecondsOfDay / 1_000_000)
    magnitude(UInt64(max(0, date.year)), width: 4)
    put(raw: UInt8(ascii: "-"))
    magnitude(UInt64(date.month), width: 2)
    put(raw: UInt8(ascii: "-"))
    magnitude(UInt64(date.day), width: 2)
    put(raw: UInt8(ascii: "T"))
    magnitude(milliseconds / 3_600_000, width: 2)
    put(raw: UInt8(ascii: ":"))
    magnitude(milliseconds / 60_000 % 60, width: 2)
    put(raw: UInt8(ascii: ":"))
    magnitude(milliseconds / 1000 % 60, width: 2)
    put(raw: UInt8(ascii: "."))
    magnitude(milliseconds % 1000, width: 3)
    put(raw: UInt8(ascii: "Z"))
  }
}

extension Fix {
  /// gpsd's mode: 0 not reported yet, 1 no fix, 2 2D, 3 3D.
  package var gpsdMode: Int {
    guard hasPosition else { return reportsKind || kind != .none ? 1 : 0 }
    return kind == .twoD ? 2 : 3
  }

  /// gpsd's status; nil if gpsd omits it.
  var gpsdStatus: Int? {
    guard hasPosition else { return nil }
    switch kind {
    case .deadReckoning: return 5
    case .combined: return 6
    case .surveyed: return 7
    default: break
    }
    switch quality {
    case .differential: return 2
    case .rtkFixed: return 3
    case .rtkFloat: return 4
    case .estimated: return 5
    case .manual: return 7
    case .simulated: return 8
    case .preciseService: return 9
    default: return nil
    }
  }
}
