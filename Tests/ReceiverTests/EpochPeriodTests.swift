// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

@Suite("The silence of a line is measured by the receiver's own epoch period")
struct EpochPeriodTests {
  private static let periods: [UInt32] = [5000, 10_000]

  /// A scene whose receiver has this period before the host opens the line.
  private static func scene(
    _ model: ReceiverModel, every period: UInt32, after command: [UInt8] = [],
    _ adapt: (inout SessionSettings) -> Void = { _ in }
  ) -> SessionScene {
    let rate = model.traits.defaultBaudRate
    // Its sentences have the form of a fix from the first epoch on.
    var scenario = Scenario()
    scenario.beginsHot = true
    let scene = SessionScene(model, hostRate: rate, scenario: scenario, adapt)
    scene.line.send(Self.rate(period) + command, at: scene.now)
    scene.skip(to: scene.now + Milliseconds(4000))
    return scene
  }

  /// CFG-RATE: the period in milliseconds, one measurement for a fix, GPS time.
  private static func rate(_ period: UInt32) -> [UInt8] {
    Wire.ubx(0x06, 0x08, [UInt8(period & 0xFF), UInt8(period >> 8), 1, 0, 1, 0])
  }

  @Test(
    "A receiver that replies to nothing is served at each epoch", arguments: periods,
    [SessionSettings.Intent.serve, .readOnly])
  func unidentified(_ period: UInt32, _ intent: SessionSettings.Intent) {
    let line = SlowLine(rate: 9600, period: UInt64(period))
    let host = VirtualHost(SessionLog(), line, settings: SessionSettings(intent: intent, line: .serial))
    #expect(host.run(300) { !$0.fixes.isEmpty })
    host.machine = SessionLog()
    host.run(120)
    #expect(host.fixes.count >= 120_000 / Int(period) - 1, "\(host.fixes.count)")
    #expect(host.reports.allSatisfy { $0.report != .silent && $0.report != .back }, "\(host.reports)")
    #expect(host.read { $0.rate } == 9600)
  }

  @Test("A receiver without UBX output is identified between its epochs", arguments: periods)
  func withoutUBX(_ period: UInt32) {
    let port = Wire.ubx(0x06, 0x00, [1, 0, 0, 0, 0xD0, 0x08, 0, 0, 0x80, 0x25, 0, 0, 7, 0, 2, 0, 0, 0, 0, 0])
    let scene = Self.scene(.m8, every: period, after: port)
    #expect(scene.run(170) { $0.isSteady }, "\(scene.reports)")
    #expect(scene.reported(.silent) == 0)
  }

  @Test(
    "An identified receiver is not reported, and not configured again",
    arguments: [.m8, .m10, .f9p] as [ReceiverModel], periods)
  func identified(_ model: ReceiverModel, _ period: UInt32) {
    let scene = Self.scene(model, every: period)
    #expect(scene.run(60) { $0.isSteady }, "\(scene.reports)")
    scene.run(30)
    let sent = scene.sent
    scene.run(300)
    #expect(scene.reported(.silent) == 0 && scene.reported(.back) == 0, "\(scene.reports)")
    // NAV-ORB is polled.
    #expect(scene.sent - sent <= 30, "\(scene.writes.suffix(20))")
    #expect(scene.fixes.count >= 300_000 / Int(period))
  }

  @Test("A period that a session writes itself is its measure", arguments: [ReceiverModel.m8, .m10])
  func changed(_ model: ReceiverModel) throws {
    let scene = SessionScene(model, hostRate: model.traits.defaultBaudRate)
    #expect(scene.run(60) { $0.isSteady })
    var desired = try #require(scene.read { $0.desired })
    desired.measurementPeriodMilliseconds = 20_000
    scene.set(desired)
    scene.run(200)
    #expect(scene.reported(.silent) == 0)
    desired.measurementPeriodMilliseconds = 1000
    scene.set(desired)
    scene.run(20)
    Self.expectNoticed(scene, within: 3.3)
  }

  @Test(
    "Silence at 1 Hz is noticed after three seconds, from a few epochs on", arguments: [ReceiverModel.m8, .m10, .nmea])
  func noticed(_ model: ReceiverModel) {
    let scene = SessionScene(model, hostRate: model.traits.defaultBaudRate)
    scene.run(60)
    Self.expectNoticed(scene, within: 3.3)
  }

