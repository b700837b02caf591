// SPDX-License-Identifier: Apache-2.0

// The listings of the location guide: the standard service for a program that needs a resolution of 500 m, the
// significant-change service, and a region. All use the method that takes an array of locations.
//
//     LocationGuide standard | significant | region LATITUDE LONGITUDE RADIUS
import CoreLocation

final class Guide: NSObject, CLLocationManagerDelegate {
  private var locationManager: CLLocationManager?

  private func manager() -> CLLocationManager {
    if let locationManager { return locationManager }
    let manager = CLLocationManager()
    manager.delegate = self
    locationManager = manager
    return manager
  }

  func startStandardUpdates() {
    let locationManager = manager()
    locationManager.desiredAccuracy = kCLLocationAccuracyKilometer
    // The minimum movement for an event, metres.
    locationManager.distanceFilter = 500
    locationManager.startUpdatingLocation()
  }

  func startSignificantChangeUpdates() {
    manager().startMonitoringSignificantLocationChanges()
  }

  /// The radius is limited to the maximum, as in the class reference.
  func registerRegion(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    let locationManager = manager()
    let radius = min(radius, locationManager.maximumRegionMonitoringDistance)
    let region = CLCircularRegion(center: center, radius: radius, identifier: identifier)
    locationManager.startMonitoring(for: region)
    locationManager.requestState(for: region)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    // A cached location is delivered first; one that is older than 15 s is ignored.
    guard let location = locations.last, abs(location.timestamp.timeIntervalSinceNow) < 15 else { return }
    print(
      String(
        format: "latitude %+.6f, longitude %+.6f", location.coordinate.latitude, location.coordinate.longitude))
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("error \((error as NSError).code): \(error.localizedDescription)")
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    print("monitoring \(region.identifier), one of \(manager.monitoredRegions.count)")
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    print("entered \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    print("left \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
    switch state {
    case .inside: print("inside \(region.identifier)")
    case .outside: print("outside \(region.identifier)")
    // Without a fix for half a minute. The state follows once it is known.
    case .unknown: print("not yet known: \(region.identifier)")
    }
  }

  func locationManager(_ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error) {
    print("no monitoring of \(region?.identifier ?? "regions"): \(error.localizedDescription)")
  }
}

guard CLLocationManager.locationServicesEnabled() else {
  print("location services are off")
  exit(69)
}
let guide = Guide()
let words = CommandLine.arguments.dropFirst()
let numbers = words.dropFirst().compactMap { Double($0) }
switch (words.first, numbers.count) {
case ("standard", 0): guide.startStandardUpdates()
case ("significant", 0): guide.startSignificantChangeUpdates()
case ("region", 3):
  guide.registerRegion(
    center: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]), radius: numbers[2], identifier: "home")
default:
  print("usage: LocationGuide standard | significant | region LATITUDE LONGITUDE RADIUS")
  exit(64)
}
RunLoop.main.run()
