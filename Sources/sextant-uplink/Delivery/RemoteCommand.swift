// SPDX-License-Identifier: Apache-2.0
import Messages

/// A command of the server: OwnTracks' `cmd` messages. Nothing else can be commanded from the network, and each only if the
/// administrator has allowed it.
enum RemoteCommand: Equatable, Sendable {
  case reportLocation
  case setWaypoints([Waypoint])
  case clearWaypoints
  /// Values of the schedule; nil: as before.
  case setConfiguration(intervalSeconds: Double?, distanceMetres: Double?)

  /// The name of a command in `allow =`.
  enum Name: String, CaseIterable, Sendable {
    case reportLocation, setWaypoints, clearWaypoints, setConfiguration
  }

  /// Why a message is not carried out; for the log.
  struct Refusal: Error, Equatable {
    var text: String
  }

  /// The most regions that a server can set.
  static let waypointLimit = 20
  /// A radius of a region, metres.
  static let radii = 10.0...100_000
  /// The longest message that is read.
  static let messageLimit = 64 << 10

  /// Reads a message of the topic `…/cmd`.
  ///
  /// - Throws: ``Refusal``.
  init(_ message: [UInt8], allowed: Set<Name>) throws(Refusal) {
    guard message.count <= Self.messageLimit else {
      throw Refusal(text: "a command of \(message.count) bytes is too long")
    }
    guard let json = try? JSON(parsing: message), json["_type"]?.string == "cmd" else {
      throw Refusal(text: "a message is not a command of OwnTracks")
    }
    let action = json["action"]?.string ?? ""
    guard let name = Name(rawValue: action) else {
      throw Refusal(text: "the command `\(action.prefix(40))` is unknown")
    }
    guard allowed.contains(name) else {
      throw Refusal(text: "the command \(name.rawValue) is not allowed; `allow = \(name.rawValue)` allows it")
    }
    switch name {
    case .reportLocation: self = .reportLocation
    case .clearWaypoints: self = .clearWaypoints
    case .setWaypoints: self = .setWaypoints(try Self.waypoints(json))
    case .setConfiguration: self = try Self.configuration(json)
    }
  }

  private static func waypoints(_ json: JSON) throws(Refusal) -> [Waypoint] {
    guard case .array(let elements)? = json["waypoints"]?["waypoints"] ?? json["waypoints"] else {
      throw Refusal(text: "setWaypoints has no waypoints")
    }
    guard elements.count <= waypointLimit else {
      throw Refusal(text: "setWaypoints has \(elements.count) waypoints; \(waypointLimit) are possible")
    }
    var waypoints: [Waypoint] = []
    for element in elements {
      guard let name = element["desc"]?.string, !name.isEmpty, name.utf8.count <= 200,
        let latitude = element["lat"]?.number, (-90...90).contains(latitude),
        let longitude = element["lon"]?.number, (-180...180).contains(longitude)
      else { throw Refusal(text: "a waypoint needs desc (1 to 200 bytes), lat and lon") }
      // A waypoint with a radius of 0 is a place without a region, by OwnTracks.
      let radius = element["rad"]?.number ?? 0
      if radius == 0 { continue }
      guard radii.contains(radius) else {
        throw Refusal(text: "the radius of a waypoint is \(radii.lowerBound) to \(radii.upperBound) m")
      }
      let made = element["tst"]?.number.flatMap { Int64(exactly: $0.rounded()) } ?? 0
      waypoints.append(
        Waypoint(
          name: name, latitudeDegrees: latitude, longitudeDegrees: longitude, radiusMetres: radius, madeSeconds: made))
    }
    guard Set(waypoints.map(\.name)).count == waypoints.count else {
      throw Refusal(text: "two waypoints have one name")
    }
    return waypoints
  }

  private static func configuration(_ json: JSON) throws(Refusal) -> RemoteCommand {
    guard let values = json["configuration"], values.isObject else {
      throw Refusal(text: "setConfiguration has no configuration")
    }
    func value(_ name: String, in range: ClosedRange<Double>) throws(Refusal) -> Double? {
      guard let value = values[name] else { return nil }
      guard let number = value.number, range.contains(number) else {
        throw Refusal(text: "\(name) is not a number of \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    return .setConfiguration(
      intervalSeconds: try value("locatorInterval", in: 1...86_400),
      distanceMetres: try value("locatorDisplacement", in: 0...1_000_000))
  }
}

extension JSON {
  /// A number of either form that is finite; nil for another value.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value.isFinite ? value : nil
    default: nil
    }
  }
}
