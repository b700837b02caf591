// SPDX-License-Identifier: Apache-2.0
extension Scenario {
  /// The names of the built-in scenarios, which `sextant bench energy` has as days.
  public static var names: [String] { builtIn.map(\.name) }

  /// Returns a built-in scenario; nil for an unknown name.
  public static func named(_ name: String) -> Scenario? {
    text(named: name).flatMap { try? Scenario(parsing: $0) }
  }

  /// Returns the text of a built-in scenario, as a template for others.
  public static func text(named name: String) -> String? {
    let name = formerNames[name] ?? name
    return builtIn.first { $0.name == name }?.text
  }

  /// Names of version 0.1.0, which are accepted and not listed.
  private static let formerNames = ["hiker": "hiker-deferral"]

  private static let builtIn: [(name: String, text: String)] = [
    ("walk", walk), ("still", still), ("drive", drive), ("commuter", commuter), ("parked-van", parkedVan),
    ("parked-van-accelerometer", parkedVan), ("hiker-deferral", hiker), ("indoor", indoor),
    ("geofence-far", geofenceFar), ("geofence-near", geofenceNear), ("asset-tracker", assetTracker),
    ("delivery-round", deliveryRound),
  ]

  private static let walk = """
    # A figure of eight in a park.
    start 48.1642,11.6056 512m
    hot
    eight 120m in 420s forever
    """

  private static let still = """
    # An antenna on a roof.
    start 48.1642,11.6056 512m
    hot
    stay forever
    """

  private static let drive = """
    # Through a town and back, again and again.
    start 48.1642,11.6056 512m
    hot
    stay 30s
    drive by 800m,0m at 40km/h
    sky urban
    drive by 0m,1500m at 35km/h
    stay 40s
    drive by -600m,400m at 50km/h
    sky open
    drive by -900m,-300m at 70km/h
    stay 20s
    drive home at 50km/h
    repeat
    """

  private static let commuter = """
    # Home, office, home: a day.
    start 48.1642,11.6056 512m
    sky indoor
    stay until 07:30
    sky open
    walk by 400m,200m
    stay 5min
    sky urban
    drive by 3km,4km at 35km/h
    sky none
    drive by 2km,5km at 50km/h
    sky urban
    walk by 300m,-100m
    sky indoor
    stay until 12:15
    sky urban
    walk by -250m,100m
    stay 35min
    walk by 250m,-100m
    sky indoor
    stay until 17:15
    sky urban
    walk by -300m,100m
    sky none
    drive by -2km,-5km at 50km/h
    sky urban
    drive by -3km,-4km at 35km/h
    sky open
    walk by -400m,-200m
    sky indoor
    stay until 24:00
    repeat
    """

  private static let parkedVan = """
    # Stands all night and most of the day; one drive.
    start 48.1642,11.6056 512m
    stay until 16:00
    drive via 48.1800,11.6200 48.2000,11.6300 to 48.2100,11.6100 at 45km/h
    stay 20min
    drive via 48.2000,11.6300 48.1800,11.6200 to 48.1642,11.6056 at 45km/h
    stay until 24:00
    repeat
    """

  private static let hiker = """
    # Eight hours on foot in the hills.
    start 47.4211,10.9853 750m
    sky indoor
    stay until 08:00
    sky open
    walk by 4km,1km at 1.2m/s
    stay 20min
    sky urban
    walk by 2km,-1.5km at 0.9m/s
    sky open
    stay 45min
    walk by -3km,1km at 1.1m/s
    stay 15min
    walk home at 1.3m/s
    sky indoor
    stay until 24:00
    repeat
    """

  private static let indoor = """
    # No sky for six hours, then it is back.
    start 48.1642,11.6056 512m
    stay 10min
    sky none
    stay 6h
    sky open
    stay until 24:00
    repeat
    """

  private static let geofenceFar = """
    # Lives 20 km from the fence and goes about there.
    start 48.1642,11.6056 512m
    stay until 08:00
    errand within 3km stops 6 pause 50min at 40km/h
    stay until 24:00
    repeat
    """

  private static let geofenceNear = """
    # Two visits to a fence that begins a kilometre to the north of the start.
    start 48.1642,11.6056 512m
    stay until 09:00
    walk by 1.5km,0m
    stay 30min
    walk home
    stay until 15:00
    drive by 4km,0m at 50km/h
    stay 10min
    drive home at 50km/h
    stay until 24:00
    repeat
    """

  private static let assetTracker = """
    # A container: it stands, is carried for an hour, stands again.
    start 48.1642,11.6056 512m
    stay until 06:00
    drive by 30km,8km at 60km/h
    stay until 14:00
    drive home at 60km/h
    stay until 24:00
    repeat
    """

  private static let deliveryRound = """
    # Thirty stops between eight and five.
    seed 7
    start 48.1642,11.6056 512m
    sky indoor
    stay until 08:00
    sky urban
    errand within 6km stops 30 pause 5min at 35km/h
    sky indoor
    stay until 24:00
    repeat
    """
}
