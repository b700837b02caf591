// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

@Suite("Messages as JSON")
struct CodingTests {
  /// Encodes a value as the text on a socket, and decodes it.
  private func repeated<Value: Codable>(_ value: Value) throws -> Value { try decoded(JSON(encoding: value).text()) }

  private func decoded<Value: Decodable>(_ text: [UInt8]) throws -> Value { try JSON(parsing: text).decode() }

  private static let place = Coordinate(latitudeDegrees: 48.1, longitudeDegrees: -11.2)
  private static let time = UTCTime(nanosecondsSince1970: 1_780_000_000_123_456_789)
  private static let region = Region("home", .circle(Circle(centre: place, radiusMetres: 100)))
  private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: .max, low: 1), major: 7)

  private static func location(_ metres: Double = 5) -> Location {
    var location = Location(place, horizontalAccuracyMetres: metres, timestamp: time)
    location.source = Location.Source(isSimulatedBySoftware: true, isProducedByAccessory: false)
    return location
  }

  static let calls: [ClientCall] = [
    .setDelegate(nil), .setDelegate([.takesLocations, .takesErrors]), .setDesiredAccuracy(metres: -1),
    .setDistanceFilter(metres: -.greatestFiniteMagnitude), .setDistanceFilter(metres: -.infinity),
    .setActivity(.fitness), .setPausesAutomatically(false), .setAllowsBackgroundUpdates(true),
    .setShowsBackgroundIndicator(true), .setHeadingFilter(degrees: 0.1), .setHeadingOrientation(.faceUp),
    .requestWhenInUse, .requestAlways, .requestTemporaryFullAccuracy(purpose: "a \"b\"", token: 4),
    .startUpdatingLocation, .stopUpdatingLocation, .requestLocation,
    .allowDeferredUpdates(metres: .infinity, seconds: .infinity),
    .allowDeferredUpdates(metres: .greatestFiniteMagnitude, seconds: 0.1), .disallowDeferredUpdates,
    .startSignificantChanges, .stopSignificantChanges, .startVisits, .stopVisits, .startHeading, .stopHeading,
    .showsCalibration(true), .dismissCalibration, .startMonitoring(region, marginMetres: .infinity),
    .startMonitoring(region), .stopMonitoring(region), .requestState(Region("b", .beacon(beacon))),
    .startRanging(.constraint(beacon)), .stopRanging(.region(region)),
  ]

  @Test("every call survives, with infinite criteria", arguments: calls)
  func call(_ call: ClientCall) throws { #expect(try repeated(call) == call) }

  @Test("a number that is none survives as one")
  func notANumber() throws {
    guard case .setDistanceFilter(let metres) = try repeated(ClientCall.setDistanceFilter(metres: .nan)) else {
      Issue.record("another call")
      return
    }
    #expect(metres.isNaN)
  }

  @Test("a number as text is refused, unless JSON has no number for it", arguments: ["12", "ten", ""])
  func text(_ text: String) {
    let json = #"{"setDistanceFilter":{"metres":"\#(text)"}}"#
    #expect(throws: JSONCodingError.self) { try decoded(Array(json.utf8)) as ClientCall }
  }

  @Test("a UUID is its text, with all 64 bits of its halves")
  func uuid() throws {
    for (high, low, text) in [
      (0, 0, "00000000-0000-0000-0000-000000000000"),
      (0xE2C5_6DB5_DFFB_48D2, 0xB060_D0F5_A710_96E0, "e2c56db5-dffb-48d2-b060-d0f5a71096e0"),
      (1, .max, "00000000-0000-0001-ffff-ffffffffffff"),
    ] as [(UInt64, UInt64, String)] {
      let uuid = BeaconUUID(high: high, low: low)
      #expect(try JSON(encoding: uuid) == .string(text))
      #expect(try JSON.string(text.uppercased()).decode() == uuid)
    }
    for text in ["", "e2c56db5", "e2c56db5-dffb-48d2-b060-d0f5a71096e00", "+2c56db5-dffb-48d2-b060-d0f5a71096e0"] {
      #expect(throws: JSONCodingError.self) { try JSON.string(text).decode(BeaconUUID.self) }
    }
  }

  static let events: [DelegateEvent] = [
    .didUpdateLocations([location(), location(.infinity)]), .didFail(.locationUnknown),
    .didFailToAsk(missingKeys: "K"), .didPauseLocationUpdates, .didResumeLocationUpdates,
    .didFinishDeferredUpdates(nil), .didFinishDeferredUpdates(.deferredCanceled),
    .didUpdateHeading(
      Heading(
        magneticDegrees: 1, trueDegrees: -1, accuracyDegrees: 3, fieldMicrotesla: SIMD3(1, 2, 3), timestamp: time)),
    .shouldDisplayHeadingCalibration, .didStartMonitoring(region), .didEnter(region), .didExit(region),
    .didDetermineState(.inside, region), .monitoringDidFail(nil, .regionMonitoringDenied),
    .monitoringDidFail(region, .regionMonitoringFailure),
    .didRange(
      [
        Beacon(
          uuid: beacon.uuid, major: 1, minor: 2, proximity: .near, accuracyMetres: 0.3,
          strengthDecibelMilliwatts: -70, timestamp: time)
      ], .constraint(beacon)), .rangingDidFail(.region(region), .rangingFailure),
    .didVisit(Visit(arrival: nil, departure: time, coordinate: place, horizontalAccuracyMetres: 50)),
    .didChangeAuthorization(.authorizedWhenInUse, .reduced),
  ]

  @Test("every event survives", arguments: events)
  func event(_ event: DelegateEvent) throws {
    let message = ServiceMessage.update(
      ServiceUpdate(events: [.delegate(manager: 3, event, .unrecalled)], changes: .init()))
    #expect(try repeated(message) == message)
  }

  @Test("the state and its changes survive, and nil is another change than none")
  func state() throws {
    var state = ProgramState()
    state.newest = Self.location()
    state.problem = .held
    state.managers[7] = ProgramState.Manager()
    state.monitors["m"] = ProgramState.Monitor()
    #expect(try repeated(state) == state)
    let changes = state.changes(to: ProgramState())
    var copy = state
    copy.apply(try repeated(changes))
    #expect(copy.newest == nil && copy.problem == nil && copy.managers.isEmpty)
    #expect(try repeated(ProgramState.Changes()).isEmpty)
  }

  @Test("unknown keys are skipped, an unknown case is an error that names the versions")
  func unknown() throws {
    let later = #"{"number":4,"colour":"red","action":{"removeManager":{"_0":3,"why":1}}}"#
    #expect(try decoded(Array(later.utf8)) == ClientMessage(number: 4, .removeManager(3)))
    let unknown = #"{"number":4,"action":{"paint":{"_0":3}}}"#
    do {
      _ = try decoded(Array(unknown.utf8)) as ClientMessage
      Issue.record("decoded")
    } catch {
      let problem = ServiceVersion.problem(error, of: "the program", version: 3)
      #expect(problem.contains("version 3") && problem.contains("version 2") && problem.contains("action"))
    }
  }

  @Test("versions that differ by one work together, others name the program to update")
  func versions() {
    #expect(ServiceVersion.refusal(client: 1, service: 1) == nil)
    #expect(ServiceVersion.refusal(client: 1, service: 2) == nil)
    #expect(ServiceVersion.refusal(client: 2, service: 1) == nil)
    #expect(ServiceVersion.refusal(client: 1, service: 3)?.contains("build the program") == true)
    #expect(ServiceVersion.refusal(client: 3, service: 1)?.contains("update sextantd") == true)
    for (client, service) in [(Int.min, 2), (2, Int.min), (.max, 2), (2, .max), (.min, .max), (.max, .min)] {
      #expect(ServiceVersion.refusal(client: client, service: service) != nil)
    }
  }
}
