import CoreLocation
import Foundation
import Testing

@Suite("Values")
struct ValueTests {
  @Test("A location of two numbers has the documented rest")
  func defaults() {
    let location = CLLocation(latitude: 1, longitude: 2)
    #expect(location.horizontalAccuracy == 0 && location.altitude == 0)
    #expect(location.verticalAccuracy == -1 && location.course == -1 && location.speed == -1)
    #expect(location.courseAccuracy == -1 && location.speedAccuracy == -1)
    #expect(location.floor == nil && location.sourceInformation == nil)
  }

  @Test("DA-4 distances follow the earth's curvature")
  func distance() {
    let origin = CLLocation(latitude: 0, longitude: 0)
    #expect(abs(origin.distance(from: CLLocation(latitude: 0, longitude: 1)) - 111_319.491) < 0.001)
    #expect(abs(origin.distance(from: CLLocation(latitude: 1, longitude: 0)) - 110_574.389) < 0.001)
    #expect(origin.distance(from: origin) == 0)
  }

  @Test("DA-5 locations are the same if they are the same object")
  func identity() {
    let one = CLLocation(latitude: 1, longitude: 2)
    let other = CLLocation(latitude: 1, longitude: 2)
    #expect(one != other && one == one)
    #expect(one.copy() as? CLLocation != nil)
  }

  @Test("DA-1, DA-3 descriptions")
  func descriptions() {
    #expect(
      CLLocation(latitude: 48, longitude: -11.5).description.hasPrefix(
        "<+48.00000000,-11.50000000> +/- 0.00m (speed -1.00 mps / course -1.00) @ "))
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2DMake(48, -11.5), radius: 100, identifier: "home")
    #expect(
      circle.description
        == "CLCircularRegion (identifier:'home', center:<+48.00000000,-11.50000000>, radius:100.00m)")
  }

  private func recoded<Value: NSObject & NSSecureCoding>(_ value: Value) throws -> Value {
    let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
  }

  @Test("DA-6 a location survives coding, to the last digit")
  func coding() throws {
    let location = CLLocation(
      coordinate: CLLocationCoordinate2D(latitude: 0.1 + 0.2, longitude: -11.5), altitude: -3, horizontalAccuracy: 2.5,
      verticalAccuracy: 4, course: 359, courseAccuracy: 5, speed: 6, speedAccuracy: 7,
      timestamp: Date(timeIntervalSince1970: 1_780_000_000.125),
      sourceInfo: CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false))
    let copy = try recoded(location)
    #expect(copy.coordinate.latitude == 0.1 + 0.2 && copy.coordinate.longitude == -11.5)
    #expect(copy.altitude == -3 && copy.horizontalAccuracy == 2.5 && copy.verticalAccuracy == 4)
    #expect(copy.course == 359 && copy.courseAccuracy == 5 && copy.speed == 6 && copy.speedAccuracy == 7)
    #expect(copy.timestamp == location.timestamp)
    #expect(copy.sourceInformation?.isSimulatedBySoftware == true)
  }

  @Test("DA-6 regions survive coding")
  func codedRegions() throws {
    let circle = CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "a")
    circle.notifyOnExit = false
    let copy = try recoded(circle)
    #expect(
      copy == circle && copy.center.longitude == 2 && copy.radius == 3 && !copy.notifyOnExit && copy.notifyOnEntry)
    let uuid = try #require(UUID(uuidString: "FEDCBA98-7654-3210-0123-456789ABCDEF"))
    let beacons = try recoded(CLBeaconRegion(uuid: uuid, major: 7, identifier: "b"))
    #expect(beacons.uuid == uuid && beacons.major == 7 && beacons.minor == nil)
  }

  @Test("RG-2 a region is its identifier, within its kind")
  func regions() throws {
    let circle = CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "a")
    let other = CLCircularRegion(center: CLLocationCoordinate2DMake(4, 5), radius: 6, identifier: "a")
    let beacons = CLBeaconRegion(uuid: UUID(), identifier: "a")
    #expect(circle == other && circle.hash == other.hash && circle != beacons)
    #expect(Set<CLRegion>([circle, other, beacons]).count == 2)
    #expect(circle.contains(circle.center) && !circle.contains(other.center))
  }

  @Test("ER-1, ER-2, ER-3 errors are caught by their codes")
  func errors() {
    let error: any Error = CLError(.denied)
    #expect((error as NSError).domain == kCLErrorDomain && (error as NSError).code == 1)
    #expect((error as? CLError)?.code == .denied)
    #expect(!error.localizedDescription.isEmpty)
    var isCaught = false
    do { throw error } catch CLError.denied { isCaught = true } catch {}
    #expect(isCaught)
    if case CLError.locationUnknown = error { Issue.record("another code") }
  }

  @Test("What is no coordinate")
  func validity() {
    #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(-90, 180)))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(.nan, 0)))
  }
}
