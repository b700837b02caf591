// SPDX-License-Identifier: Apache-2.0

// Prints the address of the current location, as command line tools do. With arguments it prints the addresses of
// coordinates, or the coordinates of addresses, one after the other:
//
//     WhereAmI
//     WhereAmI at 48.137,11.575 48.40,11.75
//     WhereAmI find "Freising, Germany"
import CoreLocation

final class WhereAmI: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let geocoder = CLGeocoder()
  private var failures: Int32 = 0

  func locate() {
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
    manager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let location = locations.last else { return }
    print("location \(text(location.coordinate))")
    address(of: [location][...])
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("no location: \(error.localizedDescription)")
    exit(1)
  }

  func address(of locations: ArraySlice<CLLocation>) {
    guard let location = locations.first else { exit(failures) }
    geocoder.reverseGeocodeLocation(location) { placemarks, error in
      self.show(placemarks, error)
      self.address(of: locations.dropFirst())
    }
  }

  func find(_ addresses: ArraySlice<String>) {
    guard let address = addresses.first else { exit(failures) }
    geocoder.geocodeAddressString(address) { placemarks, error in
      self.show(placemarks, error)
      self.find(addresses.dropFirst())
    }
  }

  private func show(_ placemarks: [CLPlacemark]?, _ error: Error?) {
    for placemark in placemarks ?? [] {
      let parts = [
        placemark.name, placemark.thoroughfare, placemark.subThoroughfare, placemark.postalCode, placemark.locality,
        placemark.administrativeArea, placemark.country, placemark.isoCountryCode,
      ]
      let coordinate = placemark.location.map { text($0.coordinate) } ?? "-"
      print("\(coordinate) \(parts.map { $0 ?? "-" }.joined(separator: "|"))")
    }
    if let error = error as? CLError {
      print("error \(error.code.rawValue)")
      failures = 1
    }
  }

  private func text(_ coordinate: CLLocationCoordinate2D) -> String {
    String(format: "%.4f,%.4f", coordinate.latitude, coordinate.longitude)
  }
}

let program = WhereAmI()
let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "at":
  program.address(
    of: arguments.dropFirst().map { argument in
      let numbers = argument.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 2 else { fatalError("not a coordinate: \(argument)") }
      return CLLocation(latitude: numbers[0], longitude: numbers[1])
    }[...])
case "find": program.find(arguments.dropFirst())
default: program.locate()
}
RunLoop.main.run()
