// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import Testing

@testable import LocationService

@Suite("The computer's own sensors, in virtual time")
struct SensingTests {
  private static let startUTC: Int64 = 1_780_000_000_000_000_000
  private static let client = ClientID(0)
  private static let beacon: [UInt8] = [0x02, 0x15] + [UInt8](repeating: 7, count: 16) + [0, 1, 0, 2, 0xC5]
  private static let family = BeaconIdentity(uuid: BeaconUUID(high: 0x0707_0707_0707_0707, low: 0x0707_0707_0707_0707))

  private static func moment(_ seconds: Double) -> Moment {
    let nanoseconds = Int64(seconds * 1e9)
    return Moment(
      Instant(nanoseconds: UInt64(nanoseconds)), utc: UTCTime(nanosecondsSince1970: startUTC + nanoseconds))
  }

  /// A service, and its actions since the last call as text.
  private struct Scene {
    var core: ServiceCore
    var seconds = 0.0

    init(magnetometer: Bool = false, accelerometer: Bool = false, bluetoothAdapter: Bool = false) {
      var engine = PositioningEngine(
        keys: UsageKeys(),
        hostCapabilities: HostCapabilities(
          hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false),
        application: .foreground, authorizationOverride: .authorizedAlways, at: .zero)
      engine.add(client)
      engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
      engine.outputs = []
      core = ServiceCore(engine: engine, coordinator: PowerCoordinator(at: .zero))
      core.receive(
        .sensing(.listed(magnetometer: magnetometer, accelerometer: accelerometer, bluetoothAdapter: bluetoothAdapter)),
        at: moment(0))
    }

    var now: Moment { moment(seconds) }

    mutating func call(_ call: ClientCall) { core.change { $0.call(call, by: client, at: moment(seconds).instant) } }

    mutating func words() -> [String] {
      core.wake(at: now)
      return core.actions(at: now).compactMap { action in
        switch action {
        case .program(_, .output(.event(_, .didUpdateHeading(let heading), _))):
          "heading \(heading.magneticDegrees) ±\(heading.accuracyDegrees)"
        case .program(_, .output(.event(_, .didFail(let error), _))): "failed \(error.rawValue)"
        case .program(_, .output(.event(_, .rangingDidFail(_, let error), _))): "ranging failed \(error.rawValue)"
        case .program(_, .output(.event(_, .didRange(let beacons, _), _))): "ranged \(beacons.map(\.minor))"
        case .program(_, .output(.event(_, .didResumeLocationUpdates, _))): "resumed"
        case .program(_, .output(.event(_, .shouldDisplayHeadingCalibration, _))): "calibrate?"
        case .sense(let demand): Self.words(demand)
        case .openReceiver: "open"
        case .log: "logged"
        case .store(.compass, _): "kept"
        case .readyForSuspend: "ready"
        default: nil
        }
      }
    }

    private static func words(_ demand: SensorDemand) -> String {
      var words: [String] = []
      if let degrees = demand.headingFilterDegrees { words.append("heading \(degrees)") }
      if demand.movement { words.append("movement") }
      if demand.beacons { words.append("beacons") }
      if demand.suspends { words.append("suspends") }
      return "sense " + (words.isEmpty ? "nothing" : words.joined(separator: " "))
    }

    mutating func read(_ degrees: Double, accuracy: Double = 4) {
      core.receive(
        .sensing(
          .compass(CompassReading(magneticDegrees: degrees, accuracyDegrees: accuracy, fieldMicrotesla: SIMD3(1, 2, 3)))
        ), at: now)
    }

    mutating func fix(_ change: (inout Fix) -> Void = { _ in }) {
      var fix = Fix()
      fix.time = now.utc
      fix.kind = .threeD
      fix.latitudeDegrees = 0
      fix.longitudeDegrees = 0
      fix.horizontalAccuracyMetres = 3
      change(&fix)
      core.receive(fix, sky: Sky(), isUpdate: false, source: nil, at: now)
    }
  }

