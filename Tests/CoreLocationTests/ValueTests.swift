// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@Suite("Values")
struct ValueTests {
  @Test("A location of two numbers has the documented defaults")
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

  @Test("DA-1 DA-3 descriptions")
  func descriptions() {
    #expect(
      CLLocation(latitude: 48, longitude: -11.5).description.hasPrefix(
        "<+48.00000000,-11.50000000> +/- 0.00m (speed -1.00 mps / course -1.00) @ "))
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2DMake(48, -11.5), radius: 100, identifier: "home")
    #expect(
      circle.description
        == "CLCircularRegion (identifier:'home', center:<+48.00000000,-11.50000000>, radius:100.00m)")
    let uuid = UUID()
    #expect(
      CLBeaconRegion(uuid: uuid, major: 7, identifier: "shop").description
        == "CLBeaconRegion (identifier:'shop', uuid:\(uuid.uuidString), major:7, minor:(null))")
    let beacon = CLBeacon()
    #expect(beacon.description.hasPrefix("CLBeacon (uuid:00000000-0000-0000-0000-000000000000, major:0, minor:0, "))
    #expect(beacon.description.contains("proximity:0 +/- -1.00m, rssi:0, timestamp:\(beacon.timestamp)"))
  }

  @Test("DA-1 an object of each class, and of a client's subclass, is an argument of a format")
  func formatArguments() {
    final class Mine: CLVisit, @unchecked Sendable { override var description: String { "mine %@ ü" } }
    func isArgument(_ object: some NSObject & CVarArg) -> Bool {
      String(format: "%d <%@> %@", 1, object, object) == "1 <\(object.description)> \(object.description)"
    }
    let uuid = UUID()
    #expect(isArgument(CLLocation(latitude: 1, longitude: 2)) && isArgument(CLHeading()) && isArgument(Mine()))
    #expect(isArgument(CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "home")))
    #expect(
      isArgument(CLBeaconRegion(uuid: uuid, identifier: "shop")) && isArgument(CLBeacon()) && isArgument(CLRegion()))
    #expect(isArgument(CLBeaconIdentityConstraint(uuid: uuid)) && isArgument(CLFloor()))
    #expect(
      isArgument(CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false)))
    #expect(isArgument(CLGeocoder()))
    let others: [any CVarArg.Type] = [CLLocationManager.self, CLPlacemark.self]
    #expect(others.count == 2)
  }

  @Test("DA-2 the description of a heading")
  func headingDescription() {
    final class North: CLHeading, @unchecked Sendable {
      override var magneticHeading: CLLocationDirection { 1.234 }
      override var trueHeading: CLLocationDirection { 5 }
      override var headingAccuracy: CLLocationDirection { 10 }
      override var x: CLHeadingComponentValue { 20 }
      override var y: CLHeadingComponentValue { -3.5 }
      override var timestamp: Date { Date(timeIntervalSince1970: 0) }
    }
    #expect(
      North().description
        == "magneticHeading 1.23 trueHeading 5.00 accuracy 10.00 x +20.000 y -3.500 z +0.000 @ 1970-01-01 00:00:00 +0000"
    )
  }

  @Test("A beacon region returns its advertisement")
  func advertisement() throws {
    let uuid = try #require(UUID(uuidString: "FEDCBA98-7654-3210-0123-456789ABCDEF"))
    let data = CLBeaconRegion(uuid: uuid, major: 0x0102, minor: 0x0304, identifier: "shop")
      .peripheralData(withMeasuredPower: -60)
    let payload = try #require(data["kCBAdvDataAppleBeaconKey"] as? Data)
    #expect(
      [UInt8](payload) == [
        0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10, 1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4, 196,
      ])
  }

  @Test("Mocks may call any initializer of a location, and of a manager")
  func doubles() {
    final class Fixed: CLLocation, @unchecked Sendable {
      override init() { super.init(latitude: 1, longitude: 2) }
      required init?(coder: NSCoder) { super.init(coder: coder) }
    }
    #expect(Fixed().coordinate.longitude == 2 && CLLocation().coordinate.latitude == 0)
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

  private final class Place: CLCircularRegion {}
  private final class Beacons: CLBeaconRegion {}

  @Test("DA-6 a copy of a region has its class and its properties")
  func copiedRegions() throws {
    let place = Place(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "a")
    place.notifyOnEntry = false
    let copy = try #require(place.copy() as? Place)
    #expect(copy !== place && copy == place && copy.radius == 3 && !copy.notifyOnEntry && copy.notifyOnExit)
    let old = CLRegion(circularRegionWithCenter: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "old")
    let oldCopy = try #require(old.copy() as? CLRegion)
    #expect(type(of: oldCopy) == CLRegion.self && oldCopy.radius == 3 && oldCopy.center.longitude == 2)
    let beacons = Beacons(uuid: UUID(), major: 7, identifier: "b")
    beacons.notifyEntryStateOnDisplay = true
    let beaconsCopy = try #require(beacons.copy() as? Beacons)
    #expect(beaconsCopy.uuid == beacons.uuid && beaconsCopy.major == 7 && beaconsCopy.notifyEntryStateOnDisplay)
  }

  private func decoded<Condition: CLCondition>(_ text: String, _ kind: Condition.Type) throws -> Condition {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(kind, from: Data(text.utf8))
  }

  @Test("DA-6 conditions survive coding, to the last digit")
  func codedConditions() throws {
    func copy<Condition: CLCondition>(_ condition: Condition) throws -> Condition {
      try decoded(String(decoding: try JSONEncoder().encode(condition), as: UTF8.self), Condition.self)
    }
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2DMake(48.1 + 0.2, -0.1 - 0.2), radius: 1e7 / 3)
    let same = try copy(circle)
    #expect(same.center.latitude == circle.center.latitude && same.center.longitude == circle.center.longitude)
    #expect(same.radius == circle.radius)
    let uuid = UUID()
    for beacon in [
      CLMonitor.BeaconIdentityCondition(uuid: uuid), .init(uuid: uuid, major: 0),
      .init(uuid: uuid, major: 65535, minor: 1),
    ] {
      let same = try copy(beacon)
      #expect(same.uuid == uuid && same.major == beacon.major && same.minor == beacon.minor)
    }
  }

  @Test("Conditions that no initializer makes are not decoded; a circle has any numbers, as with the initializer")
  func hostileConditions() throws {
    let uuid = UUID().uuidString
    for text in [
      #"{"uuid":"\#(uuid)","major":65536}"#, #"{"uuid":"\#(uuid)","major":-1}"#, #"{"uuid":"\#(uuid)","minor":1}"#,
      #"{"uuid":"","major":1}"#, "{}", "[]",
    ] {
      #expect(throws: DecodingError.self) { try decoded(text, CLMonitor.BeaconIdentityCondition.self) }
    }
    for text in [#"{"center":{"latitude":1},"radius":1}"#, #"{"center":1,"radius":1}"#, "{}", "[]"] {
      #expect(throws: DecodingError.self) { try decoded(text, CLMonitor.CircularGeographicCondition.self) }
    }
    for (latitude, longitude, radius) in [("91", "0", "1"), (#""nan""#, "0", "1"), ("0", #""inf""#, "1")] {
      let circle = try decoded(
        #"{"center":{"latitude":\#(latitude),"longitude":\#(longitude)},"radius":\#(radius)}"#,
        CLMonitor.CircularGeographicCondition.self)
      #expect(!CLLocationCoordinate2DIsValid(circle.center))
    }
  }

  @Test("RG-2 the identity of a region is its identifier, within its kind")
  func regions() throws {
    let circle = CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "a")
    let other = CLCircularRegion(center: CLLocationCoordinate2DMake(4, 5), radius: 6, identifier: "a")
    let beacons = CLBeaconRegion(uuid: UUID(), identifier: "a")
    #expect(circle == other && circle.hash == other.hash && circle != beacons)
    #expect(Set<CLRegion>([circle, other, beacons]).count == 2)
    #expect(circle.contains(circle.center) && !circle.contains(other.center))
  }

  @Test("ER-1 ER-3 errors are caught by their codes")
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

  /// A mock of a beacon, which does not call its superclass.
  private final class MockBeacon: CLBeacon, @unchecked Sendable {
    private let number: Int
    override var major: NSNumber { NSNumber(value: number) }
    init(major: Int) {
      number = major
      super.init()
    }
    override func encode(with coder: NSCoder) { coder.encode(number, forKey: "number") }
    required init?(coder: NSCoder) {
      number = coder.decodeInteger(forKey: "number")
      super.init(coder: coder)
    }
  }

  @Test("A subclass that encodes only its own properties is decoded, and its superclass needs its own")
  func subclassCoding() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    MockBeacon(major: 14).encode(with: archiver)
    archiver.finishEncoding()
    let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(MockBeacon(coder: coder)?.major == 14 && MockBeacon(coder: coder)?.accuracy == -1)
    #expect(CLBeacon(coder: coder) == nil && CLPlacemark(coder: coder) == nil && CLLocation(coder: coder) == nil)
    #expect(CLRegion(coder: coder) == nil && CLBeaconIdentityConstraint(coder: coder) == nil)
  }

  /// A mock of a location, which encodes its own properties under plain names, in addition to those of its superclass.
  private final class MockLocation: CLLocation, @unchecked Sendable {
    private let instant: Date
    override var timestamp: Date { instant }
    init(at time: Date, latitude: Double) {
      instant = time
      super.init(latitude: latitude, longitude: 2)
    }
    override func encode(with coder: NSCoder) {
      super.encode(with: coder)
      coder.encode(instant, forKey: "timestamp")
    }
    required init?(coder: NSCoder) {
      guard let time = coder.decodeObject(of: NSDate.self, forKey: "timestamp") else { return nil }
      instant = time as Date
      super.init(coder: coder)
    }
  }

  @Test("A subclass may encode properties of its own under any name, beside its superclass's properties")
  func subclassNames() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    MockLocation(at: Date(timeIntervalSince1970: 5), latitude: 48.5).encode(with: archiver)
    archiver.finishEncoding()
    let decoded = MockLocation(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
    #expect(decoded?.timestamp == Date(timeIntervalSince1970: 5))
    #expect(decoded?.coordinate.latitude == 48.5 && decoded?.coordinate.longitude == 2)
  }

  @Test("Invalid coordinates")
  func validity() {
    #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(-90, 180)))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(.nan, 0)))
  }
}
