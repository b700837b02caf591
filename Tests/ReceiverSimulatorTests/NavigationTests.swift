// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("Fixes of a simulated receiver")
struct NavigationTests {
  /// The distance between a fix and the true position, metres.
  private static func error(_ fix: Fix, _ truth: Truth) -> Double {
    let north = ((fix.latitudeDegrees ?? 0) - truth.latitudeDegrees) * 111_195
    let east = ((fix.longitudeDegrees ?? 0) - truth.longitudeDegrees) * 111_195 * 0.667
    return (north * north + east * east).squareRoot()
  }

  @Test(
    "The output decodes without an error, and the fixes are at the true position", arguments: ReceiverModel.ofUBlox)
  func truth(model: ReceiverModel) throws {
    var line = VirtualLine(model: model, startUTCSeconds: Host.start)
    var playback = Playback()
    for second in 1...120 as ClosedRange<UInt64> {
      line.advance(to: .zero + Milliseconds(second * 1000))
      let bytes = line.takeReceived()
      playback.receive(bytes)
    }
    let (rejected, counters) = (playback.rejectedFields, playback.counters)
    #expect(rejected == 0)
    #expect(counters.badChecksums == 0 && counters.skippedBytes == 0)
    let fixes = playback.fixes.filter(\.hasPosition)
    #expect(fixes.count > 100)
    for fix in fixes {
      let time = try #require(fix.time)
      let seconds = Double(time.nanosecondsSince1970 / 1_000_000 - Host.start * 1000) / 1000
      let truth = line.receiver.truth(at: .zero + Milliseconds(seconds: seconds))
      #expect(Self.error(fix, truth) < 16, "\(seconds)")
    }
  }

  @Test("The reported accuracy matches the error", arguments: [SkyView.open, .urban])
  func accuracy(sky: SkyView) throws {
    var scenario = Scenario.hot
    scenario.setSky(sky, fromSeconds: 0)
    var host = Host(.m10, scenario)
    host.run(seconds: 1)
    #expect(host.set([(0x1074_0002, 0), (0x2091_0007, 1)]) == true)
    host.run(seconds: 120)
    host.forget()
    host.run(seconds: 20_000)
    let truth = host.line.receiver.truth(at: host.now)
    var (squares, told, count) = (0.0, 0.0, 0.0)
    for payload in host.messages.filter({ $0.identity == 0x0107 }).map(\.payload) {
      let north = (Double(payload.signed4(28)) * 1e-7 - truth.latitudeDegrees) * 111_195
      let east = (Double(payload.signed4(24)) * 1e-7 - truth.longitudeDegrees) * 111_195 * 0.667
      squares += north * north + east * east
      told += Double(payload.unsigned4(40)) / 1000
      count += 1
    }
    let ratio = (squares / count).squareRoot() / (told / count)
    #expect(ratio > 0.75 && ratio < 1.1, "\(ratio)")
  }

  @Test("The first fix comes after the time of the data sheet", arguments: ReceiverModel.ofUBlox)
  func firstFix(model: ReceiverModel) throws {
    var cold = Host(model, .cold)
    cold.run(seconds: 60)
    let slow = try #require(cold.line.receiver.timeToFirstFix).seconds
    #expect(cold.line.receiver.startKind == .cold)
    #expect(slow > 20 && slow < 43)
    var hot = Host(model)
    hot.run(seconds: 60)
    let fast = try #require(hot.line.receiver.timeToFirstFix).seconds
    #expect(hot.line.receiver.startKind == .hot)
    #expect(fast < 3)
  }

  @Test(
    "CFG-RST selects the cleared data: hot, warm and cold starts",
    arguments: [
      (0x0000, StartKind.hot), (0x0001, .warm), (0xFFFF, .cold),
    ] as [(UInt16, StartKind)])
  func reset(mask: UInt16, kind: StartKind) {
    var host = Host(.m8)
    host.run(seconds: 60)
    host.send(0x0604, [UInt8(mask & 0xFF), UInt8(mask >> 8), 1, 0])
    host.run(seconds: 1)
    #expect(host.line.receiver.startKind == kind)
    #expect(host.count(0x0501) == 0 && host.count(0x0500) == 0)
  }

