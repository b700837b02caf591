// SPDX-License-Identifier: Apache-2.0

// main.swift of a program without a run loop: dispatchMain, and a delegate that is a private class with closures.
import CoreLocation
import Dispatch

private final class Delegate: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  var onUpdate: (([CLLocation]) -> Void)?
  var onError: ((any Error) -> Void)?

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    onUpdate?(locations)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { onError?(error) }
}

private let delegate = Delegate()
private let manager = CLLocationManager()
delegate.onUpdate = { locations in
  for location in locations where location.horizontalAccuracy >= 0 && abs(location.timestamp.timeIntervalSinceNow) < 15
  {
    print("at \(location.coordinate.latitude) \(location.coordinate.longitude)")
    manager.stopUpdatingLocation()
    exit(0)
  }
}
delegate.onError = { error in
  switch error {
  case CLError.denied: print("denied")
  case CLError.locationUnknown: print("unknown")
  default: print("code \((error as NSError).code) of \((error as NSError).domain)")
  }
}
manager.delegate = delegate
manager.distanceFilter = kCLDistanceFilterNone
manager.requestAlwaysAuthorization()
if CLLocationManager.locationServicesEnabled() { manager.startUpdatingLocation() }
dispatchMain()
