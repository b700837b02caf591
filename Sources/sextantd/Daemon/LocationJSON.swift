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