  @Test("Without a sky there is no fix; it returns with the sky")
  func noSky() {
    var scenario = Scenario.hot
    scenario.setSky(.none, fromSeconds: 60)
    scenario.setSky(.open, fromSeconds: 120)
    var host = Host(.m9, scenario)
    host.run(seconds: 59)
    #expect(host.line.receiver.hasFix)
    host.run(seconds: 5)
    #expect(!host.line.receiver.hasFix)
    host.run(seconds: 55)
    #expect(!host.line.receiver.hasFix)
    host.run(seconds: 6)
    #expect(host.line.receiver.hasFix)
  }

  @Test("Orbits are collected in half a minute and expire after four hours")
  func ephemerides() {
    var host = Host(.m10, .cold)
    host.run(seconds: 120)
    #expect(host.line.receiver.usableEphemerides > 12)
    host.line.inject(.power(isOn: false), at: host.now)
    host.run(seconds: 3 * 3600)
    host.line.inject(.power(isOn: true), at: host.now)
    host.run(seconds: 1)
    #expect(host.line.receiver.startKind == .hot)
    host.line.inject(.power(isOn: false), at: host.now)
    host.run(seconds: 4.1 * 3600)
    #expect(host.line.receiver.usableEphemerides == 0)
    host.line.inject(.power(isOn: true), at: host.now)
    host.run(seconds: 1)
    #expect(host.line.receiver.startKind == .warm)
  }

  /// The usabilities of GPS ephemerides from NAV-ORB, and their ages from RXM-SVSI.
  private static func orbits(_ host: inout Host, _ model: ReceiverModel) throws -> [UInt8] {
    if model == .m6 {
      let answer = host.ask(0x0220)
      let payload = try #require(answer)
      return (0..<Int(payload[7])).compactMap { payload[9 + 6 * $0] & 0x20 != 0 ? payload[13 + 6 * $0] >> 4 : nil }
    }
    let answer = host.ask(0x0134)
    let payload = try #require(answer)
    return (0..<Int(payload[5])).compactMap {
      payload[8 + 6 * $0] == 0 && payload[11 + 6 * $0] >> 5 != 0 ? payload[11 + 6 * $0] & 31 : nil
    }
  }

  @Test(
    "The report of orbits is true after a hot, an old, a warm and a cold start",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10, .f9p])
  func orbitReport(model: ReceiverModel) throws {
    let isM6 = model == .m6
    var host = Host(model, .hot, hasRate: false)
    host.run(seconds: 5)
    // Received a moment ago: they last four hours, and the reference time is two hours ahead.
    let new = try Self.orbits(&host, model)
    #expect(new.count >= 6 && new.allSatisfy { $0 == (isM6 ? 2 : 16) })
    host.line.inject(.power(isOn: false), at: host.now)
    host.run(seconds: 3 * 3600)
    host.line.inject(.power(isOn: true), at: host.now)
    host.run(seconds: 5)
    let old = try Self.orbits(&host, model)
    #expect(old.count >= 4 && old.allSatisfy { $0 == (isM6 ? 5 : 4) })
    for mask in [0x0001, 0xFFFF] as [UInt16] {
      host.send(0x0604, [UInt8(mask & 0xFF), UInt8(mask >> 8), 1, 0])
      host.run(seconds: 5)
      let cleared = try Self.orbits(&host, model)
      #expect(cleared == [])
    }
    host.run(seconds: 90)
    let received = try Self.orbits(&host, model)
    #expect(received.count >= 6)
  }

  @Test("NAV-EOE is the last message of an epoch")
  func endOfEpoch() {
    var host = Host(.m9, hasRate: false)
    host.run(seconds: 1)
    #expect(
      host.set([(0x2091_0162, 1), (0x2091_0009, 1), (0x2091_0018, 1), (0x2091_0348, 1), (0x2091_003B, 1)]) == true)
    host.run(seconds: 1.3)
    host.forget()
    host.run(seconds: 1)
    #expect(host.messages.last?.identity == 0x0161)
    #expect(host.count(0x0161) == 1 && host.count(0x0143) == 1)
  }
}
