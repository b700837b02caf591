// SPDX-License-Identifier: Apache-2.0

// Requests a location like a function's value, by running the main loop until it is delivered: from a block of the
// main queue, and again inside the delegate's call.
import CoreLocation
import Foundation

final class Place: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private var found: CLLocation?
  private(set) var turns = 0
  var inside: () -> Void = {}

  func fetch() -> CLLocation? {
    manager.delegate = self
    manager.requestLocation()
    while found == nil, RunLoop.current.run(mode: .default, before: .distantFuture) { turns += 1 }
    return found
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    inside()
    found = locations.last
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { print("failed: \(error)") }
}

DispatchQueue.main.async {
  let (first, second) = (Place(), Place())
  var places: [CLLocation?] = []
  first.inside = { places.append(second.fetch()) }
  places.append(first.fetch())
  let isTurned = first.turns > 0 && second.turns > 0
  print("place \(places.compactMap { $0 }.count) of 2, \(isTurned ? "turned" : "at once")")
  exit(0)
}
RunLoop.main.run()
