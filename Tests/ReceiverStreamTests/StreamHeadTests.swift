// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// Recordings without pauses whose first bytes are not a sentence.
@Suite("The bytes before the first sentence")
struct StreamHeadTests {
  private static let epochs = 8

  /// A sentence, with a tag block in front of it if it `isTagged`.
  private func wire(_ sentence: String, isTagged: Bool) -> [UInt8] {
    (isTagged ? Array(Self.tagBlock.utf8) : []) + Wire.nmea(sentence)
  }

  private static let tagBlock = "\\s:r0,c:1700000000*78\\"

  /// Bursts with one HDOP, so that no value shows their order. `isTagged` states for each sentence whether a tag block precedes it.
  private func bursts(_ order: String, isTagged: (Int) -> Bool = { _ in false }) -> [[UInt8]] {
    (0..<Self.epochs).flatMap { index in
      let time = "1011\(10 + index)"
      return order.split(separator: " ").map { name in
        switch name {
        case "RMC": rmc(time)
        case "GGA": gga(time, hdop: "0.9")
        case "GLL": gll(time)
        case "ZDA": zda(time)
        case "GSA": "GPGSA,A,3,05,09,14,30,,,,,,,,,1.\(index),0.9,1.5"
        case "GSV": "GPGSV,1,1,01,05,4\(index),083,46"
        case "VTG": "GPVTG,7\(index).0,T,,M,5.0,N,9.3,K,A"
        default: "HEHDT,12\(index).0,T"
        }
      }
    }.enumerated().map { wire($1, isTagged: isTagged($0)) }
  }

  /// The tenths of PDOP and the elevation of the satellite in the last report of each epoch, less those of the first epoch.
  private func values(_ bytes: [UInt8], byteByByte: Bool = false) -> [Int: [Int?]] {
    var playback = Playback()
    if byteByByte { for byte in bytes { playback.receive([byte]) } } else { playback.receive(bytes) }
    playback.finish()
    var found: [Int: [Int?]] = [:]
    for report in playback.reports {
      guard let time = report.fix.time else { continue }
      found[Int(time.nanosecondsOfDay / 1_000_000_000 % 60) - 10] = [
        report.fix.pdop.map { Int(($0 * 10).rounded()) - 10 },
        report.satellites.first.map { Int($0.elevationDegrees) - 40 },
      ]
    }
    return found
  }

  private static let ownValues = Dictionary(uniqueKeysWithValues: (0..<epochs).map { ($0, [$0, $0] as [Int?]) })

  /// Bytes before a whole sentence that are not a part of one.
  static let wholeHeads: [String: [UInt8]] = [
    "comment": Array("# Name: my receiver\n".utf8), "two comments": Array("# a*5F\r\n# b\r\n".utf8),
    "long comment": Array("# \(String(repeating: "x", count: 1200))\n".utf8),
    "text": Array("Name: my receiver*\n".utf8),
    "byte order mark": [0xEF, 0xBB, 0xBF], "XML": Array("<log>\n".utf8), "blank line": Array("\r\n".utf8),
    "blank lines": Array("\r\n\r\n".utf8), "NUL": [0], "NULs": [0, 0, 0], "blanks": Array("  \t".utf8),
    "time stamp": Array("2026-03-23 12:00:00.000 ".utf8), "tag block": Array(tagBlock.utf8),
    "tag block of another sentence": Array("\\g:1-2-1234*5A\\$GPTXT,hello*00\r\n".utf8),
    "AIS": Array("!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24\r\n".utf8),
    "AIS with a wrong checksum": Array("!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*25\r\n".utf8),
    "sentence without a checksum": Array("$GPTXT,hello\r\n".utf8),
    "sentence with a wrong checksum": Array("$GPTXT,hello*00\r\n".utf8),
    "half of a UBX frame": Array(navPVT(9)[50...]), "start of a UBX frame": [0xB5, 0x62, 1],
    "wrong rate": [0xF8, 0x80, 0x1E, 0xE0, 0x78, 0x06, 0xFE, 0x24, 0x98, 0x66, 0x0C, 0x80],
  ]

  @Test(
    "A stream begins with a burst after bytes that are not a part of a sentence",
    arguments: wholeHeads.keys.sorted())
  func wholeBursts(head: String) {
    for order in ["GSV GSA RMC GGA", "GSA GSV GGA ZDA RMC", "GSV RMC GSA GLL"] {
      let bytes = Self.wholeHeads[head]! + bursts(order).flatMap { $0 }
      #expect(values(bytes) == Self.ownValues, "\(order)")
      #expect(values(bytes, byteByByte: true) == Self.ownValues, "\(order), byte by byte")
    }
  }

  @Test("Tag blocks before all sentences or some leave the order of the burst", arguments: 1...5)
  func tagBlocks(distance: Int) {
    for order in ["GSV GSA RMC GGA", "GSV RMC GSA GLL", "RMC GGA GSA GSV"] {
      let bytes = bursts(order) { $0 % distance == 0 }.flatMap { $0 }
      #expect(values(bytes) == Self.ownValues, "\(order)")
    }
  }

  /// Bytes before the rest of a sentence.
  static let textBefore: [String: [UInt8]] = [
    "nothing": [],
    "comment": Array("# Name: my receiver\n".utf8),
    "byte order mark and comment": [0xEF, 0xBB, 0xBF, 0x23, 0x0A],
    "wrong rate": [0xF8, 0x80, 0x24, 0xE0, 0x78, 0x06, 0xFE, 0x98],
  ]

  @Test(
    "A stream does not begin with a burst after a part of a sentence",
    arguments: textBefore.keys.sorted(), [true, false])
  func cut(text: String, isTagged: Bool) {
    // GGA is cut. GSA and GSV are of its burst.
    let sentences = bursts("RMC GGA GSA GSV") { _ in isTagged }
    let head = Self.textBefore[text]!
    // The first whole epoch may have satellites of the cut one.
    let expected = Self.ownValues.filter { $0.key > 1 }
    let size = sentences[1].count
    // CR LF may be an empty line, and a single digit only follows nothing.
    let ends = head.isEmpty ? [1, 3, 4, 5, 6, 20, size / 2 - 5] : [5, 6, 20, size / 2 - 5]
    for end in ends {
      let bytes = head + sentences[1].suffix(end) + sentences[2...].flatMap { $0 }
      #expect(values(bytes).filter { $0.key > 1 } == expected, "\(end) bytes")
      #expect(values(bytes, byteByByte: true).filter { $0.key > 1 } == expected, "\(end) bytes, byte by byte")
    }
    let log = head + Array("OMPUTED,NARROW_INT,0.37,67.02*5f2c8d1a\r\n".utf8) + sentences[2...].flatMap { $0 }
    #expect(values(log).filter { $0.key > 1 } == expected, "a log with a CRC-32")
    guard isTagged else { return }
    // The tag block of GSA is cut.
    for start in [1, 2, 10, Self.tagBlock.utf8.count - 4] {
      let bytes = head + sentences[2][start...] + sentences[3...].flatMap { $0 }
      #expect(values(bytes).filter { $0.key > 1 } == expected, "tag block from \(start)")
    }
  }

  @Test("A heading that begins the bursts does not change the places of the sentences after it")
  func headingFirst() {
    for order in [
      "HDT GSA RMC ZDA GLL GSV", "HDT GSV GGA ZDA GSA VTG RMC", "HDT GSV GSA RMC", "HDT GSA GSV RMC GGA",
      "HDT RMC GSV GSA",
    ] {
      #expect(values(bursts(order).flatMap { $0 }) == Self.ownValues, "\(order)")
    }
  }
}
