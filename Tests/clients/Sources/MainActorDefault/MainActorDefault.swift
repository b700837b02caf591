// SPDX-License-Identifier: Apache-2.0

// A program whose default isolation is the main actor, without any annotation.
import CoreLocation

final class LocationManager: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  var onChange: (() -> Void)?
  private(set) var status: CLAuthorizationStatus = .notDetermined
  private(set) var history: [CLLocation] = [] {
    didSet { onChange?() }
  }

  override init() {
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBestForNavigation
    manager.activityType = .otherNavigation
  }

  func start() {
    switch manager.authorizationStatus {
    case .notDetermined: manager.requestWhenInUseAuthorization()
    case .authorizedWhenInUse, .authorizedAlways: manager.startUpdatingLocation()
    default: break
    }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { status = manager.authorizationStatus }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    history += locations
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print(error.localizedDescription)
  }
}

@main
struct App {
  static func main() async throws {
    let manager = LocationManager()
    manager.start()
    while manager.history.count < 2 {
      await withCheckedContinuation { continuation in
        manager.onChange = {
          manager.onChange = nil
          continuation.resume()
        }
      }
    }
    // After a wait another manager is created on the same actor.
    let second = LocationManager()
    second.start()
    while second.history.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
    print("both are told, status \(second.status.rawValue)")
  }
}
