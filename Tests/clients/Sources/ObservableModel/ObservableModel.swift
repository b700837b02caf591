// SPDX-License-Identifier: Apache-2.0

// A model that views would observe, on the main actor, with an isolated conformance.
import CoreLocation
import Observation

@MainActor
@Observable
final class LocationModel: NSObject {
  var location: CLLocation?
  var authorization: CLAuthorizationStatus
  var isUpdating = false
  var lastError: (any Error)?

  @ObservationIgnored private let manager: CLLocationManager

  override init() {
    manager = CLLocationManager()
    authorization = manager.authorizationStatus
    super.init()
    manager.delegate = self
  }

  func toggle() {
    isUpdating.toggle()
    if isUpdating { manager.startUpdatingLocation() } else { manager.stopUpdatingLocation() }
  }
}

extension LocationModel: @MainActor CLLocationManagerDelegate {
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    authorization = manager.authorizationStatus
    if authorization == .notDetermined { manager.requestWhenInUseAuthorization() }
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    location = locations.last
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { lastError = error }
}

@main
struct Main {
  @MainActor
  static func main() async {
    let model = LocationModel()
    model.toggle()
    let isReported = await withCheckedContinuation { continuation in
      Task { @MainActor in
        withObservationTracking {
          _ = model.location
        } onChange: {
          continuation.resume(returning: true)
        }
      }
    }
    model.toggle()
    print("observed \(isReported), updating \(model.isUpdating)")
  }
}
