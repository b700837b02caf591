// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Positioning
import Power
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService

@Suite("Epochs that are reported in parts")
struct RepeatedEpochTests {
  private static let client = ClientID(0)

  private static func moment(_ seconds: Double) -> Moment {
    let nanoseconds = Int64(seconds * 1e9)
    return Moment(
      Instant(nanoseconds: UInt64(nanoseconds)),
      utc: UTCTime(nanosecondsSince1970: ServiceLog.startSeconds * 1_000_000_000 + nanoseconds))
  }

  /// The fix of an epoch. Without an accuracy it has the assumed accuracy, as after a sentence without a dilution.
  private static func fix(_ seconds: Double, accuracy: Double? = nil) -> Fix {
    var fix = Fix()
    fix.time = moment(seconds).utc
    fix.kind = .threeD
    fix.latitudeDegrees = 48
    fix.longitudeDegrees = 11
    fix.horizontalAccuracyMetres = accuracy ?? 10
    fix.accuracySource = accuracy == nil ? .assumed : .estimated
    return fix
  }

  /// A service with a client that has started updates.
  private struct Service {
    var core: ServiceCore

    init() {
      let all = HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
      var engine = PositioningEngine(
        keys: .init(), hostCapabilities: all, application: .foreground, authorizationOverride: .authorizedAlways,
        at: .zero)
      engine.add(client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
      engine.outputs = []
      core = ServiceCore(engine: engine, coordinator: PowerCoordinator(at: .zero))
      core.call(.startUpdatingLocation, by: client, at: .zero)
      _ = core.actions(at: moment(0))
    }

    /// Handles a report; returns the delivered epochs as "second accuracy".
    mutating func report(_ fix: Fix, isUpdate: Bool = false, at seconds: Double) -> [String] {
      core.receive(fix, sky: Sky(), isUpdate: isUpdate, source: nil, at: moment(seconds))
      return delivered(at: seconds)
    }

    /// Handles a report of another receiver.
    mutating func standby(_ fix: Fix, at seconds: Double) -> [String] {
      core.receive(fix, ofStandby: 1, source: nil, at: moment(seconds))
      return delivered(at: seconds)
    }

    mutating func wake(at seconds: Double) -> [String] {
      core.wake(at: moment(seconds))
      return delivered(at: seconds)
    }

    mutating func receive(_ input: ServiceInput, at seconds: Double) -> [String] {
      core.receive(input, at: moment(seconds))
      return delivered(at: seconds)
    }

    private mutating func delivered(at seconds: Double) -> [String] {
      core.actions(at: moment(seconds)).flatMap { action -> [Location] in
        guard case .program(_, .output(.event(_, .didUpdateLocations(let locations), _))) = action else { return [] }
        return locations
      }.map { location in
        let second = location.timestamp.nanosecondsSince1970 / 1_000_000_000 - ServiceLog.startSeconds
        return "\(second) \(location.horizontalAccuracyMetres)"
      }
    }
  }

  @Test("An epoch whose dilutions come after its first report is delivered once, with them")
  func inParts() {
    var service = Service()
    #expect(service.report(Self.fix(1, accuracy: 3), at: 1.1) == ["1 3.0"])
    #expect(service.report(Self.fix(2), at: 2.1) == [])
    #expect(service.report(Self.fix(2, accuracy: 4), isUpdate: true, at: 2.4) == ["2 4.0"])
    #expect(service.report(Self.fix(2, accuracy: 3), isUpdate: true, at: 2.5) == [])
    #expect(service.report(Self.fix(3), at: 3.1) == [])
    #expect(service.report(Self.fix(3, accuracy: 4), isUpdate: true, at: 3.4) == ["3 4.0"])
  }

  @Test("An epoch whose dilutions are lost is delivered with the next one, or after a second")
  func lostPart() {
    var service = Service()
    #expect(service.report(Self.fix(1, accuracy: 3), at: 1.1) == ["1 3.0"])
    #expect(service.report(Self.fix(2), at: 2.1) == [])
    #expect(service.report(Self.fix(3, accuracy: 4), at: 2.9) == ["2 10.0", "3 4.0"])
    #expect(service.report(Self.fix(4), at: 4.25) == [])
    #expect(service.core.deadline == Self.moment(5.25).instant)
    #expect(service.wake(at: 5.25) == ["4 10.0"])
    #expect(service.report(Self.fix(4, accuracy: 4), isUpdate: true, at: 5.5) == [])
  }

  @Test("A receiver that sends dilutions no longer has one epoch delivered late, and the later ones at once")
  func withoutDilutions() {
    var service = Service()
    #expect(service.report(Self.fix(1), at: 1.1) == ["1 10.0"])
    #expect(service.report(Self.fix(2, accuracy: 3), at: 2.1) == ["2 3.0"])
    #expect(service.report(Self.fix(3), at: 3.1) == [])
    #expect(service.report(Self.fix(4), at: 4.05) == ["3 10.0", "4 10.0"])
    #expect(service.report(Self.fix(5), at: 5.05) == ["5 10.0"])
  }

  @Test("SU-19 a better receiver that takes over does not repeat the epoch of the one before")
  func otherReceiver() {
    var service = Service()
    var delivered: [String] = []
    for second in 1..<12 {
      delivered += service.report(Self.fix(Double(second), accuracy: 8), at: Double(second) + 0.25)
      delivered += service.standby(Self.fix(Double(second), accuracy: 2), at: Double(second) + 0.5)
    }
    #expect(delivered == (1...6).map { "\($0) 8.0" } + (7...11).map { "\($0) 2.0" })
  }

  @Test("The loss of the line, a suspend and the end deliver an epoch that is incomplete")
  func lines() {
    for input in [ServiceInput.receiver(.lost), .suspending, .finish] {
      var service = Service()
      #expect(service.report(Self.fix(1, accuracy: 3), at: 1.1) == ["1 3.0"])
      #expect(service.report(Self.fix(2), at: 2.1) == [])
      #expect(service.receive(input, at: 2.2) == ["2 10.0"])
    }
  }

  @Test("RQ-6 a request that ends has the fix of an incomplete epoch")
  func request() {
    var service = Service()
    service.core.call(.stopUpdatingLocation, by: Self.client, at: Self.moment(1).instant)
    #expect(service.report(Self.fix(1, accuracy: 3), at: 1.1) == [])
    service.core.call(.requestLocation, by: Self.client, at: Self.moment(10).instant)
    #expect(service.report(Self.fix(20), at: 19.5) == [])
    #expect(service.wake(at: 20) == ["20 10.0"])
  }

  @Test("A line that loses bytes of sentences makes no epoch come twice", arguments: [UInt64(1), 2, 3])
  func lossyLine(seed: UInt64) {
    let scene = ServiceScene(.nmea, scenario: Scenario.named("walk")!)
    scene.call(.setPausesAutomatically(false))
    scene.call(.startUpdatingLocation)
    scene.run(60)
    var random = SeededRandomNumberGenerator(seed: seed)
    for round in 0..<40 {
      let share = Double(50 + random.next(below: 150)) / 10_000
      let length = Milliseconds(20_000)
      scene.inject(round.isMultiple(of: 2) ? .drop(share: share, for: length) : .corrupt(share: share, for: length))
      scene.run(30)
    }
    // The receiver's seconds are whole ones. A checksum can be right by chance, and a damaged time is then an epoch of its own.
    let times = scene.locations.map(\.timestamp).filter { $0.nanosecondsSince1970 % 1_000_000_000 == 0 }
    #expect(times.count > 800)
    #expect(zip(times, times.dropFirst()).filter { $0 >= $1 }.map(\.0) == [])
  }
}
