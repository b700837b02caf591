// SPDX-License-Identifier: Apache-2.0

// "Where you at?": the view controller of the iPhone OS 2 example, with the terminal as its text view. It uses the
// delegate's method of that time, which takes a location and the previous one.
import CoreLocation

/// A text view that prints its text at each change.
final class TextView {
  var text = "" {
    didSet { print(text) }
  }
}

final class WhereYouAtViewController: NSObject, CLLocationManagerDelegate {
  private let textView = TextView()
  private let gps = CLLocationManager()

  func viewDidLoad() {
    textView.text = "Where you at? ..."
    gps.delegate = self
    gps.desiredAccuracy = kCLLocationAccuracyBest
    gps.distanceFilter = kCLDistanceFilterNone
    gps.startUpdatingLocation()
  }

  func locationManager(
    _ locationManager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    textView.text = """
      You now at...

      Description: \(newLocation.description)
      Coordinates: \(newLocation.coordinate.latitude), \(newLocation.coordinate.longitude)
      Altitude: \(newLocation.altitude)
      Updated: \(newLocation.timestamp)

      """
  }

  func locationManager(_ locationManager: CLLocationManager, didFailWithError error: Error) {
    textView.text = "No idea: \(error.localizedDescription)"
  }
}

let viewController = WhereYouAtViewController()
viewController.viewDidLoad()
RunLoop.main.run()
