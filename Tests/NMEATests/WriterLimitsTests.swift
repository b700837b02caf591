// SPDX-License-Identifier: Apache-2.0
import NMEA
import TestSupport
import Testing

/// Fills a sentence with the longest written form of each field.
private struct LongestFiller: FieldVisitor {
  mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    value = TimeOfDay(hour: 23, minute: 59, second: 60, nanosecond: 999_999_999, fractionDigits: 9)
  }

  mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    value = ShortDate(day: 31, month: 12, year: 99)
  }

  mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    value = Coordinate(
      minutes: FixedPoint(4_000_000_000_000_000_000, fractionDigits: 18), hemisphere: UInt8(ascii: "S"))
  }

  mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    value = Coordinate(
      minutes: FixedPoint(4_000_000_000_000_000_000, fractionDigits: 18), hemisphere: UInt8(ascii: "W"))
  }

  mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    value = FixedPoint(.min, fractionDigits: 18)
  }

  mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int) {
    value = [range.lowerBound, range.upperBound].max { "\($0)".utf8.count < "\($1)".utf8.count }
  }

  mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) { value = -1 }

  mutating func character(_ name: StaticString, _ value: inout UInt8?) { value = UInt8(ascii: "A") }

  mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {}

  mutating func text(_ name: StaticString, _ value: inout ShortText?) { value = ShortText("***************") }

  mutating func text(_ name: StaticString, _ value: inout TextRange?) { value = TextRange(0..<65_535) }

  mutating func blocks(of size: Int, have: Int, most: Int) -> Int { most }

  mutating func hasMore(isPresent: Bool) -> Bool { true }
}

@Suite("Values that no sentence can hold")
struct WriterLimitsTests {
  private static let allSentences = standardSentences + vendorSentences

  @Test("The longest of every sentence fits in the longest sentence, and is one", arguments: allSentences)
  func longest(type: any SentenceContent.Type) { fits(type) }

  private func fits<Content: SentenceContent>(_: Content.Type) {
    var content = Content()
    var filler = LongestFiller()
    content.fields(&filler)
    let isVendor = vendorSentences.contains { $0 == Content.self }
    let texts = [UInt8](repeating: UInt8(ascii: "*"), count: 65_535)
    let bytes = written(room: longestSentence) {
      content.encode(talker: isVendor ? .proprietary : .combined, texts: texts.raw, into: &$0)
    }
    #expect(Wire.isFrame(bytes), "\(String(decoding: bytes, as: UTF8.self))")
    #expect(decoded(Content.self, bytes)?.rejected == 0)
  }

  @Test("PUBX,03 with more than has room does without the last number")
  func count() throws {
    var content = PUBX03()
    content.count = 255
    content.satelliteCount = 48
    for index in 0..<48 {
      content.satellites[index].id = 999
      content.satellites[index].status = UInt8(ascii: "U")
      content.satellites[index].azimuth = 360
      content.satellites[index].elevation = -90
      content.satellites[index].signal = 99
      content.satellites[index].lockSeconds = 255
    }
    let again = try #require(decoded(PUBX03.self, content.encoded(.proprietary)))
    #expect(again.content.count == 255 && again.content.satelliteCount == 48)
    #expect(again.content.satellites[47].signal == 99 && again.content.satellites[47].lockSeconds == nil)
  }

