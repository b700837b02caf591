// SPDX-License-Identifier: Apache-2.0
import NMEA
import TestSupport
import Testing

@Suite("The bytes at a $")
struct FrameTests {
  private let content = "GPGLL,4717.1,N,00833.9,E,101112.00,A,A"

  private func scan(_ bytes: [UInt8], from offset: Int = 0, isEnd: Bool = false) -> Sentence.Scan {
    Sentence.scan(bytes.raw, from: offset, isEnd: isEnd)
  }

  @Test("A sentence ends with CR LF, or one of them, or with the next byte", arguments: ["\r\n", "\n", "\r"])
  func ending(ending: String) {
    let bytes = Wire.nmea(content, ending: ending)
    #expect(scan(bytes + ascii("$")) == .sentence(bytes.count))
    #expect(scan(Wire.nmea(content, ending: "") + ascii("x")) == .sentence(content.utf8.count + 4))
  }

  @Test("The checksum may be written in lower case")
  func smallLetters() {
    // The checksum of this content has two hexadecimal digits above 9.
    let content = "GPGLL,4717.1,N,00833.9,E,101112.00,A,AE"
    let sum = Wire.checksum(ofSentence: content)
    let line = ascii("$\(content)*\(sum.lowercased())\r\n")
    #expect(scan(line) == .sentence(line.count))
  }

  @Test(
    "A sentence with a wrong checksum, or one that is not hexadecimal, is not decoded",
    arguments: ["00", "G0", "0G", "*1", "$G", "\r\n"])
  func wrongChecksum(sum: String) {
    #expect(scan(ascii("$\(content)*\(sum)\r\n")) == .badChecksum(content.utf8.count + 2))
  }

  @Test("One wrong bit anywhere before the end of the checksum makes it no sentence")
  func wrongBit() {
    let bytes = Wire.nmea(content)
    for index in 0..<bytes.count - 2 {
      for bit in 0..<8 {
        var wrong = bytes
        wrong[index] ^= 1 << bit
        // A bit selects lower or upper case of hexadecimal digits; both have the same meaning.
        if index >= bytes.count - 4, wrong[index] == bytes[index] ^ 0x20, bytes[index] >= 65 { continue }
        #expect(scan(wrong) != .sentence(bytes.count), "byte \(index), bit \(bit)")
      }
    }
  }

  @Test("A line without a checksum is not a sentence, and is distinguished")
  func noChecksum() {
    #expect(scan(ascii("$\(content)\r\n")) == .noChecksum(content.utf8.count + 1))
    #expect(scan(ascii("$\(content)\n")) == .noChecksum(content.utf8.count + 1))
  }

  @Test(
    "A control character, a byte that is not ASCII, or a new $ breaks it",
    arguments: [0, 9, 0x1F, 0x7F, 0x80, 0xB5, 0x24] as [UInt8])
  func broken(byte: UInt8) {
    let bytes = Wire.nmea(content)
    for index in [2, 10, 17, 34] {
      #expect(scan(Array(bytes[..<index]) + [byte] + Array(bytes[index...])) == .broken(index), "at \(index)")
    }
  }

  @Test("A start is $ or ! and an upper-case character", arguments: ["GPGLL,1*00", "$1PGLL", "$$GPGLL", "$,", "!a"])
  func noStart(text: String) {
    #expect(scan(ascii(text)) == .noStart)
  }

  @Test("! begins a sentence as $ does")
  func encapsulated() {
    var bytes = Wire.nmea("AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0")
    bytes[0] = UInt8(ascii: "!")
    #expect(scan(bytes + [0]) == .sentence(bytes.count))
  }

  @Test("Every beginning of a sentence needs more; at the end of the stream the CR LF may be missing")
  func prefixes() {
    let bytes = Wire.nmea(content)
    for count in 0..<bytes.count { #expect(scan(Array(bytes[..<count])) == .needsMore, "\(count) bytes") }
    #expect(scan(bytes) == .sentence(bytes.count))
    for count in 0..<bytes.count - 2 {
      #expect(scan(Array(bytes[..<count]), isEnd: true) == .needsMore, "\(count) bytes at the end")
    }
    for count in bytes.count - 2...bytes.count {
      #expect(scan(Array(bytes[..<count]), isEnd: true) == .sentence(count))
    }
  }

  @Test("A line above the maximum length is not a sentence")
  func tooLong() {
    let longest = Wire.nmea("GPTXT," + String(repeating: "x", count: longestSentence - 12))
    #expect(scan(longest) == .sentence(longest.count))
    let endless = ascii("$GPTXT,") + [UInt8](repeating: 0x78, count: longestSentence)
    #expect(scan(endless) == .tooLong)
    #expect(scan(Array(endless[..<(longestSentence - 1)])) == .needsMore)
  }

  @Test("It is found at any place and any length", arguments: 0...40)
  func places(offset: Int) {
    for length in 5...60 {
      let bytes = Wire.nmea("GP" + String(repeating: "A", count: length))
      let padded = [UInt8](repeating: 0x24, count: offset) + bytes + [0]
      #expect(scan(padded, from: offset) == .sentence(bytes.count), "length \(length)")
    }
  }

  @Test("Noise is looked at without harm", arguments: 1...20 as ClosedRange<UInt64>)
  func noise(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    for _ in 0..<500 {
      let alphabet = ascii("$!*,.0123456789ABCGPN\r\n ~\u{7F}")
      let bytes = (0..<random.int(1...90)).map { _ in random.element(of: alphabet) }
      guard case .sentence(let count) = scan(bytes, isEnd: true) else { continue }
      #expect(Wire.isFrame(Array(bytes[..<count])))
    }
  }

  @Test("Every talker is recognized", arguments: zip(["GP", "GL", "GA", "GB", "BD", "GQ", "QZ", "GI", "GN"], talkers))
  func talker(characters: String, talker: Talker) {
    let address = Address(Wire.nmea("\(characters)GLL,,,,,,V,N"))
    #expect(address?.talker == talker)
    #expect(address?.formatter == GLL.formatter)
    #expect(address?.isProprietary == false)
  }

  @Test("A manufacturer's own sentence has no talker but P")
  func proprietary() {
    let address = Address(Wire.nmea("PGRMV,0.1,0.2,-0.3"))
    #expect(address?.isProprietary == true)
    #expect(address?.talker == .proprietary)
    #expect(address?.formatter == PGRMV.formatter)
  }

  @Test("An address that is too short has no formatter to speak of", arguments: ["GX", "GPX", "P", "GPG", "GP,1"])
  func shortAddress(content: String) throws {
    let bytes = Wire.nmea(content)
    let code = try #require(Address(bytes)).formatter.code
    #expect(code < 0x100)
    #expect(decoded(RMC.self, bytes) == nil)
  }
}
