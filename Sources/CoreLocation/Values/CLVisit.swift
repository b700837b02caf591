// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// A stay of the device at a place.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let place: CLLocationCoordinate2D
  private let radius: CLLocationAccuracy
  private let arrival: Date
  private let departure: Date

  /// Makes an empty object, for mocks in tests, which override what they need.
  public override init() {
    place = CLLocationCoordinate2D()
    radius = 0
    arrival = .distantPast
    departure = .distantFuture
  }

  init(_ content: Visit) {
    place = CLLocationCoordinate2D(content.coordinate)
    radius = content.horizontalAccuracyMetres
    arrival = content.arrival.map { Date($0) } ?? .distantPast
    departure = content.departure.map { Date($0) } ?? .distantFuture
  }

  /// `distantPast` if the visit began before the monitoring.
  open var arrivalDate: Date { arrival }
  /// `distantFuture` while the device is there.
  open var departureDate: Date { departure }
  open var coordinate: CLLocationCoordinate2D { place }
  /// The radius of the place, metres.
  open var horizontalAccuracy: CLLocationAccuracy { radius }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }

  open func encode(with coder: NSCoder) {
    coder.encode(place.latitude, forKey: "CLVisit.latitude")
    coder.encode(place.longitude, forKey: "CLVisit.longitude")
    coder.encode(radius, forKey: "CLVisit.horizontalAccuracy")
    coder.encode(arrival.timeIntervalSinceReferenceDate, forKey: "CLVisit.arrivalDate")
    coder.encode(departure.timeIntervalSinceReferenceDate, forKey: "CLVisit.departureDate")
  }

  public required init?(coder: NSCoder) {
    place = CLLocationCoordinate2D(
      latitude: coder.decodeDouble(forKey: "CLVisit.latitude"),
      longitude: coder.decodeDouble(forKey: "CLVisit.longitude"))
    radius = coder.decodeDouble(forKey: "CLVisit.horizontalAccuracy")
    arrival = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "CLVisit.arrivalDate"))
    departure = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "CLVisit.departureDate"))
  }
}
