// SPDX-License-Identifier: Apache-2.0

// The days of the bench. Each has an obvious requirement; docs/reference/power.md describes them.
extension Day {
  private static let hour = 3600.0
  private static let minute = 60.0
  private static let day = 86_400.0

  /// Returns a day by name; nil for an unknown name.
  public static func named(_ name: String) -> Day? { (all + short).first { $0.name == name } }

  /// The names of all days, equal to the names of the simulator's scenarios.
  public static var names: [String] { (all + short).map(\.name) }

  /// The days of the table.
  public static var all: [Day] {
    [
      assetTracker, parkedVan, parkedVanWithAccelerometer, indoor, geofenceFar, geofenceNear, commuter, hiker,
      deliveryRound,
    ]
  }

  /// Scenarios of minutes, which repeat. They run on request: the receiver is on all the time, or pauses permanently.
  static var short: [Day] { [walk, still, drive] }

  private static var everyFix: [Client] {
    [Client(.updates(Updates()))]
  }

  /// Two hours to and fro in a park; every fix at the best accuracy.
  private static var walk: Day {
    var path = Path()
    for round in 0..<30 { path.go(to: Path.Place(east: round % 2 == 0 ? 240 : 0, north: 0), speed: 1.8) }
    return Day(name: "walk", seconds: path.endSeconds, path: path, clients: everyFix)
  }

  /// An antenna on a roof.
  private static var still: Day { Day(name: "still", seconds: day, path: Path(), clients: everyFix) }

  /// Through a town and back, two hours long.
  private static var drive: Day {
    var path = Path()
    var sky: [(fromSeconds: Double, sky: SkyView)] = []
    while path.endSeconds < 2 * hour {
      path.rest(for: 30)
      path.go(to: Path.Place(east: 0, north: 800), speed: 11)
      sky.append((path.endSeconds, .urban))
      path.go(to: Path.Place(east: 1500, north: 800), speed: 10)
      path.rest(for: 40)
      path.go(to: Path.Place(east: 1900, north: 200), speed: 14)
      sky.append((path.endSeconds, .open))
      path.go(to: Path.Place(east: 0, north: 0), speed: 16)
    }
    return Day(name: "drive", seconds: path.endSeconds, path: path, sky: sky, clients: everyFix)
  }

  /// A container: a location every 15 minutes, on a lorry by day. The host's clock gains 11 parts in a million on the
  /// receiver's, so that requests come at every part of a second.
  public static var assetTracker: Day {
    var path = Path()
    path.rest(until: 7 * hour)
    path.go(to: Path.Place(east: 150_000, north: 40_000), speed: 20)
    path.rest(for: hour)
    path.go(to: Path.Place(east: 260_000, north: 90_000), speed: 20)
    return Day(
      name: "asset-tracker", seconds: day, path: path,
      sky: [(12 * hour, .urban), (13 * hour, .open)],
      clients: [Client(.requests(everySeconds: 15 * minute + 0.01, accuracyMetres: 100))])
  }

  private static var van: Path {
    var path = Path()
    path.rest(until: 18 * hour)
    path.go(to: Path.Place(east: 1500, north: 0), speed: 10)
    return path
  }

  private static var vanUpdates: Updates {
    Updates(accuracyMetres: 100, distanceFilterMetres: 100, activity: .automotiveNavigation)
  }

  /// A van in a yard, moved once.
  public static var parkedVan: Day {
    Day(name: "parked-van", seconds: day, path: van, clients: [Client(.updates(vanUpdates))])
  }

  /// The same day with an accelerometer.
  public static var parkedVanWithAccelerometer: Day {
    Day(
      name: "parked-van-accelerometer", seconds: day, path: van, clients: [Client(.updates(vanUpdates))],
      hasAccelerometer: true)
  }

  /// A board that is carried into a cellar after ten minutes, and out again in the evening.
  public static var indoor: Day {
    Day(
      name: "indoor", seconds: day, path: Path(),
      sky: [(10 * minute, .none), (22 * hour, .open)],
      clients: [Client(.updates(Updates(accuracyMetres: 100, distanceFilterMetres: 50)))])
  }

