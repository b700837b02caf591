// SPDX-License-Identifier: Apache-2.0

import Messages

/// The regions that the server has set, and the numbers that stand for them in queued transitions. A number stays when its region is
/// gone, because its transitions may still be queued.
struct RegionTable: Equatable, Sendable {
  private struct Row: Equatable, Sendable {
    var number: UInt16
    var waypoint: Waypoint
    var isSet: Bool
    /// Where the board was last; nil before its state is known.
    var isInside: Bool?
  }

  private var rows: [Row] = []

  /// The largest number of rows. Beyond it, the rows of the oldest regions that are gone are dropped.
  private static let limit = 200

  init() {}

  /// The regions that are set.
  var waypoints: [Waypoint] { rows.filter(\.isSet).map(\.waypoint) }

  /// The number of a region by its name; nil if it is not set.
  func number(of name: String) -> UInt16? { rows.last { $0.isSet && $0.waypoint.name == name }?.number }

  /// The region of a number; nil if it is dropped.
  func waypoint(_ number: UInt16) -> Waypoint? { rows.first { $0.number == number }?.waypoint }

  /// Whether the board was in a region that is set when its state was last known; nil if it is not known.
  func isInside(_ name: String) -> Bool? { rows.last { $0.isSet && $0.waypoint.name == name }?.isInside }

  /// The names of the regions that the board is in, sorted.
  var namesInside: [String] { rows.filter { $0.isSet && $0.isInside == true }.map(\.waypoint.name).sorted() }

  /// Notes where the board is now.
  mutating func enter(_ name: String, isInside: Bool) {
    if let index = rows.lastIndex(where: { $0.isSet && $0.waypoint.name == name }) { rows[index].isInside = isInside }
  }

  /// Replaces the regions.
  mutating func set(_ waypoints: [Waypoint]) {
    for index in rows.indices { rows[index].isSet = waypoints.contains(rows[index].waypoint) }
    for waypoint in waypoints where !rows.contains(where: { $0.isSet && $0.waypoint == waypoint }) {
      let used = Set(rows.map(\.number))
      let number = (1...UInt16.max).first { !used.contains($0) } ?? 1
      rows.append(Row(number: number, waypoint: waypoint, isSet: true))
    }
    while rows.count > Self.limit, let index = rows.firstIndex(where: { !$0.isSet }) { rows.remove(at: index) }
  }

  // MARK: Storage

  /// Reads the stored text. Rows that cannot be read are left out.
  init(_ json: JSON) {
    guard case .array(let elements) = json else { return }
    for element in elements.prefix(Self.limit) {
      guard let number = element["number"]?.number.flatMap({ UInt16(exactly: $0) }), number > 0,
        let name = element["name"]?.string, let latitude = element["latitude"]?.number, (-90...90).contains(latitude),
        let longitude = element["longitude"]?.number, (-180...180).contains(longitude),
        let radius = element["radius"]?.number, RemoteCommand.radii.contains(radius)
      else { continue }
      rows.append(
        Row(
          number: number,
          waypoint: Waypoint(
            name: name, latitudeDegrees: latitude, longitudeDegrees: longitude, radiusMetres: radius,
            madeSeconds: element["made"]?.number.flatMap { Int64(exactly: $0.rounded()) } ?? 0),
          isSet: element["set"]?.bool ?? false, isInside: element["inside"]?.bool))
    }
  }

  /// The text to store.
  var json: JSON {
    .array(
      rows.map { row in
        [
          "number": .integer(Int64(row.number)), "name": .string(row.waypoint.name),
          "latitude": .double(row.waypoint.latitudeDegrees), "longitude": .double(row.waypoint.longitudeDegrees),
          "radius": .double(row.waypoint.radiusMetres), "made": .integer(row.waypoint.madeSeconds),
          "set": .bool(row.isSet), "inside": row.isInside.map { .bool($0) } ?? .null,
        ]
      })
  }
}

/// A region that the server has set.
struct Waypoint: Equatable, Sendable {
  /// Its name, and the identity of the region.
  var name: String
  var latitudeDegrees: Double
  var longitudeDegrees: Double
  var radiusMetres: Double
  /// When it was made, seconds since 1970; the server's identity of it.
  var madeSeconds: Int64
}

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
