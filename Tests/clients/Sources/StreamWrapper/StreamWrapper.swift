// SPDX-License-Identifier: Apache-2.0

// The delegate as an asynchronous stream, which starts and stops the updates with its consumer.
import CoreLocation

final class LocationStream: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  private let manager = CLLocationManager()
  private var continuation: AsyncThrowingStream<CLLocation, any Error>.Continuation?

  override init() {
    super.init()
    manager.delegate = self
    manager.activityType = .fitness
    manager.pausesLocationUpdatesAutomatically = false
  }

  var locations: AsyncThrowingStream<CLLocation, any Error> {
    AsyncThrowingStream { continuation in
      self.continuation = continuation
      continuation.onTermination = { [weak self] _ in self?.manager.stopUpdatingLocation() }
      manager.startUpdatingLocation()
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    locations.forEach { continuation?.yield($0) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    guard (error as? CLError)?.code != .locationUnknown else { return }
    continuation?.finish(throwing: error)
  }
}

@main
struct App {
  @MainActor
  static func main() async {
    let stream = LocationStream()
    var count = 0
    var travelled = 0.0
    var last: CLLocation?
    do {
      for try await location in stream.locations {
        if let last { travelled += location.distance(from: last) }
        last = location
        count += 1
        if count == 3 { break }
      }
      print("streamed \(count), \(travelled < 20 ? "as far as one walks" : "too far: \(travelled)")")
    } catch {
      print("failed: \(error)")
    }
  }
}
