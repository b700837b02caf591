// SPDX-License-Identifier: Apache-2.0

// Single declarations of the framework, and an import of one of its headers.
import Foundation

import class CoreLocation.CLLocation
import struct CoreLocation.CLLocationCoordinate2D
import func CoreLocation.CLLocationCoordinate2DIsValid
import typealias CoreLocation.CLLocationDegrees

#if canImport(CoreLocation.CLVisit)
  import CoreLocation.CLVisit
#endif

func line(_ coordinate: CLLocationCoordinate2D) -> String {
  let latitude: CLLocationDegrees = coordinate.latitude
  return "\(latitude) \(coordinate.longitude), valid: \(CLLocationCoordinate2DIsValid(coordinate))"
}

let fetcher = Fetcher { location in
  let geocoder: any Geocoding = CLGeocoder()
  geocoder.cancelGeocode()
  print("by its headers", line(location.coordinate), CLVisit.self)
  exit(EXIT_SUCCESS)
}
withExtendedLifetime(fetcher) { RunLoop.main.run() }
