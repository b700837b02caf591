// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The plausibility of a stored entry")
struct BatchedFixTests {
  /// A LOG-BATCH as a receiver writes it; `change` changes what is to be different.
  private static func batched(_ change: (inout LogBATCH.Writer) -> Void = { _ in }) -> BatchedFix? {
    fix(
      written { output in
        LogBATCH.encode(into: &output) {
          $0.contentValid(1)
          $0.msgCnt(7)
          $0.year(2026)
          $0.month(11)
          $0.day(23)
          $0.hour(1)
          $0.min(2)
          $0.sec(3)
          $0.valid(3)
          $0.fixType(3)
          $0.flags(1)
          $0.numSV(9)
          $0.lat(481_000_000)
          $0.lon(116_000_000)
          $0.height(500_000)
          $0.hMSL(450_000)
          $0.hAcc(1000)
          $0.vAcc(2000)
          $0.gSpeed(1500)
          $0.headMot(-9_000_000)
          $0.pDOP(100)
          change(&$0)
        }
      })
  }

  /// LOG-RETRIEVEPOS of the same moment.
  private static func logged(_ change: (inout LogRETRIEVEPOS.Writer) -> Void = { _ in }) -> BatchedFix? {
    fix(
      written { output in
        LogRETRIEVEPOS.encode(into: &output) {
          $0.lat(481_000_000)
          $0.lon(116_000_000)
          $0.hMSL(450_000)
          $0.hAcc(1000)
          $0.gSpeed(1500)
          $0.heading(27_000_000)
          $0.fixType(3)
          $0.year(2026)
          $0.month(11)
          $0.day(23)
          $0.hour(1)
          $0.minute(2)
          $0.second(3)
          $0.numSV(9)
          change(&$0)
        }
      })
  }

  private static func fix(_ bytes: [UInt8]) -> BatchedFix? {
    guard let frame = UBXFrame(bytes.raw) else { return nil }
    return BatchedFix(frame)
  }

  @Test("The fields of an entry are read")
  func asWritten() throws {
    for entry in [try #require(Self.batched()), try #require(Self.logged())] {
      #expect(entry.fix.time == UTCTime(2026, 11, 23, 1, 2, 3) && entry.fix.timeIsResolved)
      #expect(entry.fix.hasPosition)
      #expect(entry.fix.horizontalAccuracyMetres == 1)
      #expect(entry.fix.speedMetresPerSecond == 1.5)
      #expect(entry.fix.courseDegrees == 270)
      #expect(entry.fix.heightAboveSeaLevelMetres == 450)
    }
    #expect(Self.batched()?.fix.geoidSeparationMetres == 50)
  }

  @Test("A fraction beyond a second makes no time", arguments: [.min, -1_000_000_001, 1_000_000_001, .max] as [Int32])
  func fraction(nanoseconds: Int32) throws {
    let fix = try #require(Self.batched { $0.fracSec(nanoseconds) }).fix
    #expect(fix.time == nil && !fix.timeIsResolved)
    #expect(fix.hasPosition)
  }

  @Test("A year beyond all clocks makes no time", arguments: [0, 1979, 2200, .max] as [UInt16])
  func year(_ year: UInt16) throws {
    #expect(try #require(Self.batched { $0.year(year) }).fix.time == nil)
    #expect(try #require(Self.logged { $0.year(year) }).fix.time == nil)
  }

  @Test("Heights at the ends of their range are unchanged")
  func heights() throws {
    let entry = try #require(
      Self.batched {
        $0.height(.max)
        $0.hMSL(.min)
      })
    #expect(entry.fix.geoidSeparationMetres == 4_294_967.295)
  }

  @Test("An impossible course is absent; more than a turn is reduced")
  func course() throws {
    #expect(try #require(Self.batched { $0.headMot(.min) }).fix.courseDegrees == nil)
    #expect(try #require(Self.logged { $0.heading(.max) }).fix.courseDegrees == nil)
    #expect(try #require(Self.batched { $0.headMot(36_000_000) }).fix.courseDegrees == 0)
  }

  @Test("An impossible speed is absent, and so is its course")
  func speed() throws {
    for speed in [Int32.min, -1, 10_000_000] {
      let fix = try #require(Self.batched { $0.gSpeed(speed) }).fix
      #expect(fix.speedMetresPerSecond == nil && fix.courseDegrees == nil)
    }
    #expect(try #require(Self.logged { $0.gSpeed(10_000_000) }).fix.speedMetresPerSecond == nil)
  }

  @Test("The largest accuracies stand for none", arguments: [0xFFFF_FFF0, .max] as [UInt32])
  func accuracy(_ raw: UInt32) throws {
    let unknown = try #require(
      Self.batched {
        $0.hAcc(raw)
        $0.vAcc(raw)
        $0.sAcc(raw)
        $0.tAcc(raw)
        $0.headAcc(raw)
      }
    ).fix
    #expect(unknown.horizontalAccuracyMetres == nil && unknown.accuracySource == .none)
    #expect(unknown.verticalAccuracyMetres == nil)
    #expect(unknown.speedAccuracyMetresPerSecond == nil)
    #expect(unknown.timeAccuracySeconds == nil)
    #expect(unknown.courseAccuracyDegrees == nil)
    #expect(try #require(Self.logged { $0.hAcc(raw) }).fix.horizontalAccuracyMetres == nil)
  }

  @Test("Any bytes give values within their bounds", arguments: 1...4 as ClosedRange<UInt64>)
  func anyBytes(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var sent = 0
    for _ in 0..<20_000 {
      let isBatch = random.oneIn(2)
      var payload = Self.wild(&random, count: isBatch ? 100 : 40)
      // The version, and more often than chance would have it a fix.
      payload[isBatch ? 0 : 30] = 0
      if random.oneIn(2) { payload[isBatch ? 24 : 29] = 3 }
      guard let entry = Self.fix(Wire.ubx(0x21, isBatch ? 0x11 : 0x0B, payload)) else { continue }
      sent += entry.fix.hasPosition ? 1 : 0
      if let complaint = Self.complaint(entry.fix) { Issue.record("\(complaint) of \(payload)") }
    }
    #expect(sent > 100)
  }

  /// Bytes at random, or words at the ends of their ranges.
  private static func wild(_ random: inout SeededRandomNumberGenerator, count: Int) -> [UInt8] {
    var payload = random.bytes(count)
    let ends: [[UInt8]] = [
      [0, 0, 0, 0], [0, 0, 0, 0x80], [0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0, 0], [3, 3, 3, 3],
    ]
    for index in stride(from: 0, to: count - 3, by: 4) where random.oneIn(2) {
      payload.replaceSubrange(index..<index + 4, with: random.element(of: ends))
    }
    return payload
  }

  private static func complaint(_ fix: Fix) -> String? {
    if !(fix.time?.isBelieved ?? true) { return "time" }
    if abs(fix.latitudeDegrees ?? 0) > 90 || abs(fix.longitudeDegrees ?? 0) > 180 { return "place" }
    if !(0...360).contains(fix.courseDegrees ?? 0) { return "course" }
    if !(0..<10_000).contains(fix.speedMetresPerSecond ?? 0) { return "speed" }
    for accuracy in [
      fix.horizontalAccuracyMetres, fix.verticalAccuracyMetres, fix.speedAccuracyMetresPerSecond,
      fix.timeAccuracySeconds,
    ] where !(0..<4_294_967.28).contains(accuracy ?? 0) {
      return "accuracy"
    }
    return nil
  }
}
