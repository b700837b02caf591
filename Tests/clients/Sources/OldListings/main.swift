// SPDX-License-Identifier: Apache-2.0

// The names that programs written up to iOS 12 use: they compile without a warning.
import CoreLocation

final class OldClient: NSObject, CLLocationManagerDelegate {
  let manager = CLLocationManager()
  let area = CLBeaconRegion(proximityUUID: UUID(), major: 1, minor: 2, identifier: "shop")

  func start() {
    manager.delegate = self
    if manager.headingAvailable { manager.startUpdatingHeading() }
    if CLLocationManager.authorizationStatus() == .authorized, CLLocationManager.regionMonitoringAvailable() {
      let region = CLRegion(
        circularRegionWithCenter: CLLocationCoordinate2DMake(48, 11),
        radius: min(500, manager.maximumRegionMonitoringDistance), identifier: "home")
      print("region \(region.identifier) \(region.center.latitude) \(region.radius)")
      manager.startMonitoring(for: region)
    }
    if CLLocationManager.isRangingAvailable() {
      manager.startRangingBeacons(in: area)
      print("ranged \(manager.rangedRegions.count), \(area.proximityUUID)")
    }
    manager.startUpdatingLocation()
    if CLLocationManager.deferredLocationUpdatesAvailable() {
      manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: 5)
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation)
  {
    print("from \(oldLocation.coordinate.latitude) to \(newLocation.coordinate.latitude)")
    manager.disallowDeferredLocationUpdates()
    manager.stopUpdatingLocation()
    exit(0)
  }

  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    // Five cases and no default, as in the tutorials.
    switch status {
    case .notDetermined: print("no permission was requested")
    case .restricted: print("restricted")
    case .denied: print("denied")
    case .authorizedAlways: print("always")
    case .authorizedWhenInUse: print("when in use")
    }
  }

  func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion) {
    print(beacons.map(\.proximityUUID))
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { print(error._code) }
}

let client = OldClient()
client.start()
RunLoop.current.run()
