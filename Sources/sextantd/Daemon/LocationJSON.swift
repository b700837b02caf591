// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import ReceiverStream

// Locations and states in the form of org.sextant.Location.
extension JSON {
  /// Unknown values are absent.
  static func location(_ location: Location) -> JSON {
    func known(_ value: Double, _ isKnown: Bool) -> Double? { isKnown && value.isFinite ? value : nil }
    let hasAltitude = location.verticalAccuracyMetres >= 0
    return JSON(omittingNil: [
      "timestamp": location.timestamp.iso8601, "latitude": location.coordinate.latitudeDegrees,
      "longitude": location.coordinate.longitudeDegrees, "altitude": known(location.altitudeMetres, hasAltitude),
      "ellipsoidalAltitude": known(location.ellipsoidalAltitudeMetres, hasAltitude),
      "horizontalAccuracy": known(location.horizontalAccuracyMetres, location.horizontalAccuracyMetres >= 0),
      "verticalAccuracy": known(location.verticalAccuracyMetres, hasAltitude),
      "speed": known(location.speedMetresPerSecond, location.speedMetresPerSecond >= 0),
      "course": known(location.courseDegrees, location.courseDegrees >= 0),
      "isSimulated": location.source?.isSimulatedBySoftware,
    ])
  }

  /// The text of a parameter that may be absent. `isValid` is false for another type.
  func text(_ name: String) -> (value: String?, isValid: Bool) {
    let value = self[name] ?? .null
    return (value.string, value == .null || value.string != nil)
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
