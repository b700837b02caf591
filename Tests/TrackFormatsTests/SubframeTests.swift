// SPDX-License-Identifier: Apache-2.0
import GPSD
import TestSupport
import Testing

@testable import ReceiverStream
@testable import sextant

/// The subframes of a satellite as UBX-RXM-SFRBX, and the values of the record that convbin 2.4.3 (RTKLIB) makes of them: random orbits
/// of Tests/rig/rinex_navigation.py, and for GLONASS a recording.
private struct Broadcast {
  var head: String
  var payloads: [String]
  var values: [Double]

  var bytes: [[UInt8]] {
    payloads.map { text in
      let digits = text.utf8.map { $0 > 0x39 ? $0 - 0x57 : $0 - 0x30 }
      return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
  }

  /// A day of the recording.
  var day: Day { head.hasPrefix("R") ? Day(year: 2023, month: 6, day: 28)! : Day(year: 2025, month: 4, day: 3)! }

  static let all = [
    Broadcast(
      head: "G03 2025 04 03 00 00 00",
      payloads: [
        "000300000a0002003000c0221b41811c36008513030000001c000000380000003f2f00001d181511ec88591f1d88721c",
        "000300000a0002001c00c0223a62811c2597101102e6df3a35a3cb01ccc0a0231705950765e864174fa4e7012a001815",
        "000300000a0002003600c0221883811ca60c4520249686087f1c1702b2a8503fc4a1a1083db72f355fcf4123332d2111",
      ],
      values: [
        0.000868145376444, 2.97256974591e-09, 3.46944695195e-15, 68.0, 530.875, -1.8747209468e-09, -2.55185548232,
        -5.41154295206e-05, 0.00609076255932, 4.46196645498e-05, 5152.952425, 345600.0, -6.05210661888e-05,
        1.2304542054, 3.98606061935e-06, 2.79771829016, 276.1875, -2.94939008173, -2.69110745257e-06,
        -2.81833168054e-09, 1.0, 2360.0, 0.0, 8.0, 0.0, -3.16649675369e-08, 68.0, 350268.0, 4.0,
      ]),
    Broadcast(
      head: "E02 2025 04 03 01 10 00",
      payloads: [
        "02020100090002006f9698027efd65076522769b008003250000a6b900000000fa3c0000000000f100000000",
        "0202010009000200688c9803faac2c3bf86a57560000dfd80040438500000000e23f0000000000ec00000000",
        "0202010009000200478298045b9617b61a97ff190040460c000089b3000000003f2600000000809800000000",
        "020201000900020000e0cd0511080000ab700a280000c006000000800000000011340000000040f600000000",
        "02020100090002000000000600000000000000000000000000000080000000003f3a00000000c0da00000000",
        "02020100090002000000800000000000000000000040e11400800d960000000065370000000080ee00000000",
        "0202010009000200c6969801788a9ac08657040000c001aa0000d49c0000000055290000000040ad00000000",
      ],
      values: [
        0.0624499805854, -1.3875961713e-08, 1.56125112838e-17, 610.0, 992.65625, -7.06779440201e-09, -1.55597990419,
        -1.08014792204e-05, 3.31259798259e-05, 4.46643680334e-05, 5440.23282623, 349800.0, 3.41944396496e-05,
        2.20242399781, 1.12466514111e-05, -0.245971031601, -228.90625, -2.90645465033, 1.16164124416e-06,
        -5.80738475803e-10, 513.0, 2360.0, 0.0, 0.13, 0.0, 1.49011611938e-08, -1.10594555736e-07, 350262.0,
      ]),
    Broadcast(
      head: "C06 2025 04 03 01 00 00",
      payloads: [
        "030600000a000200501590380090b82000aad80700daa1200000003b000000000000000000dd4e0100d2d61d00a6ef23",
        "030600000a0002005025903800ead320008f573100a2970a00075c0700fdba0d00df6c3500d16d2e00504a1800610e39",
        "030600000a000200503590380054e92000a6340500a05a2b00b4b0350003841400876e1f000d101a008a0e38000c6504",
      ],
      values: [
        -0.000526943476871, -1.56444723842e-09, 9.06664066741e-18, 6.0, -745.9375, -4.85377360772e-10,
        -2.12359197997, 4.175119102e-05, 0.00352272356395, -2.01701186597e-05, 5281.78300476, 349200.0,
        3.13175842166e-05, -1.16578382705, 8.32136720419e-07, -2.4954666481, -70.296875, -1.14720696036,
        5.27588404746e-07, 2.65653922695e-09, 0.0, 1004.0, 0.0, 2.0, 0.0, -4.83e-08, -3.25e-08, 350254.0, 9.0,
      ]),
    Broadcast(
      head: "R03 2023 06 28 14 45 00",
      payloads: [
        "0603000c040202005f4d47081e09909f0038d91901006e08",
        "0603000c04020200b600c710f906443000506de101006e08",
        "0603000c0402020056b0001c2896f4d900b82da001006e08",
        "0603000c04020200133b2a241303000000286eec01006e08",
      ],
      values: [
        8.05482268333e-05, 9.09494701773e-13, 312750.0, 9336.40380859, -2.74705696106, 0.0, 0.0, 7143.52197266,
        1.42334747314, 0.0, 5.0, 22690.5024414, 0.678525924683, -1.86264514923e-09,
      ]),
  ]
}

@Suite("Subframes of satellites")
struct SubframeTests {
  private static func navigation(_ payloads: [[UInt8]], date: Day?) -> RINEXNavigation {
    var content = RINEXNavigation(date: date)
    var stream = FrameStream()
    for payload in payloads { stream.receive(Wire.ubx(0x02, 0x13, payload).raw) { content.receive($0) } }
    stream.finish { content.receive($0) }
    return content
  }