  @Test("A receiver that was faster or slower before is measured by its present epochs")
  func adapted() {
    let scene = Self.scene(.m10, every: 10_000)
    scene.run(60)
    #expect(scene.reported(.silent) == 0)
    scene.line.hostRate = scene.read { $0.rate } ?? 9600
    scene.line.send(Self.rate(1000), at: scene.now)
    scene.run(20)
    Self.expectNoticed(scene, within: 3.3)
  }

  private static func expectNoticed(_ scene: SessionScene, within seconds: Double) {
    #expect(scene.reported(.silent) == 0, "\(scene.reports)")
    let before = scene.receivedBytes
    scene.run(5) { $0.receivedBytes > before }
    // The burst ends.
    scene.run(0.5)
    scene.line.inject(.freeze(for: Milliseconds(60_000)), at: scene.now)
    scene.run(seconds)
    #expect(scene.reported(.silent) == 1, "\(scene.reports)")
  }
}

/// A plain NMEA receiver with a burst in each period; at another rate than its own it is garbage.
private struct SlowLine: HostLine {
  var hostRate: UInt32 = 9600
  let rate: UInt32
  let period: UInt64
  private var now = Instant.zero
  private var received: [UInt8] = []
  private var epoch: UInt64 = 0

  init(rate: UInt32, period: UInt64) { (self.rate, self.period) = (rate, period) }

  var isPresent: Bool { true }
  var deadline: Instant? { received.isEmpty ? next : now }
  private var next: Instant { .zero + Milliseconds(700 + epoch * period) }
  mutating func send(_ bytes: [UInt8], at now: Instant) {}

  mutating func advance(to now: Instant) {
    self.now = now
    while now >= next {
      received += hostRate == rate ? sentences : [UInt8](repeating: 0xF1, count: 60)
      epoch += 1
    }
  }

  mutating func takeReceived() -> [UInt8] {
    defer { received = [] }
    return received
  }

  private var sentences: [UInt8] {
    let second = epoch * period / 1000
    let digits = { (number: UInt64) in String(number + 100).dropFirst() }
    let time = "10\(digits(second / 60 % 60))\(digits(second % 60)).00"
    return Wire.nmea("GPRMC,\(time),A,4807.038,N,01131.000,E,0.0,0.0,010626,,,A")
      + Wire.nmea("GPGGA,\(time),4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
  }
}

@Suite("The time between bursts")
struct BurstSpacingTests {
  /// Returns the spacing after frames at these milliseconds; unknown ones are 4 s.
  private static func spacing(_ frames: [UInt64], since start: UInt64 = 0) -> UInt64 {
    var spacing = BurstSpacing()
    for time in frames { spacing.receive(at: .zero + Milliseconds(time), since: .zero + Milliseconds(start)) }
    return spacing.period(unknown: Milliseconds(4000)).count
  }

  @Test("The second longest one of the last four counts")
  func secondLongest() {
    #expect(Self.spacing([100, 150, 200]) == 4000)
    #expect(Self.spacing([100, 150, 1100]) == 4000)
    #expect(Self.spacing([100, 150, 1100, 1150, 2200, 2290, 3300, 4400]) == 1100)
    #expect(Self.spacing([100, 10_100, 20_100]) == 10_000)
    // A pause in each burst.
    #expect(Self.spacing([100, 400, 10_100, 10_400, 20_100, 20_400]) == 9700)
    #expect(Self.spacing([100, 10_100, 20_100, 21_100, 22_100, 23_100]) == 1000)
    // A restart, or a lost burst.
    #expect(Self.spacing([100, 1100, 2100, 3100, 6100, 7100]) == 1000)
  }

  @Test("A line without pauses has no period; outages and desired silence do not count")
  func exceptions() {
    #expect(Self.spacing((0...140).map { $0 * 90 }) == 0)
    #expect(Self.spacing([100, 1100, 2100, 92_100]) == 4000)
    #expect(Self.spacing([100, 32_100, 33_100, 34_100, 35_100], since: 32_000) == 1000)
  }
}
