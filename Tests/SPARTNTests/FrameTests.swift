// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RTCM3

/// Broadcast corrections, encrypted: from the tests of u-blox' ubxlib (three messages of orbits and clocks, one of
/// areas) and of pyspartn (the last).
private let corrections = [
  """
  73 00 16 69 08 BF 33 D0 78 6C 2D 48 2A 18 F0 C0 3E 1D 9C 37 7E 9A 5E E8 39 C6 0E BD DE A9 7D 43 B9 17 96 C7 04 AF \
  9A 4B BF 70 65 C3 66 80 CA 45 20 16 41 A4 14 2B 5B D4 11 6F 64
  """,
  """
  73 00 0E EC 18 BF 35 21 68 6C 23 88 6B 42 36 E3 EB 8E BF 29 6E 26 02 93 09 BF 14 C3 3A F9 34 E4 99 6D CC AF C1 24 \
  BC 35 C4 95 43 BF
  """,
  "73 00 0E EC 11 15 90 6C 23 C8 EF 48 7A AB C7 95 A8 62 B3 2F 88 18 30 A3 58 02 58 9F 23 C6 83 E6 BF 82 DA 20 E6 53 "
    + "84 8E 71 2A",
  "73 04 07 E4 05 0A F0 6C 25 48 24 44 BC CF 80 36 4D E8 31 B7 5F 94 4B BF C8 BF A0 D7",
  """
  73 00 12 E2 00 7C 10 5B 12 48 F5 09 A0 B4 2B 99 02 15 E2 05 85 B7 83 C5 FD 0F FE DF 18 BE 7F 76 20 C3 60 82 98 10 \
  07 DC EB 82 7F CF F8 9E A3 74 61 AD
  """,
].map { hex($0) }

@Suite("SPARTN frames")
struct FrameTests {
  /// The requested header for a random frame of each kind.
  private func header(_ random: inout SeededRandomNumberGenerator, _ check: MessageCheck) -> SPARTNHeader {
    let seconds = random.int(0...0xFFFF_FFFF)
    return SPARTNHeader(
      messageType: random.element(of: [0, 1, 2, 3, 4, 120]), subtype: UInt8(random.int(0...15)), check: check,
      time: random.oneIn(2) ? .ofHalfDay(UInt16(seconds & 0xFFFF)) : .since2010(UInt32(seconds)),
      solutionID: UInt8(random.int(0...127)), processorID: UInt8(random.int(0...15)),
      encryption: random.oneIn(2) ? encryption(&random) : nil)
  }

  private func encryption(_ random: inout SeededRandomNumberGenerator) -> SPARTNHeader.Encryption {
    SPARTNHeader.Encryption(
      keyID: UInt8(random.int(0...15)), sequence: UInt8(random.int(0...63)),
      authenticationIndicator: UInt8(random.int(0...7)), authenticationLength: UInt8(random.int(0...4)))
  }

  private func frame(_ header: SPARTNHeader, _ payload: [UInt8], _ authentication: [UInt8] = []) -> [UInt8] {
    written(room: SPARTNFrame.longest) {
      encodeFrame(header, payload: payload.raw, authentication: authentication.raw, into: &$0)
    }
  }

  /// The content of a frame.
  private struct Content: Equatable {
    var header: SPARTNHeader
    var payload: [UInt8]
    var authentication: [UInt8]
  }

  private func read(_ bytes: [UInt8]) -> Content? {
    guard let frame = SPARTNFrame(bytes.raw) else { return nil }
    var header = frame.header
    // The content of the frame without its header must be the same.
    header.messageType = UInt8(frame.messageType)
    header.subtype = UInt8(frame.subtype)
    return Content(header: header, payload: array(frame.payload), authentication: array(frame.authentication))
  }

  private func scan(_ bytes: [UInt8], from offset: Int = 0) -> SPARTNFrame.Scan {
    SPARTNFrame.scan(bytes.raw, from: offset)
  }

  /// The results that ubxlib's tests state for the same characters; the result of CRC-24 is from RFC 4880's code, with
  /// start value 0.
  @Test("The checks of known characters")
  func knownChecks() {
    let text = ascii("ubxlib forever")
    let sums = MessageCheck.allCases.map { $0.value(of: text.raw, from: 0, count: text.count) }
    #expect(sums == [0x9E, 0x5664, Wire.crc24(text[...]), 0xE92E_0360])
    #expect(text.reduce(0) { headerCheck($0, $1) } == 0xA)
  }

  /// The check values of the catalogue of parametrised CRC algorithms: SMBUS, XMODEM, LTE-A with start value 0, and
  /// BZIP2.
  @Test("The checks of 123456789")
  func catalogue() {
    let digits = ascii("123456789")
    let sums = MessageCheck.allCases.map { $0.value(of: digits.raw, from: 0, count: 9) }
    #expect(sums == [0xF4, 0x31C3, 0xCDE703, 0xFC89_1918])
  }