  @Test("They give the values that convbin gives", arguments: 0..<4)
  func values(_ index: Int) throws {
    let broadcast = Broadcast.all[index]
    let content = Self.navigation(broadcast.bytes, date: broadcast.day)
    let found = try #require(content.ephemerides.first)
    #expect(content.count == 1)
    #expect(found.satellite.text + " " + RINEXText.clockDate(found.time) == broadcast.head)
    for (index, wanted) in broadcast.values.enumerated() {
      let value = index < found.values.count ? found.values[index] ?? 0 : 0
      #expect(abs(value - wanted) <= abs(wanted) * 5.1e-12, "value \(index)")
    }
  }

  @Test("A subframe that is lost leaves no ephemeris", arguments: 0..<4)
  func lost(_ index: Int) {
    let broadcast = Broadcast.all[index]
    // Galileo's words 6 and 0 are not of the ephemeris.
    for lost in broadcast.payloads.indices where !(index == 1 && (4...5).contains(lost)) {
      var rest = broadcast.bytes
      rest.remove(at: lost)
      #expect(Self.navigation(rest, date: broadcast.day).isEmpty, "without \(lost)")
    }
  }

  @Test("Without a day, GPS and GLONASS have no date; Galileo and BeiDou send their weeks", arguments: 0..<4)
  func undated(_ index: Int) {
    let broadcast = Broadcast.all[index]
    let content = Self.navigation(broadcast.bytes, date: nil)
    let needsDay = "GR".contains(broadcast.head.prefix(1))
    #expect(content.isEmpty == needsDay && (content.undated > 0) == needsDay)
  }

  @Test("UBX-AID-EPH has the same subframes of GPS")
  func aiding() throws {
    let broadcast = Broadcast.all[0]
    // The words without parity, from the second one on.
    let words = broadcast.bytes.map { payload in
      stride(from: 8, to: 48, by: 4).map { at in
        let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(payload[at + $1]) << UInt32(8 * $1) }
        return word >> 6 & 0xFF_FFFF
      }
    }
    func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    let payload = bytes(3) + bytes(words[0][1]) + words.flatMap { $0[2...].flatMap(bytes) }
    var content = RINEXNavigation(date: broadcast.day)
    var stream = FrameStream()
    stream.receive(Wire.ubx(0x0B, 0x31, payload).raw) { content.receive($0) }
    stream.finish { content.receive($0) }
    let found = try #require(content.ephemerides.first)
    let direct = Self.navigation(broadcast.bytes, date: broadcast.day).ephemerides[0]
    #expect(found.values == direct.values && found.time == direct.time)
    // Without an ephemeris the message has eight bytes.
    var none = RINEXNavigation(date: broadcast.day)
    stream.receive(Wire.ubx(0x0B, 0x31, bytes(3) + bytes(0)).raw) { none.receive($0) }
    stream.finish { none.receive($0) }
    #expect(none.isEmpty)
  }
}
