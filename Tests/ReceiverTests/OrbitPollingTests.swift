// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@testable import Receiver
@testable import ReceiverStream

@Suite("Orbits that a receiver reports")
struct OrbitPollingTests {
  private static func gps(_ number: UInt8) -> OrbitReport.Satellite { .init(system: 0, number: number) }

  @Test("NAV-ORB: a usability of n is n - 1 quarters of an hour for certain; 0, 1 and 31 are none")
  func navORB() {
    var payload: [UInt8] = [0, 0, 0, 0, 1, 8, 0, 0]
    let usabilities: [UInt8] = [16, 2, 30, 1, 0, 31]
    for (index, usability) in usabilities.enumerated() {
      payload += [0, UInt8(index + 1), 1 | 3 << 2, usability | 1 << 5, 0, 0]
    }
    // An unhealthy satellite, and one without a source.
    payload += [0, 7, 0b1110, 16 | 1 << 5, 0, 0]
    payload += [2, 8, 0b1101, 16, 0, 0]
    let report = OrbitReport(navORB: payload)
    #expect(report.usableSeconds == [Self.gps(1): 13_500, Self.gps(2): 900, Self.gps(3): 26_100])
    #expect(report.usableSeconds(of: [2, 1, 9].map(Self.gps)) == [13_500, 900])
  }

  @Test("RXM-SVSI: an ephemeris lasts until two hours after its reference time")
  func rxmSVSI() {
    // Its age is 2 h ahead of the reference time, 1 h ahead, 0 h, 1 h.
    var payload: [UInt8] = [0, 0, 0, 0, 0, 0, 7, 7]
    for (index, age) in ([2, 3, 4, 5] as [UInt8]).enumerated() {
      payload += [UInt8(index + 1), 0b111 << 4, 0, 0, 45, age << 4]
    }
    // Unhealthy, without an ephemeris, not available.
    // By b4, b5 and b7.
    for (index, flags) in ([0b0110, 0b0101, 0b1111] as [UInt8]).enumerated() {
      payload += [UInt8(index + 5), flags << 4, 0, 0, 45, 2 << 4]
    }
    #expect(
      OrbitReport(rxmSVSI: payload).usableSeconds == [Self.gps(1): 10_800, Self.gps(2): 7200, Self.gps(3): 3600])
  }

  @Test("A report that is too short for its number of satellites has no orbits", arguments: 0..<20)
  func short(length: Int) {
    let payload = Array([UInt8](repeating: 0x51, count: 20).prefix(length))
    #expect(OrbitReport(navORB: payload).usableSeconds.isEmpty)
    #expect(OrbitReport(rxmSVSI: payload).usableSeconds.isEmpty)
  }

  @Test("The satellites of an epoch that lost sentences are not taken for all; after three such epochs they are")
  func lackingSatellites() {
    var fix = Fix()
    (fix.kind, fix.latitudeDegrees, fix.longitudeDegrees, fix.satellitesUsed) = (.threeD, 48, 11, 12)
    func sky(_ count: Int) -> Sky {
      var sky = Sky()
      for number in 1...UInt8(count) { sky.add(Satellite(system: .gps, number: number, isUsed: true)) }
      return sky
    }
    let m10 = ReceiverDescription(strings: ["ROM SPG 5.10", "000A0000", "PROTVER=34.10"])
    for (counts, polled) in [([4, 12], 2), ([12], 1), ([4, 5, 4, 6], 4), ([3, 3, 3, 3, 3], nil)] as [([Int], Int?)] {
      var polling = OrbitPolling()
      let first = counts.firstIndex { count in
        polling.receive(fix, sky(count))
        return polling.next(m10, bitRate: 9600) != nil
      }
      #expect(first.map { $0 + 1 } == polled)
    }
  }

  // MARK: The session

  private static func orbits(_ scene: SessionScene) -> [[Double]] {
    scene.reports.compactMap { if case .orbits(let seconds) = $0.report { seconds } else { nil } }
  }

  private static func scene(_ model: ReceiverModel, isHot: Bool = true, polls: Bool = true) throws -> SessionScene {
    let text = "start 48.1642,11.6056 512m\n" + (isHot ? "hot\n" : "")
    return SessionScene(model, scenario: try Scenario(parsing: text)) { $0.pollsOrbits = polls }
  }

  @Test(
    "A receiver that starts hot reports once how long the orbits of its satellites in use last",
    arguments: ReceiverModel.ofUBlox.filter { $0 != .nmea })
  func hot(model: ReceiverModel) throws {
    let scene = try Self.scene(model)
    scene.run(120)
    let reported = Self.orbits(scene)
    #expect(reported.count == 1)
    let seconds = try #require(reported.first)
    #expect(seconds.count >= 4 && seconds[3] >= 2 * 3600)
  }

  @Test(
    "A receiver that starts cold reports the orbits that it has just received", arguments: [ReceiverModel.m6, .m10])
  func cold(model: ReceiverModel) throws {
    let scene = try Self.scene(model, isHot: false)
    scene.run(120)
    let reported = Self.orbits(scene)
    #expect(reported.count == 1)
    #expect(try #require(reported.first?.first) > 2.5 * 3600)
  }

  @Test("A session that was not asked to, and one with a receiver without UBX, poll no orbits")
  func unasked() throws {
    for scene in [try Self.scene(.m10, polls: false), try Self.scene(.nmea)] {
      scene.run(60)
      #expect(!scene.positions.isEmpty && Self.orbits(scene).isEmpty)
    }
  }

  @Test("Each start of the receiver is polled once: after a reset, and not after a sleep")
  func starts() throws {
    let scene = try Self.scene(.m10)
    scene.run(30)
    scene.sleep(seconds: 20)
    scene.run(60)
    #expect(scene.positions.last.map { $0.at > scene.now.moved(by: -2) } ?? false)
    #expect(Self.orbits(scene).count == 1)
    scene.line.inject(.powerCycle(for: Milliseconds(3000), losingBackup: false), at: scene.now)
    scene.run(60)
    #expect(Self.orbits(scene).count == 2)
  }

  @Test("A receiver that does not reply is polled twice, and the session goes on")
  func silent() throws {
    let scene = try Self.scene(.m10)
    #expect(scene.run(60) { $0.isSteady })
    scene.line.inject(.silence(for: Milliseconds(60_000)), at: scene.now)
    let before = scene.sentBytes
    scene.run(30)
    #expect(Self.orbits(scene).isEmpty && scene.sentBytes - before <= 16)
  }
}
