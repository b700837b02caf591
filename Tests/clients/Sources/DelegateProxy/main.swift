// A delegate that passes on what it hears, by calls of optional methods.
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
  /// Many classes have their manager under the name that the methods have.
  let locationManager = CLLocationManager()
  var heard: [String] = []

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    heard.append("\(locations.count) location, its own manager: \(manager === locationManager)")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { heard.append("error") }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { heard.append("authorization") }
}

let listener = Listener()
let proxy = Proxy()
proxy.next = listener
let told: CLLocationManagerDelegate? = proxy
told?.locationManager?(listener.locationManager, didUpdateLocations: [CLLocation(latitude: 1, longitude: 2)])
told?.locationManager?(listener.locationManager, didFailWithError: CLError(.network))
told?.locationManagerDidChangeAuthorization?(listener.locationManager)
let calibrates = told?.locationManagerShouldDisplayHeadingCalibration?(listener.locationManager)
print("heard \(listener.heard), calibrates: \(calibrates as Any)")
