// SPDX-License-Identifier: Apache-2.0

// main.swift of a program of the usual form: a class that is its own delegate, and the main run loop.
import CoreLocation

final class Finder: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private var completion: ((Result<CLLocation, Error>) -> Void)?

  override init() {
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
  }

  func find(_ completion: @escaping (Result<CLLocation, Error>) -> Void) {
    self.completion = completion
    switch manager.authorizationStatus {
    case .notDetermined: manager.requestWhenInUseAuthorization()
    case .authorizedAlways, .authorizedWhenInUse: manager.requestLocation()
    case .denied, .restricted: completion(.failure(CLError(.denied)))
    @unknown default: break
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let location = locations.last else { return }
    completion?(.success(location))
    completion = nil
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    if let error = error as? CLError, error.code == .locationUnknown { return }
    completion?(.failure(error))
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    if manager.authorizationStatus == .authorizedWhenInUse, completion != nil { manager.requestLocation() }
  }
}

extension CLLocationCoordinate2D: @retroactive Equatable {
  public static func == (a: CLLocationCoordinate2D, b: CLLocationCoordinate2D) -> Bool {
    a.latitude == b.latitude && a.longitude == b.longitude
  }
}

extension CLLocationCoordinate2D: @retroactive CustomStringConvertible {
  public var description: String { String(format: "%.4f, %.4f", latitude, longitude) }
}

let finder = Finder()
finder.find { result in
  switch result {
  case .success(let location):
    print("found \(location.coordinate), equal to itself: \(location.coordinate == location.coordinate)")
    exit(0)
  case .failure(let error):
    print("failed: \(error.localizedDescription)")
    exit(1)
  }
}
RunLoop.main.run()