  @Test("HD-1 there is a compass while the kernel lists a magnetometer")
  func availability() {
    var scene = Scene()
    #expect(!scene.core.engine.hostCapabilities.hasCompass)
    scene.call(.startHeading)
    #expect(scene.words() == [])
    scene.core.receive(
      .sensing(.listed(magnetometer: true, accelerometer: false, bluetoothAdapter: false)), at: scene.now)
    #expect(scene.core.engine.hostCapabilities.hasCompass)
    scene.call(.startHeading)
    #expect(scene.words() == ["sense heading 1.0"])
    scene.core.receive(
      .sensing(.listed(magnetometer: false, accelerometer: false, bluetoothAdapter: false)), at: scene.now)
    #expect(!scene.core.engine.hostCapabilities.hasCompass)
    #expect(scene.words() == ["failed 3"])
  }

  @Test("The magnetometer is read while a client needs a heading, for the smallest filter")
  func demand() {
    var scene = Scene(magnetometer: true)
    scene.call(.setHeadingFilter(degrees: 20))
    scene.call(.startHeading)
    #expect(scene.words() == ["sense heading 20.0"])
    scene.read(90)
    #expect(scene.words() == ["heading 90.0 ±4.0"])
    scene.call(.setHeadingFilter(degrees: -1))
    #expect(scene.words() == ["sense heading 0.0"])
    scene.call(.stopHeading)
    #expect(scene.words() == ["sense nothing"])
  }

  @Test("A receiver with a heading is a compass, and precedes a magnetometer while it has one")
  func receiverFirst() {
    var scene = Scene(magnetometer: true)
    scene.call(.startHeading)
    _ = scene.words()
    scene.seconds = 10
    scene.fix {
      $0.headingDegrees = 45
      $0.headingAccuracyDegrees = 0.3
      $0.headingSource = .ubx
    }
    scene.read(99)
    let declination = scene.words()
    #expect(declination.count == 1 && declination[0].hasSuffix("±0.3"))
    scene.seconds = 12.9
    scene.read(99)
    #expect(scene.words() == [])
    scene.seconds = 13
    scene.read(99)
    #expect(scene.words() == ["heading 99.0 ±4.0"])
  }

  @Test("HD-13 the end of a receiver's heading is a failure, once, without a magnetometer")
  func receiverEnds() {
    var scene = Scene()
    scene.fix {
      $0.magneticHeadingDegrees = 30; $0.headingSource = .compass
    }
    #expect(scene.core.engine.hostCapabilities.hasCompass)
    scene.call(.startHeading)
    // The receiver stays open only for the heading.
    #expect(scene.words() == ["open", "sense heading 1.0 suspends"])
    scene.seconds = 1
    scene.fix {
      $0.magneticHeadingDegrees = 31; $0.headingSource = .compass
    }
    #expect(scene.words() == ["heading 31.0 ±5.0"])
    scene.seconds = 3.9
    #expect(scene.words() == [])
    #expect(scene.core.deadline == Self.moment(4).instant)
    scene.seconds = 4
    #expect(scene.words().contains("failed 3"))
    #expect(!scene.core.engine.hostCapabilities.hasCompass)
  }

  @Test("A repeated epoch is one heading, also for a client that needs every one")
  func repeated() {
    var scene = Scene(magnetometer: true)
    scene.call(.setHeadingFilter(degrees: -1))
    scene.call(.startHeading)
    _ = scene.words()
    for _ in 0..<2 {
      scene.fix {
        $0.magneticHeadingDegrees = 30; $0.headingSource = .compass
      }
    }
    #expect(scene.words() == ["heading 30.0 ±5.0"])
  }

  @Test(
    "A magnetometer that does not answer is logged once and is a failure; one that answers again is a compass again")
  func fault() {
    var scene = Scene(magnetometer: true)
    scene.call(.startHeading)
    _ = scene.words()
    for _ in 0..<3 { scene.core.receive(.sensing(.compassFailed("broken")), at: scene.now) }
    #expect(Set(scene.words()) == ["logged", "failed 3"])
    #expect(!scene.core.engine.hostCapabilities.hasCompass)
    scene.read(5)
    #expect(scene.words() == ["heading 5.0 ±4.0"])
    #expect(scene.core.engine.hostCapabilities.hasCompass)
  }

