// SPDX-License-Identifier: Apache-2.0

// One location by requestLocation(), as in the document about the current location: permission is requested, and the error is
// handled where the location would be.
//
//     OneLocation [unasked]
//
// With `unasked` the request for permission is left out.
import CoreLocation

final class Fetcher: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()

  func fetch(asksFirst: Bool) {
    manager.delegate = self
    if asksFirst { manager.requestWhenInUseAuthorization() }
    manager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let location = locations.first else { return }
    print("latitude \(location.coordinate.latitude)")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    switch (error as? CLError)?.code {
    case .denied?: print("failed: denied")
    case .locationUnknown?: print("failed: unknown")
    default: print("failed: \(error)")
    }
  }
}

let fetcher = Fetcher()
fetcher.fetch(asksFirst: CommandLine.arguments.last != "unasked")
RunLoop.main.run()