  @Test("A buffer that is too short is refused")
  func noRoom() async {
    await #expect(processExitsWith: .failure) {
      _ = written(room: 20) { GGA().encode(talker: .gps, into: &$0) }
    }
  }

  @Test("A count of blocks that there are not is the nearest that there is", arguments: [-1, 5, Int.max, Int.min])
  func blocks(count: Int) throws {
    var content = GSV()
    content.satelliteCount = count
    #expect(try #require(decoded(GSV.self, content.encoded())).content.satelliteCount == (count < 0 ? 0 : 4))
  }

  @Test("Minutes with more digits than a coordinate has are cut", arguments: [11, 12, 17, 18, 19, 255] as [UInt8])
  func coordinateDigits(digits: UInt8) throws {
    var content = GLL()
    content.latitude = Coordinate(
      minutes: FixedPoint(1_234_567_890_123, fractionDigits: digits), hemisphere: UInt8(ascii: "N"))
    let again = try #require(decoded(GLL.self, content.encoded()))
    #expect(again.rejected == 0)
    let minutes = try #require(again.content.latitude).minutes
    #expect(minutes.fractionDigits == 11)
    #expect(abs(minutes.value - 1_234_567_890_123 / Self.power(digits)) < 1e-10)
  }

  private static func power(_ digits: UInt8) -> Double { (0..<digits).reduce(1) { power, _ in power * 10 } }

  @Test("Places out of range are left out")
  func places() throws {
    for (minutes, hemisphere) in [(5401, "N"), (5400, "E"), (-1, "S"), (.max, "N"), (.min, "N"), (1, ",")]
      as [(Int64, String)]
    {
      var content = GLL()
      content.latitude = Coordinate(minutes: FixedPoint(minutes), hemisphere: hemisphere.utf8.first!)
      content.status = UInt8(ascii: "A")
      let again = try #require(decoded(GLL.self, content.encoded()))
      #expect(again.rejected == 0 && again.content.latitude == nil && again.content.status == UInt8(ascii: "A"))
    }
  }

  @Test(
    "A number with all its digits is read again",
    arguments: [
      (123_456_789_012_345_678, 18), (999_999_999_999_999_999, 0), (-999_999_999_999_999_999, 18), (-1, 18), (0, 18),
    ] as [(Int64, UInt8)])
  func manyDigits(mantissa: Int64, digits: UInt8) throws {
    var content = HDT()
    content.heading = FixedPoint(mantissa, fractionDigits: digits)
    let again = try #require(decoded(HDT.self, content.encoded()))
    #expect(again.content == content && again.rejected == 0)
  }

  @Test(
    "A number with more digits than a field can have is left out",
    arguments: [
      (1, 19), (1, 20), (1, 255), (1_000_000_000_000_000_000, 0), (.max, 0), (.max, 18), (.min, 2),
    ] as [(Int64, UInt8)])
  func tooManyDigits(mantissa: Int64, digits: UInt8) throws {
    var content = HDT()
    content.heading = FixedPoint(mantissa, fractionDigits: digits)
    #expect(try #require(decoded(HDT.self, content.encoded())).content == HDT())
  }

  @Test("Whole numbers out of their range are left out, and not turned into others")
  func ranges() throws {
    var content = GSV()
    content.satelliteCount = 1
    content.satellites[0].id = 70_000
    content.satellites[0].signal = 65_636
    #expect(content.satellites[0].id == nil && content.satellites[0].signal == nil)
    content.satellites[0].id = 1000
    content.satellites[0].azimuth = -1
    content.satellites[0].elevation = 45
    let again = try #require(decoded(GSV.self, content.encoded()))
    #expect(again.rejected == 0)
    #expect(again.content.satellites[0].id == nil && again.content.satellites[0].azimuth == nil)
    #expect(again.content.satellites[0].elevation == 45)
  }

  @Test("Times and dates out of range are left out")
  func times() throws {
    for time in [
      TimeOfDay(hour: 24, minute: 0, second: 0), TimeOfDay(hour: 0, minute: 60, second: 0),
      TimeOfDay(hour: 0, minute: 0, second: 61), TimeOfDay(hour: 0, minute: 0, second: 0, nanosecond: .max),
      TimeOfDay(hour: 0, minute: 0, second: 0, fractionDigits: 10),
    ] {
      var content = RMC()
      content.time = time
      content.date = ShortDate(day: 31, month: 2, year: 26)
      #expect(try #require(decoded(RMC.self, content.encoded())).content == RMC())
      content.date = ShortDate(day: 1, month: 1, year: 100)
      #expect(try #require(decoded(RMC.self, content.encoded())).content == RMC())
    }
  }

  @Test("A character that no field can be is left out", arguments: Array("$*,!\\^~\r\n \u{0}\u{7F}".utf8))
  func character(_ character: UInt8) throws {
    var content = GLL()
    content.status = character
    let bytes = content.encoded()
    #expect(Wire.isFrame(bytes))
    #expect(try #require(decoded(GLL.self, bytes)).content == GLL())
  }

  @Test("Characters that a sentence reserves are written as codes, and read again", arguments: UInt8.min...UInt8.max)
  func reserved(character: UInt8) throws {
    var content = DTM()
    var text = ShortText("A")
    text.append(character)
    text.append(UInt8(ascii: "2"))
    text.append(UInt8(ascii: "C"))
    content.datum = text
    let bytes = content.encoded()
    #expect(Wire.isFrame(bytes))
    #expect(try #require(decoded(DTM.self, bytes)).content == content)
    let isPlain = character >= 0x20 && character < 0x7E && !Array("$*,!\\^".utf8).contains(character)
    #expect(bytes.contains(UInt8(ascii: "^")) == !isPlain)
  }

  @Test("A code is the character it encodes; any other character encodes itself")
  func codes() throws {
    for (field, text) in [("A^2CB", "A,B"), ("^5e", "^"), ("^", "^"), ("^2", "^2"), ("^zz", "^zz"), ("^^2A", "^*")] {
      let datum = try #require(decoded(DTM.self, "GPDTM,\(field),,,,,,,")).content.datum
      #expect(datum.map { text in (0..<Int(text.count)).map { text.characters[$0] } } == Array(text.utf8))
    }
  }

  @Test("Texts of any length are written as they were read; what would end the sentence is a code")
  func longTexts() throws {
    for (text, line) in [("a^2Cb", "a^2Cb"), ("a,b*c$\r\n", "a,b^2Ac^24^0D^0A"), ("é", "^C3^A9")] {
      var content = TXT()
      content.text = TextRange(0..<text.utf8.count)
      let bytes = written(room: longestSentence) {
        content.encode(talker: .gps, texts: Array(text.utf8).raw, into: &$0)
      }
      #expect(bytes == Wire.nmea("GPTXT,,,,\(line)"))
    }
    var lost = TXT()
    lost.text = TextRange(0..<100)
    #expect(lost.encoded() == Wire.nmea("GPTXT,,,,"))
  }

  @Test("A value that is not a number, or has no room, gives no number")
  func rounding() {
    for value in [Double.nan, .infinity, -.infinity, 1e17, -1e17] {
      #expect(FixedPoint(rounding: value, fractionDigits: 3) == nil)
    }
    #expect(FixedPoint(rounding: 1.5, fractionDigits: 255) == FixedPoint(1_500_000_000_000_000_000, fractionDigits: 18))
    for degrees in [Double.nan, .infinity, -91, 90.000001, 540] { #expect(Coordinate(latitudeDegrees: degrees) == nil) }
    for degrees in [Double.nan, .infinity, -181, 180.000001, 540] {
      #expect(Coordinate(longitudeDegrees: degrees) == nil)
    }
    #expect(Coordinate(latitudeDegrees: -90)?.degrees == -90)
    #expect(Coordinate(longitudeDegrees: 180, fractionDigits: 255)?.minutes.fractionDigits == 11)
  }
}
