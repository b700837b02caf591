// SPDX-License-Identifier: Apache-2.0

// A delegate that forwards its calls as optional methods.
import CoreLocation

final class Proxy: NSObject, CLLocationManagerDelegate {
  weak var next: CLLocationManagerDelegate?

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    next?.locationManager?(manager, didUpdateLocations: locations)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    next?.locationManager?(manager, didFailWithError: error)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    next?.locationManagerDidChangeAuthorization?(manager)
  }

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    next?.locationManagerShouldDisplayHeadingCalibration?(manager) ?? true
  }
}

final class Listener: NSObject, CLLocationManagerDelegate {
  /// Many classes store their manager under the name of the methods' first word.
  let locationManager = CLLocationManager()
  var received: [String] = []

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    received.append("\(locations.count) location, its own manager: \(manager === locationManager)")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { received.append("error") }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { received.append("authorization") }
}

let listener = Listener()
let proxy = Proxy()
proxy.next = listener
let delegate: CLLocationManagerDelegate? = proxy
delegate?.locationManager?(listener.locationManager, didUpdateLocations: [CLLocation(latitude: 1, longitude: 2)])
delegate?.locationManager?(listener.locationManager, didFailWithError: CLError(.network))
delegate?.locationManagerDidChangeAuthorization?(listener.locationManager)
let calibrates = delegate?.locationManagerShouldDisplayHeadingCalibration?(listener.locationManager)
print("heard \(listener.received), calibrates: \(calibrates as Any)")
