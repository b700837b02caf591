// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

/// A column of a table of fixes: gpsd's name, and in the table's first line also its unit.
package struct CSVColumn: Sendable {
  /// gpsd's name in TPV and SKY; `quality` and `ss` (the mean signal of the used satellites) are specific to this
  /// program.
  package var name: String
  /// The name with the unit, such as `lat_deg`.
  package var heading: String
  fileprivate var value: Value

  fileprivate enum Value: Sendable {
    case time
    case quality
    case integer(@Sendable (TrackPoint) -> Int?)
    case number(digits: Int, @Sendable (TrackPoint) -> Double?)
  }

  private init(_ name: String, unit: String? = nil, _ value: Value) {
    self.name = name
    heading = unit.map { "\(name)_\($0)" } ?? name
    self.value = value
  }

  private init(
    _ name: String, unit: String? = nil, digits: Int, _ value: @escaping @Sendable (TrackPoint) -> Double?
  ) {
    self.init(name, unit: unit, .number(digits: digits, value))
  }

  /// All columns.
  package static let all = [
    CSVColumn("time", unit: "utc", .time),
    CSVColumn("mode", .integer { $0.fix.gpsdMode }),
    CSVColumn("quality", .quality),
    CSVColumn("lat", unit: "deg", digits: 9) { $0.fix.latitudeDegrees },
    CSVColumn("lon", unit: "deg", digits: 9) { $0.fix.longitudeDegrees },
    CSVColumn("altHAE", unit: "m", digits: 4) { $0.fix.heightAboveEllipsoidMetres },
    CSVColumn("altMSL", unit: "m", digits: 4) { $0.fix.heightAboveSeaLevelMetres },
    CSVColumn("geoidSep", unit: "m", digits: 3) { $0.fix.geoidSeparationMetres },
    CSVColumn("eph", unit: "m", digits: 3) { $0.horizontalAccuracyMetres },
    CSVColumn("epv", unit: "m", digits: 3) { $0.verticalAccuracyMetres },
    CSVColumn("speed", unit: "m/s", digits: 3) { $0.fix.speedMetresPerSecond },
    CSVColumn("track", unit: "deg", digits: 4) { $0.fix.courseDegrees },
    CSVColumn("climb", unit: "m/s", digits: 3) { $0.fix.climbMetresPerSecond },
    CSVColumn("velN", unit: "m/s", digits: 3) { $0.fix.velocityMetresPerSecond?.x },
    CSVColumn("velE", unit: "m/s", digits: 3) { $0.fix.velocityMetresPerSecond?.y },
    CSVColumn("velD", unit: "m/s", digits: 3) { $0.fix.velocityMetresPerSecond?.z },
    CSVColumn("eps", unit: "m/s", digits: 3) { $0.fix.speedAccuracyMetresPerSecond },
    CSVColumn("epd", unit: "deg", digits: 4) { $0.fix.courseAccuracyDegrees },
    CSVColumn("ept", unit: "s", digits: 9) { $0.fix.timeAccuracySeconds },
    CSVColumn("heading", unit: "deg", digits: 2) { $0.fix.headingDegrees },
    CSVColumn("magvar", unit: "deg", digits: 2) { $0.fix.magneticVariationDegrees },
    CSVColumn("hdop", digits: 2) { $0.hdop },
    CSVColumn("vdop", digits: 2) { $0.vdop },
    CSVColumn("pdop", digits: 2) { $0.pdop },
    CSVColumn("uSat", .integer { $0.satellitesUsed }),
    CSVColumn("nSat", .integer { $0.satellitesInView }),
    CSVColumn("ss", unit: "dBHz", digits: 1) { $0.satellites?.usedSignalDecibelHertz },
    CSVColumn("dgpsAge", unit: "s", digits: 1) { $0.fix.differentialAgeSeconds },
    CSVColumn("dgpsSta", .integer { $0.fix.differentialStation }),
  ]

  /// The default columns of a table.
  package static var usual: [CSVColumn] {
    let names = [
      "time", "mode", "lat", "lon", "altHAE", "altMSL", "eph", "epv", "speed", "track", "climb", "hdop", "uSat", "nSat",
      "heading",
    ]
    return names.compactMap { named($0) }
  }

  /// The column for a name or heading, regardless of case.
  package static func named(_ name: String) -> CSVColumn? {
    let name = name.lowercased()
    return all.first { $0.name.lowercased() == name || $0.heading.lowercased() == name }
  }
}

/// A table of fixes (RFC 4180): a line of names, then a line for each fix, with CR LF. Values do not contain commas,
/// quotes or line ends, so they are not quoted. An unknown value is empty.
struct CSVFile: TrackFile {
  let columns: [CSVColumn]

  func begin(_ text: inout JSONLine) {
    let heading = columns.map(\.heading).joined(separator: ",")
    for byte in heading.utf8 { text.put(raw: byte) }
    text.put("\r\n")
  }

  func add(_ point: TrackPoint, _ text: inout JSONLine) {
    for (index, column) in columns.enumerated() {
      if index > 0 { text.put(",") }
      switch column.value {
      case .time: if let time = point.fix.time { text.timestamp(time) }
      case .quality: text.put(Self.quality(point.fix))
      case .integer(let value): if let value = value(point) { text.integer(Int64(value)) }
      case .number(let digits, let value): if let value = value(point) { text.number(value, digits: digits) }
      }
    }
    text.put("\r\n")
  }

  func finish(_ text: inout JSONLine) {}

  private static func quality(_ fix: Fix) -> StaticString {
    switch SolutionKind(fix) {
    case .outsideLimits: "outsideLimits"
    case .simulated: "simulated"
    case .surveyed: "manual"
    case .deadReckoning: "estimated"
    case .differential: "differential"
    case .preciseService: "preciseService"
    case .rtkFloat: "rtkFloat"
    case .rtkFixed: "rtkFixed"
    case .none, .timeOnly, .twoD, .threeD: fix.quality == .unknown ? "unknown" : "autonomous"
    }
  }
}
