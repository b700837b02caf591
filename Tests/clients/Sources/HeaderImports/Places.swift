// SPDX-License-Identifier: Apache-2.0

// The geocoder by the names of its headers, and single declarations of it.
import CoreLocation.CLGeocoder
import CoreLocation.CLPlacemark

import typealias CoreLocation.CLGeocodeCompletionHandler

/// A geocoder behind a protocol, as programs define it for their tests.
protocol Geocoding {
  func reverseGeocodeLocation(_ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler)
  func cancelGeocode()
}

extension CLGeocoder: Geocoding {}

func address(of placemark: CLPlacemark) -> String {
  [placemark.name, placemark.locality, placemark.administrativeArea, placemark.country].compactMap { $0 }.joined(
    separator: ", ")
}
