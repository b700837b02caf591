// SPDX-License-Identifier: Apache-2.0

// The messages of a broker to the uplink. An executed command has values in their ranges, forbidden commands are not
// executed, and the regions that a command sets survive a restart. The same bytes as the stored settings give a table
// of legal regions.
import Messages

@testable import sextant_uplink

func fuzzCommand(_ input: [UInt8]) {
  if let command = try? RemoteCommand(input, allowed: Set(RemoteCommand.Name.allCases)) {
    switch command {
    case .reportLocation, .clearWaypoints: break
    case .setConfiguration(let interval, let distance):
      guard (1...86_400).contains(interval ?? 1), (0...1_000_000).contains(distance ?? 0) else {
        fatalError("\(command) is out of range")
      }
    case .setWaypoints(let waypoints):
      guard waypoints.count <= RemoteCommand.waypointLimit else { fatalError("\(waypoints.count) waypoints") }
      var table = RegionTable()
      table.set(waypoints)
      requireLegal(table)
      guard table.waypoints == waypoints else { fatalError("\(waypoints) become \(table.waypoints)") }
    }
  }
  guard (try? RemoteCommand(input, allowed: [])) == nil else { fatalError("carried out although nothing is allowed") }
  if let stored = try? JSON(parsing: input) { requireLegal(RegionTable(stored["regions"] ?? stored)) }
}

/// A table has legal regions with unique numbers, and is the same after a restart.
private func requireLegal(_ table: RegionTable) {
  for waypoint in table.waypoints {
    guard let number = table.number(of: waypoint.name), table.waypoint(number) != nil else {
      fatalError("\(waypoint) has no number")
    }
    let isLegal =
      (-90...90).contains(waypoint.latitudeDegrees) && (-180...180).contains(waypoint.longitudeDegrees)
      && RemoteCommand.radii.contains(waypoint.radiusMetres)
    guard isLegal else { fatalError("\(waypoint) is out of range") }
  }
  guard let text = try? table.json.text(), let read = try? JSON(parsing: text) else {
    fatalError("\(table.waypoints) cannot be stored")
  }
  guard RegionTable(read) == table else { fatalError("\(table.waypoints) are lost") }
}
