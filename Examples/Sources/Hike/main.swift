// SPDX-License-Identifier: Apache-2.0

// The hiking program of the location guide: it defers updates until the goal is reached or the next announcement is
// due, and defers again after each delivery. In the foreground each location is delivered at once; in the background
// (SEXTANT_APP_STATE, or a background job) the locations are collected and delivered as one array.
//
//     Hike [GOAL-METRES [SECONDS-BETWEEN-SPOKEN-WORDS]]
import CoreLocation

/// The path so far and its length.
final class Hike {
  let goal: CLLocationDistance
  private(set) var distance: CLLocationDistance = 0
  private(set) var locations: [CLLocation] = []

  init(goal: CLLocationDistance) { self.goal = goal }

  func addLocations(_ new: [CLLocation]) {
    for location in new {
      if let last = locations.last { distance += location.distance(from: last) }
      locations.append(location)
    }
  }
}

final class Hiker: NSObject, CLLocationManagerDelegate {
  private let locationManager = CLLocationManager()
  private let hike: Hike
  private let secondsBetweenWords: TimeInterval
  private var nextAudible: Date
  private var deferringUpdates = false

  init(goal: CLLocationDistance, secondsBetweenWords: TimeInterval) {
    hike = Hike(goal: goal)
    self.secondsBetweenWords = secondsBetweenWords
    nextAudible = Date(timeIntervalSinceNow: secondsBetweenWords)
  }

  func start() {
    locationManager.delegate = self
    locationManager.activityType = .fitness
    locationManager.desiredAccuracy = kCLLocationAccuracyBest
    locationManager.distanceFilter = kCLDistanceFilterNone
    locationManager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    hike.addLocations(locations)
    print("locations \(locations.count), walked \(Int(hike.distance)) m of \(Int(hike.goal)) m")
    guard !deferringUpdates else { return }
    nextAudible = Date(timeIntervalSinceNow: secondsBetweenWords)
    let distance = hike.goal - hike.distance
    manager.allowDeferredLocationUpdates(untilTraveled: distance, timeout: nextAudible.timeIntervalSinceNow)
    deferringUpdates = true
  }

  func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?) {
    deferringUpdates = false
    if let error {
      print("deferral ended: \(error.localizedDescription)")
    } else {
      print("deferral ended as planned")
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("error \((error as NSError).code): \(error.localizedDescription)")
  }
}

guard CLLocationManager.deferredLocationUpdatesAvailable() else {
  print("updates cannot be deferred: there is no satellite receiver")
  exit(69)
}
let numbers = CommandLine.arguments.dropFirst().compactMap { Double($0) }
let hiker = Hiker(goal: numbers.first ?? 5000, secondsBetweenWords: numbers.dropFirst().first ?? 60)
hiker.start()
RunLoop.main.run()
