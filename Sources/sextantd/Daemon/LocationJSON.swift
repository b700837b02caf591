// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import ReceiverStream

// Locations and states in the form of org.sextant.Location.
extension JSON {
  /// Unknown values are absent.
  static func location(_ location: Location) -> JSON {
    var members = [
      Member("timestamp", .string(location.timestamp.iso8601)),
      Member("latitude", .double(location.coordinate.latitudeDegrees)),
      Member("longitude", .double(location.coordinate.longitudeDegrees)),
    ]
    func add(_ name: String, _ value: Double, _ isKnown: Bool) {
      if isKnown, value.isFinite { members.append(Member(name, .double(value))) }
    }
    let hasAltitude = location.verticalAccuracyMetres >= 0
    add("altitude", location.altitudeMetres, hasAltitude)
    add("ellipsoidalAltitude", location.ellipsoidalAltitudeMetres, hasAltitude)
    add("horizontalAccuracy", location.horizontalAccuracyMetres, location.horizontalAccuracyMetres >= 0)
    add("verticalAccuracy", location.verticalAccuracyMetres, hasAltitude)
    add("speed", location.speedMetresPerSecond, location.speedMetresPerSecond >= 0)
    add("course", location.courseDegrees, location.courseDegrees >= 0)
    if let source = location.source { members.append(Member("isSimulated", .bool(source.isSimulatedBySoftware))) }
    return .object(members)
  }

  /// The distances of parameters, metres. A negative accuracy means the best accuracy.
  private static let distancesMetres = -1e9...1e9

  /// The number of metres of a parameter; nil if it is absent. `isValid` is false for another type or a number out of range.
  func metres(_ name: String) -> (value: Double?, isValid: Bool) {
    switch self[name] {
    case nil, .null?: (nil, true)
    case .integer(let value)?: (Double(value), Self.distancesMetres ~= Double(value))
    case .double(let value)?: (value, Self.distancesMetres ~= value)
    default: (nil, false)
    }
  }
}

extension UTCTime {
  /// ISO 8601 with milliseconds: 2026-11-24T10:00:00.000Z.
  var iso8601: String {
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date = day.components
    let milliseconds = nanosecondsOfDay / 1_000_000
    let seconds = milliseconds / 1000
    return digits(Int64(date.year), 4) + "-" + digits(Int64(date.month), 2) + "-" + digits(Int64(date.day), 2) + "T"
      + digits(seconds / 3600, 2) + ":" + digits(seconds / 60 % 60, 2) + ":" + digits(seconds % 60, 2) + "."
      + digits(milliseconds % 1000, 3) + "Z"
  }
}

extension AuthorizationStatus {
  /// The name in Core Location without its prefix.
  var name: String {
    switch self {
    case .notDetermined: "notDetermined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .authorizedAlways: "authorizedAlways"
    case .authorizedWhenInUse: "authorizedWhenInUse"
    }
  }
}
