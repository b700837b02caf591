// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CAllocationCount
import MonotonicTime
import Positioning
import ReceiverStream
import SerialPort

/// `sextant bench positioning`: the cost of a fix for an app with many managers and the maximum number of regions.
struct BenchPositioning: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "positioning", abstract: "Measure what a fix costs with many clients of Core Location.",
    discussion: """
      A walk of 1,000 positions goes through the rules of an app with 100 managers and 20 regions; the best time counts. \
      Filtered managers take each position and reject it by its distance, the others are told each.
      """)

  @Flag(help: "Print the result as JSON.")
  var json = false

  func run() throws {
    let results = ClientLoad.all.map { ($0, $0.measure()) }
    if json {
      var line = JSONText()
      line.beginObject()
      line.beginArray("rows")
      for (load, cost) in results {
        line.beginObject()
        line.field("clients", text: load.name)
        line.field("managers", load.managers)
        line.field("regions", load.regions)
        line.field("nanosecondsPerFix", cost.nanosecondsPerFix, digits: 1)
        line.field("allocationsPerFix", cost.allocationsPerFix, digits: 3)
        line.endObject()
      }
      line.endArray()
      line.endObject()
      line.endLine()
      try Output.write(line.text)
    } else {
      for (load, cost) in results {
        try Output.write(
          "\(load.name): \(load.managers) managers, \(load.regions) regions: \(fixed(cost.nanosecondsPerFix / 1000, 2)) us and "
            + "\(fixed(cost.allocationsPerFix, 2)) allocations a fix\n")
      }
    }
  }
}

/// The clients of an app, with their requests.
private struct ClientLoad {
  var name: String
  var managers: Int
  var regions: Int
  var distanceFilterMetres: Double

  /// The contract's load, once with every client served and once with every client filtered, and each part
  /// separately.
  static let all = [
    ClientLoad(name: "all told", managers: 100, regions: 20, distanceFilterMetres: -1),
    ClientLoad(name: "all filtered", managers: 100, regions: 20, distanceFilterMetres: 1e6),
    ClientLoad(name: "no manager", managers: 0, regions: 20, distanceFilterMetres: -1),
    ClientLoad(name: "no region, all filtered", managers: 100, regions: 0, distanceFilterMetres: 1e6),
  ]

  struct Cost {
    var nanosecondsPerFix: Double
    var allocationsPerFix: Double
  }

  private static let fixes = 1000

  /// A walk to the north at 1.4 m/s.
  private static func location(_ number: Int) -> Location {
    Location(
      Coordinate(latitudeDegrees: 48 + Double(number) * 1.4 / 111_200, longitudeDegrees: 11),
      horizontalAccuracyMetres: 3,
      timestamp: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000 + Int64(number) * 1_000_000_000))
  }

  private static func moment(_ number: Int) -> Moment {
    Moment(Instant(nanoseconds: UInt64(number + 1) * 1_000_000_000), utc: location(number).timestamp)
  }

  private func engine() -> PositioningEngine {
    let now = Self.moment(-1).instant
    var engine = PositioningEngine(
      keys: UsageKeys(),
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false),
      application: .foreground, authorizationOverride: .authorizedAlways, at: now)
    let manager = ClientID(-1)
    engine.add(manager)
    for number in 0..<regions {
      let centre = Self.location(number * Self.fixes / max(1, regions)).coordinate
      engine.call(
        .startMonitoring(Region("\(number)", .circle(Circle(centre: centre, radiusMetres: 100)))), by: manager, at: now)
    }
    engine.remove(manager)
    for number in 0..<managers {
      let id = ClientID(number)
      engine.add(id)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: id, at: now)
      engine.call(.setDistanceFilter(metres: distanceFilterMetres), by: id, at: now)
      engine.call(.startUpdatingLocation, by: id, at: now)
    }
    engine.outputs = []
    return engine
  }

  func measure() -> Cost {
    let locations = (0..<Self.fixes).map(Self.location)
    var best = UInt64.max
    var allocations = UInt64.max
    for _ in 0..<20 {
      var engine = engine()
      // The first fix is delivered to every client.
      engine.receive(locations[0], at: Self.moment(0))
      engine.outputs.removeAll(keepingCapacity: true)
      let before = UInt64(c_allocation_count())
      let start = SystemClock.monotonic.nanoseconds
      for number in 1..<Self.fixes {
        engine.receive(locations[number], at: Self.moment(number))
        engine.outputs.removeAll(keepingCapacity: true)
      }
      best = min(best, SystemClock.monotonic.nanoseconds - start)
      allocations = min(allocations, UInt64(c_allocation_count()) - before)
    }
    let count = Double(Self.fixes - 1)
    return Cost(nanosecondsPerFix: Double(best) / count, allocationsPerFix: Double(allocations) / count)
  }
}