  @Test("Messages that were broadcast are frames, and the encoder writes the same", arguments: corrections)
  func known(bytes: [UInt8]) throws {
    #expect(scan(bytes) == .frame(bytes.count))
    let content = try #require(read(bytes))
    #expect(content.header.check == .crc24)
    #expect(content.header.encryption != nil)
    #expect(frame(content.header, content.payload, content.authentication) == bytes)
  }

  @Test("The numbers of messages that were broadcast")
  func numbers() throws {
    let orbits = try #require(read(corrections[1]))
    #expect([orbits.header.messageType, orbits.header.subtype] == [0, 1])
    #expect(orbits.payload.count == 29)
    let areas = try #require(read(corrections[3]))
    #expect([areas.header.messageType, areas.header.subtype] == [2, 0])
  }

  @Test("Header, payload and authentication come back", arguments: MessageCheck.allCases)
  func roundTrip(check: MessageCheck) {
    var random = SeededRandomNumberGenerator(seed: 11 + UInt64(check.rawValue))
    for length in 0...1023 {
      let header = header(&random, check)
      let payload = random.bytes(length)
      let authentication = random.bytes(header.encryption?.authenticationBytes ?? 0)
      let bytes = frame(header, payload, authentication)
      #expect(scan(bytes) == .frame(bytes.count))
      let content = Content(header: header, payload: payload, authentication: authentication)
      #expect(read(bytes) == content)
    }
  }

  @Test("The longest frame has the documented length")
  func longest() {
    let encryption = SPARTNHeader.Encryption(
      keyID: 0, sequence: 0, authenticationIndicator: 2, authenticationLength: 4)
    let header = SPARTNHeader(
      messageType: 120, subtype: 0, check: .crc32, time: .since2010(0), encryption: encryption)
    let bytes = frame(header, [UInt8](repeating: 0x73, count: 1023), [UInt8](repeating: 0x73, count: 64))
    #expect(bytes.count == SPARTNFrame.longest)
    #expect(scan(bytes) == .frame(SPARTNFrame.longest))
  }

  @Test("One wrong bit anywhere is not a frame of these bytes", arguments: corrections)
  func wrongBit(bytes: [UInt8]) {
    for index in 0..<bytes.count * 8 {
      var bytes = bytes
      bytes[index / 8] ^= 1 << (index % 8)
      #expect(scan(bytes) != .frame(bytes.count), "bit \(index)")
    }
  }

  @Test("Every beginning of a frame gives the number of bytes it needs, and never too many", arguments: corrections)
  func prefixes(bytes: [UInt8]) {
    var most = 0
    for count in 0..<bytes.count {
      guard case .needs(let needed) = scan(Array(bytes[..<count])) else {
        Issue.record("\(count) bytes are \(scan(Array(bytes[..<count])))")
        continue
      }
      #expect(needed > count && needed <= bytes.count && needed >= most)
      most = needed
    }
  }

  @Test("It is found at any place")
  func offsets() {
    for offset in 0...20 {
      #expect(scan([UInt8](repeating: 0x73, count: offset) + corrections[3], from: offset) == .frame(28))
    }
  }

  @Test("No printable character behind the s, and no line end, begins a frame")
  func text() {
    for byte in Array(0x20...0x7E) + [13, 10] as [UInt8] { #expect(scan([0x73, byte]) == .noSync) }
  }

  @Test("A length of authentication that is reserved is not a frame", arguments: 5...7 as ClosedRange<UInt8>)
  func reservedLength(length: UInt8) {
    let encryption = SPARTNHeader.Encryption(keyID: 1, sequence: 2, authenticationIndicator: 2)
    let header = SPARTNHeader(messageType: 0, subtype: 0, time: .ofHalfDay(7), encryption: encryption)
    var bytes = frame(header, [1, 2, 3], [UInt8](repeating: 0, count: 8))
    bytes[9] |= length
    #expect(scan(bytes) == .noSync)
  }

  @Test("A header whose numbers are set within their ranges is written as it is")
  func set() throws {
    var header = SPARTNHeader(messageType: 0, subtype: 0, time: .ofHalfDay(1))
    header.messageType = 120
    header.subtype = 15
    header.solutionID = 127
    header.processorID = 15
    header.encryption = SPARTNHeader.Encryption(keyID: 0, sequence: 0)
    header.encryption?.keyID = 15
    header.encryption?.sequence = 63
    header.encryption?.authenticationLength = 4
    header.encryption?.authenticationIndicator = 7
    #expect(read(frame(header, [1], [UInt8](repeating: 7, count: 64)))?.header == header)
  }

  @Test("A number out of its range is refused when it is set, as when the header is made")
  func range() async {
    await #expect(processExitsWith: .failure) {
      var header = SPARTNHeader(messageType: 0, subtype: 0, time: .ofHalfDay(1))
      header.messageType = 5
    }
    await #expect(processExitsWith: .failure) {
      var header = SPARTNHeader(messageType: 0, subtype: 0, time: .ofHalfDay(1))
      header.solutionID = 128
    }
    await #expect(processExitsWith: .failure) {
      var encryption = SPARTNHeader.Encryption(keyID: 0, sequence: 0)
      encryption.authenticationLength = 5
    }
  }
}
