// SPDX-License-Identifier: Apache-2.0
import Messages

/// The regions that the server has set, and the numbers by which queued transitions name them. A number stays when its region is
/// gone, because transitions of it may wait.
struct RegionTable: Equatable, Sendable {
  private struct Row: Equatable, Sendable {
    var number: UInt16
    var waypoint: Waypoint
    var isSet: Bool
    /// Where the board was last; nil before its state is known.
    var isInside: Bool?
  }

  private var rows: [Row] = []

  /// The most rows: those of the oldest regions that are gone are dropped.
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
