// SPDX-License-Identifier: Apache-2.0

// The parts of the framework by the names of their headers, as libraries import them.
import CoreLocation.CLLocation
import CoreLocation.CLLocationManager
import CoreLocation.CLLocationManagerDelegate

final class Fetcher: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let found: (CLLocation) -> Void

  init(found: @escaping (CLLocation) -> Void) {
    self.found = found
    super.init()
    manager.delegate = self
    manager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    if let location = locations.last { found(location) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print(CLError.Code(rawValue: (error as NSError).code) as Any)
    exit(EXIT_FAILURE)
  }
}