  @Test("HD-14 the compass's request goes to the delegate, its calibration to the state folder")
  func calibration() {
    var scene = Scene(magnetometer: true)
    scene.call(.startHeading)
    _ = scene.words()
    scene.core.receive(.sensing(.compassEvent(.calibrationWanted, sensor: "hmc5883")), at: scene.now)
    let found = FieldCalibration(
      offsetMicrotesla: SIMD3(1.5, -2, 300), strengthMicrotesla: 48, residualMicrotesla: 0.5, isSpatial: true)
    scene.core.receive(.sensing(.compassEvent(.keep(found), sensor: "hmc 5883%")), at: scene.now)
    #expect(Set(scene.words()) == ["calibrate?", "kept"])
    let text = StateText.text(of: found, sensor: "hmc 5883%")
    #expect(StateText.calibration(in: text, sensor: "hmc 5883%") == found)
    #expect(StateText.calibration(in: text, sensor: "other") == nil)
    #expect(StateText.calibration(in: "sextant compass 1\nx\n", sensor: "other") == nil)
    #expect(StateText.calibration(in: text.replacing("300", with: "nan"), sensor: "hmc 5883%") == nil)
  }

  @Test("BE-4 without an adapter ranging fails by 16; with one beacons are received while ranging lasts")
  func beacons() throws {
    var scene = Scene()
    scene.call(.startRanging(.constraint(Self.family)))
    #expect(scene.words() == ["ranging failed 16"])
    scene.core.receive(
      .sensing(.listed(magnetometer: false, accelerometer: false, bluetoothAdapter: true)), at: scene.now)
    scene.call(.startRanging(.constraint(Self.family)))
    #expect(scene.words() == ["sense beacons"])
    scene.core.receive(.sensing(.canReceiveBeacons(true)), at: scene.now)
    scene.core.receive(
      .sensing(.beacon(try #require(BeaconAdvertisement(Self.beacon)), strengthDecibelMilliwatts: -60)), at: scene.now)
    scene.seconds = 1
    #expect(scene.words() == ["ranged [2]"])
    scene.call(.stopRanging(.constraint(Self.family)))
    #expect(scene.words() == ["sense nothing"])
  }

  @Test("BE-4 without BlueZ, or with an adapter that is off, ranging fails by 16 and is not available")
  func bluetoothOff() {
    var scene = Scene(bluetoothAdapter: true)
    #expect(scene.core.engine.hostCapabilities.hasBluetooth)
    scene.call(.startRanging(.constraint(Self.family)))
    _ = scene.words()
    scene.core.receive(.sensing(.canReceiveBeacons(false)), at: scene.now)
    #expect(scene.words() == ["ranging failed 16"])
    #expect(!scene.core.engine.hostCapabilities.hasBluetooth)
    scene.core.receive(.sensing(.canReceiveBeacons(true)), at: scene.now)
    scene.seconds = 1
    #expect(scene.words() == ["ranged []"])
  }

  @Test("PA-9 an accelerometer is read while the receiver rests, and its movement resumes a paused client")
  func movement() {
    var scene = Scene(accelerometer: true)
    scene.call(.startUpdatingLocation)
    #expect(scene.words() == ["open", "sense suspends"])
    // An unidentified receiver cannot sleep, so only the computer suspends.
    var isResting = false
    for second in 1..<1200 where !isResting {
      scene.seconds = Double(second)
      scene.fix()
      isResting = scene.words().contains("sense movement suspends")
    }
    #expect(isResting)
    scene.core.receive(.sensing(.movement), at: scene.now)
    #expect(scene.words() == ["resumed", "sense suspends"])
    scene.core.receive(.sensing(.accelerometerFailed), at: scene.now)
    #expect(scene.core.sensing.accelerometer != .working)
  }

  @Test("Before a suspend the newest location is stored; at the end no sensor is read any more")
  func suspendAndEnd() {
    var scene = Scene(magnetometer: true)
    scene.call(.startUpdatingLocation)
    scene.call(.startHeading)
    _ = scene.words()
    scene.core.receive(.suspending, at: scene.now)
    #expect(scene.words() == ["ready"])
    scene.core.receive(.finish, at: scene.now)
    #expect(scene.words().first == "sense nothing")
    #expect(!scene.words().contains { $0.hasPrefix("sense") })
  }
}
