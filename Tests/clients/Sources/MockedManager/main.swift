// SPDX-License-Identifier: Apache-2.0

// A class that is tested with a replacement of its manager: protocols, subclasses, constructed locations.
import CoreLocation

protocol LocationProviding: AnyObject {
  var delegate: CLLocationManagerDelegate? { get set }
  var location: CLLocation? { get }
  var desiredAccuracy: CLLocationAccuracy { get set }
  func startUpdatingLocation()
  func stopUpdatingLocation()
  func requestWhenInUseAuthorization()
}
extension CLLocationManager: LocationProviding {}

final class MockManager: CLLocationManager {
  var isStarted = false
  override var location: CLLocation? { CLLocation(latitude: 1, longitude: 2) }
  override var authorizationStatus: CLAuthorizationStatus { .authorizedWhenInUse }
  override func startUpdatingLocation() {
    isStarted = true
    delegate?.locationManager(self, didUpdateLocations: [CLLocation(latitude: 3, longitude: 4)])
    delegate?.locationManager(self, didFailWithError: CLError(.locationUnknown))
  }
  override func stopUpdatingLocation() { isStarted = false }
}

class FakeLocation: CLLocation, @unchecked Sendable {
  override var speed: CLLocationSpeed { 7 }
}

/// A type of an old interface, and a place that no geocoder found.
final class FakePlacemark: CLPlacemark, @unchecked Sendable {
  var isShown: DarwinBoolean = false
  override var name: String? { isShown.boolValue ? "here" : nil }
  override init() { super.init() }
  required init?(coder: NSCoder) { super.init(coder: coder) }
}

class BaseController: NSObject, CLLocationManagerDelegate {
  var provider: LocationProviding
  var received: [CLLocation] = []
  var errors = 0
  init(provider: LocationProviding) {
    self.provider = provider
    super.init()
    self.provider.delegate = self
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    received += locations
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) { errors += 1 }
}

final class Controller: BaseController {
  override func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    super.locationManager(manager, didUpdateLocations: locations + [FakeLocation(latitude: 5, longitude: 6)])
  }
}

let mock = MockManager()
let controller = Controller(provider: mock)
controller.provider.startUpdatingLocation()
print(
  "received \(controller.received.map(\.speed)), errors \(controller.errors), at \(mock.location!.coordinate.latitude)")
controller.provider.stopUpdatingLocation()
let placemark = FakePlacemark()
placemark.isShown = true
print("started: \(mock.isStarted), \(placemark.name!), \(CLError(_nsError: CLError(.denied) as NSError).code)")
