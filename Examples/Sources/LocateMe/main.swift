// SPDX-License-Identifier: Apache-2.0

// The sequence of iOS 8: create, delegate, request, start, wait. If the user refuses, the program prints where to
// change the answer.
import CoreLocation

final class ViewController: NSObject, CLLocationManagerDelegate {
  private let locationManager = CLLocationManager()

  func viewDidLoad() {
    locationManager.delegate = self
    requestAlwaysAuthorization()
    locationManager.startUpdatingLocation()
  }

  func requestAlwaysAuthorization() {
    switch CLLocationManager.authorizationStatus() {
    case .denied: print("Location services are off for this program: see `sextant authorize`")
    case .authorizedWhenInUse: print("Background location is not enabled: see `sextant authorize`")
    case .notDetermined: locationManager.requestAlwaysAuthorization()
    default: break
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    if let location = locations.last { print(location) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("error \((error as NSError).code)")
  }
}

let viewController = ViewController()
viewController.viewDidLoad()
RunLoop.main.run()
