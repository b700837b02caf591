// SPDX-License-Identifier: Apache-2.0

// Geofences: a requested state, entries and exits, and a region that cannot be monitored.
import CoreLocation

class GeofenceManager: NSObject {
  static let shared = GeofenceManager()
  let locationManager = CLLocationManager()
  private(set) var log: [String] = []

  private override init() {
    super.init()
    locationManager.delegate = self
    locationManager.allowsBackgroundLocationUpdates = false
  }

  func monitorRegionAtLocation(center: CLLocationCoordinate2D, identifier: String) {
    guard CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self) else { return print("unavailable") }
    let maxDistance = locationManager.maximumRegionMonitoringDistance
    let region = CLCircularRegion(center: center, radius: min(400, maxDistance), identifier: identifier)
    region.notifyOnEntry = true
    region.notifyOnExit = false
    locationManager.startMonitoring(for: region)
    locationManager.requestState(for: region)
  }
}

extension GeofenceManager: CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    print("monitoring \(region.identifier) of \(manager.monitoredRegions.count)")
  }

  func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
    switch state {
    case .inside: print("inside \(region.identifier)")
    case .outside: print("outside \(region.identifier)")
    case .unknown: print("unknown \(region.identifier)")
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let here = locations.first?.coordinate else { return }
    manager.stopUpdatingLocation()
    if let region = manager.monitoredRegions.first(where: { $0.identifier == "here" }) as? CLCircularRegion {
      print("contains: \(region.contains(here))")
      manager.requestState(for: region)
    }
    let far = CLCircularRegion(center: kCLLocationCoordinate2DInvalid, radius: 1e9, identifier: "too large")
    manager.startMonitoring(for: far)
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    let nsError = error as NSError
    print("failed \(region?.identifier ?? "-") \(nsError.domain) \(nsError.code)")
    for region in manager.monitoredRegions { manager.stopMonitoring(for: region) }
    print("left \(manager.monitoredRegions.count)")
    exit(0)
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { print("entered") }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { print("error \(error)") }
}

GeofenceManager.shared.monitorRegionAtLocation(
  center: CLLocationCoordinate2D(latitude: 48.1642, longitude: 11.6056), identifier: "here")
GeofenceManager.shared.locationManager.startUpdatingLocation()
RunLoop.main.run()
