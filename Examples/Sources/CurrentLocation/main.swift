// SPDX-License-Identifier: Apache-2.0

// The tutorial's one-shot: permission first, then one location. The request waits for the answer, which the delegate
// receives. The labels are lines.
import CoreLocation

final class ViewController: NSObject {
  let locationManager = CLLocationManager()

  func viewDidLoad() {
    locationManager.delegate = self
    locationManager.desiredAccuracy = kCLLocationAccuracyHundredMeters
  }

  func getCurrentLocationTapped() { retrieveCurrentLocation() }

  func retrieveCurrentLocation() {
    let status = CLLocationManager.authorizationStatus()
    if status == .denied || status == .restricted || !CLLocationManager.locationServicesEnabled() {
      print("allow location data for this program, please")
      exit(77)
    }
    if status == .notDetermined {
      locationManager.requestWhenInUseAuthorization()
      return
    }
    locationManager.requestLocation()
  }
}

extension ViewController: CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
    print("location manager authorization status changed")
    switch status {
    case .authorizedAlways: print("allowed in the foreground and in the background")
    case .authorizedWhenInUse: print("allowed in the foreground")
    case .denied: print("refused")
    case .restricted: print("not the user's to allow")
    case .notDetermined: print("no permission was requested yet")
    }
    if status == .authorizedWhenInUse || status == .authorizedAlways { manager.requestLocation() }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    // requestLocation() delivers one location.
    guard let location = locations.first else { return }
    print("latitude \(location.coordinate.latitude)")
    print("longitude \(location.coordinate.longitude)")
    exit(0)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("no location: \(error.localizedDescription)")
    exit(69)
  }
}

let viewController = ViewController()
viewController.viewDidLoad()
viewController.getCurrentLocationTapped()
RunLoop.main.run()
