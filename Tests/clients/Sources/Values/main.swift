// SPDX-License-Identifier: Apache-2.0

// Locations and regions as values of a program: copies, archives, sets, distances, descriptions.
import CoreLocation
import Foundation

func check(_ what: String, _ holds: Bool) { if !holds { print("wrong: \(what)") } }

let munich = CLLocationCoordinate2D(latitude: 48.137, longitude: 11.575)
let date = Date(timeIntervalSince1970: 1_700_000_000)
let location = CLLocation(
  coordinate: munich, altitude: 519, horizontalAccuracy: 5, verticalAccuracy: 8, course: 90, courseAccuracy: 3,
  speed: 1.4,
  speedAccuracy: 0.2, timestamp: date,
  sourceInfo: CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false))
let plain = CLLocation(latitude: 52.52, longitude: 13.405)

check("distance", abs(location.distance(from: plain) - 504_000) < 2_000)
check("distance to itself", plain.distance(from: plain) == 0)
check("defaults", plain.altitude == 0 && plain.horizontalAccuracy == 0 && plain.verticalAccuracy == -1)
check("no course", plain.course == -1 && plain.speed == -1 && plain.courseAccuracy == -1 && plain.speedAccuracy == -1)
check("no floor", plain.floor?.level == nil && plain.sourceInformation == nil)
check("source", location.sourceInformation?.isSimulatedBySoftware == true)
check("valid", CLLocationCoordinate2DIsValid(munich) && !CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
check("not a place", !CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: .nan, longitude: 0)))
check("zero", CLLocationCoordinate2D().latitude == 0 && CLLocationCoordinate2DMake(1, 2).longitude == 2)

let copy = location.copy() as! CLLocation
check("a copy's values", copy.timestamp == date && copy.coordinate.latitude == munich.latitude && copy.speed == 1.4)
let data = try NSKeyedArchiver.archivedData(withRootObject: location, requiringSecureCoding: true)
let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data)!
check("an archive", decoded.coordinate.longitude == 11.575 && decoded.courseAccuracy == 3 && decoded.timestamp == date)
check("an archive's source", decoded.sourceInformation?.isSimulatedBySoftware == true)
check(
  "description",
  location.description.hasPrefix("<+48.13700000,+11.57500000> +/- 5.00m (speed 1.40 mps / course 90.00) @ "))
check("a set", Set([location, plain, location]).count == 2)

let a = CLCircularRegion(center: munich, radius: 100, identifier: "a")
let same = CLCircularRegion(center: plain.coordinate, radius: 5, identifier: "a")
check("regions by identifier", a == same && a.hash == same.hash && Set<CLRegion>([a, same]).count == 1)
check("contains", a.contains(munich) && !a.contains(plain.coordinate))
let regions = try NSKeyedArchiver.archivedData(withRootObject: [a] as NSArray, requiringSecureCoding: true)
let back = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, CLCircularRegion.self], from: regions)
check("an archive of regions", (back as? [CLCircularRegion])?.first?.radius == 100)

let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!
let beacon = CLBeaconRegion(uuid: uuid, major: 5, identifier: "shop")
check("beacon region", beacon.major?.intValue == 5 && beacon.minor == nil && beacon.uuid == uuid)
let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: 5)
check("constraints by value", constraint == beacon.beaconIdentityConstraint && constraint.minor == nil)
let advertisement = beacon.peripheralData(withMeasuredPower: nil)
check("an advertisement", advertisement.count > 0)

struct Place: Codable {
  var name: String
  var latitude: CLLocationDegrees
  var longitude: CLLocationDegrees
  var coordinate: CLLocationCoordinate2D { .init(latitude: latitude, longitude: longitude) }
}
let place = try JSONDecoder().decode(Place.self, from: Data(#"{"name":"M","latitude":48.1,"longitude":11.5}"#.utf8))
check("a place", place.coordinate.latitude == 48.1)
let sorted = [plain, location].sorted { $0.distance(from: location) < $1.distance(from: location) }
check("sorted", sorted.first === location)
check(
  "accuracies",
  [kCLLocationAccuracyBest, kCLLocationAccuracyNearestTenMeters, kCLLocationAccuracyKilometer] == [-1, 10, 1000])
print("values are as they should be")
