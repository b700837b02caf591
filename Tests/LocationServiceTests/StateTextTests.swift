// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream
import Testing

@testable import LocationService

@Suite("State between runs")
struct StateTextTests {
  private let records = [
    Regions.Record(
      Region(
        "home\t50 % of\nthe time",
        .circle(
          Circle(centre: Coordinate(latitudeDegrees: 48.1234567891, longitudeDegrees: -11.5), radiusMetres: 123.25)),
        notifiesOnExit: false), state: .inside, marginMetres: 30),
    Regions.Record(
      Region(
        "Küche",
        .beacon(BeaconIdentity(uuid: BeaconUUID(high: 0xFEDC_BA98_7654_3210, low: 7), major: 65_535, minor: nil))),
      state: .unknown),
  ]

  @Test("RG-17 a region of beacons keeps its flag for the display")
  func display() {
    var records = records
    records[1].region.notifiesStateOnDisplay = true
    #expect(StateText.regions(in: StateText.text(of: records)) == records)
  }

  @Test("RG-17 regions are read back unchanged, whatever their names")
  func regions() {
    #expect(StateText.regions(in: StateText.text(of: records)) == records)
    #expect(StateText.regions(in: StateText.text(of: [])).isEmpty)
  }

  @Test("A line that cannot be read costs no other region")
  func damagedRegions() {
    var lines = StateText.text(of: records).split(separator: "\n").map(String.init)
    lines.insert("circle\tnorth\t1\t2", at: 1)
    lines.append("sphere\t1\t2\t3\tyes\tyes\t0\t-\tx")
    #expect(StateText.regions(in: lines.joined(separator: "\n")) == records)
    #expect(StateText.regions(in: "another file\n" + StateText.text(of: records)).isEmpty)
  }

  @Test("MO-1 a monitor's conditions are read back with their last events, and a damaged line costs no other")
  func monitor() {
    let beacons = BeaconIdentity(uuid: BeaconUUID(high: 0xFEDC_BA98_7654_3210, low: 7), major: 5, minor: nil)
    let records = [
      Monitor.Record(
        condition: .circle(
          Circle(centre: Coordinate(latitudeDegrees: 0.1 + 0.2, longitudeDegrees: -11.5), radiusMetres: 99.5)),
        lastEvent: Monitor.Event(
          identifier: "a name\twith tabs", state: .satisfied,
          date: UTCTime(nanosecondsSince1970: 1_780_000_000_123_456_789))),
      Monitor.Record(
        condition: .beacon(beacons),
        lastEvent: Monitor.Event(
          identifier: "Küche", state: .unmonitored, date: UTCTime(nanosecondsSince1970: -1),
          refinement: BeaconIdentity(uuid: beacons.uuid, major: 5, minor: 6),
          diagnostic: [.authorizationDenied, .accuracyLimited])),
    ]
    let text = StateText.text(ofMonitor: records)
    #expect(StateText.monitor(in: text) == records)
    #expect(StateText.monitor(in: text + "circle\t1\t2\n") == records)
    #expect(StateText.monitor(in: "another file").isEmpty)
  }

  @Test("VI-2 a visit in progress is not lost")
  func visits() {
    let visit = Visit(
      arrival: UTCTime(nanosecondsSince1970: 1_780_000_000_123_456_789), departure: nil,
      coordinate: Coordinate(latitudeDegrees: -33.9, longitudeDegrees: 18.4), horizontalAccuracyMetres: 22.5)
    for record in [
      Visits.Record(isRunning: true, current: visit), Visits.Record(isRunning: true, current: nil),
      Visits.Record(isRunning: false, current: nil),
    ] {
      #expect(StateText.visits(in: StateText.text(of: record)) == record)
    }
    #expect(StateText.visits(in: "") == nil)
  }

  @Test("AU-14 grants are read back", arguments: AuthorizationStatus.allCases)
  func authorization(_ status: AuthorizationStatus) {
    let record = Authorization.Record(status: status, accuracy: .reduced, hasAskedForUpgrade: true)
    #expect(StateText.authorization(in: StateText.text(of: record)) == record)
    #expect(StateText.authorization(in: "sextant authorization 1\n9\t0\tno\n") == nil)
  }

  @Test("LC-3 the newest location is read back, to the last digit")
  func location() {
    var location = Location(
      Coordinate(latitudeDegrees: 48.123_456_789_012_3, longitudeDegrees: 0.1 + 0.2), horizontalAccuracyMetres: 2.5,
      timestamp: UTCTime(nanosecondsSince1970: 1_780_000_000_999_999_999),
      source: Location.Source(isSimulatedBySoftware: true, isProducedByAccessory: false))
    location.altitudeMetres = -3.25
    location.ellipsoidalAltitudeMetres = 44.5
    location.verticalAccuracyMetres = 4
    location.courseDegrees = 359.9
    location.speedMetresPerSecond = 1e-7
    #expect(StateText.location(in: StateText.text(of: location)) == location)
    #expect(StateText.location(in: "sextant location 1\n91\t0\n") == nil)
  }

  @Test("LC-3 a damaged location is rejected: each changed byte, noise, and impossible values")
  func damagedLocation() {
    let location = Location(
      Coordinate(latitudeDegrees: 48.1, longitudeDegrees: 11.5), horizontalAccuracyMetres: 2.5,
      timestamp: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000),
      source: Location.Source(isSimulatedBySoftware: false, isProducedByAccessory: true))
    let text = Array(StateText.text(of: location).utf8)
    for index in text.indices.dropLast() {
      for flip: UInt8 in [1, 2, 4, 8] {
        var damaged = text
        damaged[index] ^= flip
        #expect(StateText.location(in: String(decoding: damaged, as: UTF8.self)) == nil, "byte \(index), \(flip)")
      }
    }
    var state: UInt64 = 1
    for _ in 0..<200 {
      let noise = (0..<200).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      #expect(StateText.location(in: StateText.locationHeading + "\n" + String(decoding: noise, as: UTF8.self)) == nil)
    }
    var impossible = location
    impossible.speedMetresPerSecond = .infinity
    #expect(StateText.location(in: StateText.text(of: impossible)) == nil)
    impossible = location
    impossible.horizontalAccuracyMetres = .nan
    #expect(StateText.location(in: StateText.text(of: impossible)) == nil)
    impossible = location
    impossible.timestamp = UTCTime(nanosecondsSince1970: .max)
    #expect(StateText.location(in: StateText.text(of: impossible)) == nil)
  }
}
