// SPDX-License-Identifier: Apache-2.0

// A geofence in the order of the document about region monitoring: permission is requested, and the region is started before
// the user has answered.
//
//     Geofence LATITUDE LONGITUDE RADIUS
import CoreLocation

final class GeofenceController: NSObject, CLLocationManagerDelegate {
  private let locationManager = CLLocationManager()

  func monitorRegion(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    locationManager.delegate = self
    locationManager.requestAlwaysAuthorization()
    guard CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self) else {
      print("monitoring is not available")
      return
    }
    let maxDistance = locationManager.maximumRegionMonitoringDistance
    let region = CLCircularRegion(center: center, radius: min(radius, maxDistance), identifier: identifier)
    region.notifyOnEntry = true
    region.notifyOnExit = true
    locationManager.startMonitoring(for: region)
    print("registered \(locationManager.monitoredRegions.map(\.identifier))")
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .notDetermined: print("the user has not answered")
    case .authorizedAlways: print("always")
    case .authorizedWhenInUse: print("while in use")
    case .denied, .restricted: print("refused")
    @unknown default: break
    }
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    print("monitoring \(region.identifier)")
    manager.requestState(for: region)
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    print("entered \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    print("left \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
    print("\(region.identifier): \(state == .inside ? "inside" : state == .outside ? "outside" : "unknown")")
  }

  func locationManager(_ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error) {
    print("no monitoring of \(region?.identifier ?? "regions"): error \((error as NSError).code)")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("error \((error as NSError).code)")
  }
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Double($0) }
guard numbers.count == 3 else {
  print("Geofence LATITUDE LONGITUDE RADIUS")
  exit(64)
}
let controller = GeofenceController()
controller.monitorRegion(
  center: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]), radius: numbers[2], identifier: "home")
RunLoop.main.run()
