// SPDX-License-Identifier: Apache-2.0

// main.swift with a task at its top level, and a view model of the main actor.
import CoreLocation

@MainActor
final class ViewModel: NSObject {
  private let manager = CLLocationManager()
  private(set) var places: [CLLocation] = []
  private(set) var status = CLAuthorizationStatus.notDetermined

  func start() {
    manager.delegate = self
    manager.requestWhenInUseAuthorization()
    manager.startUpdatingLocation()
  }

  fileprivate func append(_ locations: [CLLocation]) {
    places += locations
    guard let last = places.last else { return }
    print("place \(places.count): \(last.coordinate.latitude) \(last.coordinate.longitude)")
    if places.count >= 2 { exit(0) }
  }
}

extension ViewModel: CLLocationManagerDelegate {
  nonisolated func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    Task { @MainActor in append(locations) }
  }

  nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    MainActor.assumeIsolated { print("status \(status.rawValue)") }
  }

  nonisolated func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    let nsError = error as NSError
    print("error \(nsError.domain) \(nsError.code)")
  }
}

@MainActor
enum Program { static let model = ViewModel() }

Task { @MainActor in Program.model.start() }
RunLoop.main.run()
