// SPDX-License-Identifier: Apache-2.0
import GPSD
import TestSupport
import Testing

@testable import ReceiverStream
@testable import sextant

/// A message of RTCM 3 of fields of bits, from the first 12 bits on.
private func rtcm(_ fields: [(value: Int64, width: Int)]) -> [UInt8] {
  var bits: [Bool] = []
  for field in fields { for bit in (0..<field.width).reversed() { bits.append(field.value >> Int64(bit) & 1 != 0) } }
  var payload = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
  for (index, bit) in bits.enumerated() where bit { payload[index / 8] |= 0x80 >> UInt8(index % 8) }
  return Wire.rtcm3(payload)
}

/// `Tests/rig/run rinex` compares the values of all systems with convbin; these tests check the rules around them.
@Suite("RINEX navigation")
struct RINEXNavigationTests {
  private static let day = Day(year: 2025, month: 4, day: 3)!

  /// An ephemeris of GPS: week and time of week, and the root of the semi-major axis.
  private static func gps(
    _ number: Int64 = 5, week: Int64 = 2360, second: Int64 = 345_600, issue: Int64 = 7, root: Int64 = 5153 << 19,
    isLong: Int64 = 0
  ) -> [UInt8] {
    rtcm([
      (1019, 12), (number, 6), (week % 1024, 10), (1, 4), (1, 2), (-3, 14), (issue, 8), (second / 16, 16), (0, 8),
      (-2, 16), (1 << 20, 22), (issue, 10), (-64, 16), (5, 16), (1 << 30, 32), (9, 16), (1 << 25, 32), (-9, 16),
      (root, 32),
      (second / 16, 16), (1, 16), (1 << 30, 32), (2, 16), (1 << 29, 32), (32, 16), (-(1 << 30), 32), (-7, 24), (-1, 8),
      (0, 6), (0, 1), (isLong, 1),
    ])
  }

  private static func file(_ bytes: [UInt8], date: Day? = day) -> (lines: [String], content: RINEXNavigation) {
    var content = RINEXNavigation(date: date)
    var stream = FrameStream()
    stream.receive(bytes.raw) { content.receive($0) }
    stream.finish { content.receive($0) }
    var text = JSONLine()
    RINEXNavigationFile(content, RINEXHeader()).write(&text)
    let lines = text.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let end = lines.firstIndex { $0.hasSuffix("END OF HEADER") } ?? 0
    return (Array(lines[(end + 1)...].dropLast()), content)
  }

  @Test("A record of GPS has eight lines; the date, the week and the values are in their columns")
  func record() {
    let (lines, _) = Self.file(Self.gps())
    #expect(lines.count == 8)
    #expect(lines[0] == "G05 2025 04 03 00 00 00 4.882812500000D-04-2.273736754432D-13 0.000000000000D+00")
    #expect(lines[1].hasPrefix("     7.000000000000D+00-2.000000000000D+00"))
    #expect(lines[2].contains(" 3.906250000000D-03") && lines[2].hasSuffix(" 5.153000000000D+03"))
    #expect(lines[3].hasPrefix("     3.456000000000D+05"))
    #expect(lines[5].hasPrefix("    -1.071473202588D-12 1.000000000000D+00 2.360000000000D+03 0.000000000000D+00"))
    #expect(lines[6].hasPrefix("     2.800000000000D+00 0.000000000000D+00-4.656612873077D-10 7.000000000000D+00"))
    #expect(lines[7] == "     9.999000000000D+08 4.000000000000D+00")
  }

  @Test("The week follows from the stated day, also across its repetition after 1024 weeks")
  func week() {
    // Week 2047 + 1 is 0 again, on 2019-04-07.
    for (week, year, text) in [(2047, 2019, "2019 04 04"), (2048, 2019, "2019 04 11"), (1024, 1999, "1999 08 26")] {
      let (lines, _) = Self.file(Self.gps(week: Int64(week)), date: Day(year: year, month: 6, day: 1))
      #expect(lines.first?.dropFirst(4).hasPrefix(text) == true, "\(week)")
    }
  }

  @Test("Without a day GPS has no date, and Galileo and BeiDou have their own weeks")
  func undated() {
    let (lines, content) = Self.file(Self.gps(), date: nil)
    #expect(lines.isEmpty && content.undated == 1 && content.isEmpty)
  }

  @Test("Each ephemeris is written once, by satellite and time")
  func order() {
    let bytes =
      Self.gps(9) + Self.gps(5, second: 352_800, issue: 8) + Self.gps(5) + Self.gps(5) + Self.gps(9)
    let (lines, content) = Self.file(bytes)
    #expect(content.count == 3)
    #expect(
      lines.filter { $0.hasPrefix("G") }.map { $0.prefix(23) }
        == ["G05 2025 04 03 00 00 00", "G05 2025 04 03 02 00 00", "G09 2025 04 03 00 00 00"])
  }

  @Test("A longer interval of the curve fit follows from the issue of the clock")
  func fit() {
    #expect(Self.file(Self.gps(issue: 7, isLong: 1)).lines.last?.hasSuffix(" 6.000000000000D+00") == true)
    #expect(Self.file(Self.gps(issue: 241, isLong: 1)).lines.last?.hasSuffix(" 8.000000000000D+00") == true)
  }

  @Test("Satellites, times and orbits that cannot be, and messages that are too short, are left out")
  func hostile() {
    for bytes in [Self.gps(0), Self.gps(63), Self.gps(second: 16 * 60_000), Self.gps(root: 0)] {
      #expect(Self.file(bytes).content.isEmpty)
    }
    #expect(Self.file(rtcm([(1019, 12), (5, 6), (312, 10)])).content.isEmpty)
    #expect(Self.file(rtcm([(1020, 12), (5, 6)])).content.isEmpty)
    #expect(Self.file(Wire.ubx(0x02, 0x13, [0, 5, 0, 0, 200, 0, 2, 0, 1, 2, 3, 4])).content.isEmpty)
    var random = SeededRandomNumberGenerator(seed: 7)
    for _ in 0..<300 {
      let system = [0, 2, 3, 5, 6][Int(random.next() % 5)] as UInt8
      let words = (0..<40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let head: [UInt8] = [system, UInt8(random.next() % 70), UInt8(random.next() % 6), 7, 10, 0, 2, 0]
      _ = Self.file(Wire.ubx(0x02, 0x13, head + words))
    }
  }

  @Test(
    "Numbers have twelve digits behind the point",
    arguments: [
      (0.0, " 0.000000000000D+00"), (1, " 1.000000000000D+00"), (-0.5, "-5.000000000000D-01"),
      (9.9999999999999e9, " 1.000000000000D+10"), (0x1p-66, " 1.355252715607D-20"), (604_784, " 6.047840000000D+05"),
      (.infinity, " 0.000000000000D+00"), (1e-300, " 0.000000000000D+00"), (3.1415926535898, " 3.141592653590D+00"),
    ])
  func numbers(_ value: Double, _ text: String) { #expect(RINEXText.scientific(value) == text) }
}