  /// A region 20 km away, entered once in the evening.
  public static var geofenceFar: Day {
    var path = Path()
    path.rest(until: 12 * hour)
    path.go(to: Path.Place(east: -3000, north: 0), speed: 12)
    path.rest(until: 13 * hour)
    path.go(to: Path.Place(east: 0, north: 0), speed: 12)
    path.rest(until: 21 * hour)
    path.go(to: Path.Place(east: 20_300, north: 0), speed: 25)
    path.rest(for: 10 * minute)
    path.go(to: Path.Place(east: 4000, north: 4000), speed: 20)
    return Day(
      name: "geofence-far", seconds: day, path: path,
      clients: [Client(.region(centre: Path.Place(east: 20_300, north: 0), radiusMetres: 300))])
  }

  /// A region whose border is 400 m from the resting place, entered twice on foot.
  public static var geofenceNear: Day {
    var path = Path()
    for start in [10 * hour, 16 * hour] {
      path.rest(until: start)
      path.go(to: Path.Place(east: 600, north: 0), speed: 1.4)
      path.rest(for: 30 * minute)
      path.go(to: Path.Place(east: 0, north: 0), speed: 1.4)
    }
    return Day(
      name: "geofence-near", seconds: day, path: path,
      clients: [Client(.region(centre: Path.Place(east: 600, north: 0), radiusMetres: 200))])
  }

  /// Two drives and a walk at noon; every fix at the best accuracy, paused at rest.
  public static var commuter: Day {
    var path = Path()
    let work = Path.Place(east: 22_000, north: 9000)
    path.rest(until: 7.5 * hour)
    path.go(to: Path.Place(east: 12_000, north: 0), speed: 14)
    path.rest(for: 40)
    path.go(to: work, speed: 11)
    path.rest(until: 12 * hour)
    path.go(to: Path.Place(east: 22_900, north: 9000), speed: 1.4)
    path.rest(for: 40 * minute)
    path.go(to: work, speed: 1.4)
    path.rest(until: 17 * hour)
    path.go(to: Path.Place(east: 12_000, north: 0), speed: 11)
    path.go(to: Path.Place(east: 0, north: 0), speed: 14)
    return Day(
      name: "commuter", seconds: day, path: path,
      sky: [(12 * hour, .urban), (13.5 * hour, .open)],
      clients: everyFix)
  }

  /// Ten hours on foot; every fix, delivered every ten minutes.
  public static var hiker: Day {
    var path = Path()
    var east = 0.0
    for leg in 0..<10 {
      east += 4200
      path.go(to: Path.Place(east: east, north: leg % 2 == 0 ? 800 : 0), speed: 1.3)
      path.rest(for: 2 * minute)
    }
    return Day(
      name: "hiker-deferral", seconds: 10 * hour, path: path,
      clients: [Client(.updates(Updates(activity: .fitness, mayPause: false, deferralSeconds: 10 * minute)))])
  }

  /// Thirty-six stops from eight to about five; a fix every 50 m, not paused because no stop is long enough. At midnight
  /// the program gets one location: until its first use a receiver runs as it was found.
  public static var deliveryRound: Day {
    var path = Path()
    path.rest(until: 8 * hour)
    var place = Path.Place(east: 0, north: 0)
    for stop in 0..<36 {
      place.east += [1200.0, 700, -500, 2100][stop % 4]
      place.north += [400.0, -900, 1500][stop % 3]
      path.go(to: place, speed: [11.0, 8, 14][stop % 3])
      path.rest(for: [3.0, 5, 8, 12, 20][stop % 5] * minute)
    }
    return Day(
      name: "delivery-round", seconds: day, path: path,
      sky: [(10 * hour, .urban), (11 * hour, .open)],
      clients: [
        Client(.requests(everySeconds: .infinity, accuracyMetres: 100)),
        Client(
          from: 8 * hour - 10, until: 17 * hour,
          .updates(Updates(accuracyMetres: 10, distanceFilterMetres: 50, activity: .automotiveNavigation))),
      ])
  }
}
