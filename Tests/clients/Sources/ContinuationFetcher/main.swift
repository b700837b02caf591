// SPDX-License-Identifier: Apache-2.0

// A location in one await: a continuation around requestLocation, and a limit of time in a task group.
import CoreLocation
import Foundation

@MainActor
final class LocationFetcher: NSObject {
  enum Failure: Error { case notAuthorized, timedOut }

  private lazy var manager: CLLocationManager = {
    let manager = CLLocationManager()
    manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
    manager.delegate = self
    return manager
  }()
  private var continuation: CheckedContinuation<CLLocation, any Error>?

  func currentLocation() async throws -> CLLocation {
    if manager.authorizationStatus == .denied { throw Failure.notAuthorized }
    return try await withCheckedThrowingContinuation { continuation in
      self.continuation = continuation
      manager.requestLocation()
    }
  }

  private func finish(_ result: Result<CLLocation, any Error>) {
    continuation?.resume(with: result)
    continuation = nil
  }
}

extension LocationFetcher: @preconcurrency CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    if let location = locations.last { finish(.success(location)) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    finish(.failure(error))
  }
}

func fetch(within limit: Duration) async throws -> CLLocation {
  try await withThrowingTaskGroup(of: CLLocation.self) { group in
    group.addTask { try await LocationFetcher().currentLocation() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw LocationFetcher.Failure.timedOut
    }
    let first = try await group.next()!
    group.cancelAll()
    return first
  }
}

let location = try await fetch(within: .seconds(30))
print(String(format: "fetched %.2f %.2f", location.coordinate.latitude, location.coordinate.longitude))
