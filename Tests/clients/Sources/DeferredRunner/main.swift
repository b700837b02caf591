// SPDX-License-Identifier: Apache-2.0

// A hike that requests deferral at each delivery, as in the guide of 2016.
import CoreLocation

class HikeTracker: NSObject, CLLocationManagerDelegate {
  var deferringUpdates = false
  var hikeLocations: [CLLocation] = []
  lazy var locationManager: CLLocationManager! = {
    let manager = CLLocationManager()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = kCLDistanceFilterNone
    manager.activityType = .fitness
    return manager
  }()

  func start() { locationManager.startUpdatingLocation() }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    hikeLocations.append(contentsOf: locations)
    if !deferringUpdates {
      manager.allowDeferredLocationUpdates(untilTraveled: 1000, timeout: 3)
      deferringUpdates = true
    }
  }

  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?) {
    deferringUpdates = false
    guard let error = error as? CLError else {
      print("deferral over after \(hikeLocations.count >= 3 ? "some" : "too few") locations")
      manager.distanceFilter = 10
      manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: CLTimeIntervalMax)
      return
    }
    switch error.code {
    case .deferredDistanceFiltered: print("deferral refused: distance filter")
    case .deferredAccuracyTooLow, .deferredFailed, .deferredNotUpdatingLocation, .deferredCanceled:
      print("deferral failed: \(error.errorCode)")
    default: print("another error")
    }
    exit(0)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {}
}

let tracker = HikeTracker()
tracker.start()
RunLoop.current.run()
