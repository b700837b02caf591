// SPDX-License-Identifier: Apache-2.0

// Significant changes and visits, both started from one manager; headings if there is a compass.
import CoreLocation

final class Journal: NSObject, CLLocationManagerDelegate {
  let manager: CLLocationManager
  var visits = [CLVisit]()

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.startMonitoringVisits()
    if CLLocationManager.significantLocationChangeMonitoringAvailable() {
      manager.startMonitoringSignificantLocationChanges()
    }
    manager.headingFilter = 5
    manager.headingOrientation = .landscapeLeft
    if CLLocationManager.headingAvailable() { manager.startUpdatingHeading() } else { print("no compass") }
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    visits.append(visit)
    let isThere = visit.departureDate == Date.distantFuture
    print("visit from \(visit.arrivalDate), \(isThere ? "still there" : "until \(visit.departureDate)")")
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations where location.horizontalAccuracy > 0 {
      print(
        "significant \(abs(location.timestamp.timeIntervalSinceNow) < 60), same as \(manager.location == nil ? "none" : "location")"
      )
    }
    manager.stopMonitoringSignificantLocationChanges()
    manager.stopMonitoringVisits()
    exit(0)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    let direction = newHeading.trueHeading > 0 ? newHeading.trueHeading : newHeading.magneticHeading
    print("heading \(direction) \(newHeading.headingAccuracy) \(newHeading.x) \(newHeading.y) \(newHeading.z)")
  }

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { true }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { print(error) }
}

let journal = Journal()
RunLoop.main.run()
