// SPDX-License-Identifier: Apache-2.0

// The query class of the iPhone OS 2 example: it creates a manager, is its delegate, logs the calls, and stops. Here
// it stops after five updates.
import CoreLocation

final class MyCLQuery: NSObject, CLLocationManagerDelegate {
  private var manager: CLLocationManager?
  private var updates = 0

  func startQuery() {
    let manager = CLLocationManager()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = kCLDistanceFilterNone
    NSLog("Core Location updates started")
    manager.startUpdatingLocation()
    self.manager = manager
  }

  func stopQuery() {
    manager?.stopUpdatingLocation()
    manager = nil
    NSLog("Core Location updates stopped")
    exit(0)
  }

  func locationManager(
    _ locationManager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    NSLog("Old Coordinates: %+.6f, %+.6f", oldLocation.coordinate.latitude, oldLocation.coordinate.longitude)
    NSLog("New Coordinates: %+.6f, %+.6f", newLocation.coordinate.latitude, newLocation.coordinate.longitude)
    NSLog("Altitude: %.6f", newLocation.altitude)
    NSLog("Description: %@", newLocation.description)
    NSLog("Notification age: %.4f", newLocation.timestamp.timeIntervalSinceNow)
    updates += 1
    if updates == 5 { stopQuery() }
  }

  func locationManager(_ locationManager: CLLocationManager, didFailWithError error: Error) {
    NSLog("Core Location failed with error: %ld", (error as NSError).code)
  }
}

let query = MyCLQuery()
query.startQuery()
RunLoop.main.run()
