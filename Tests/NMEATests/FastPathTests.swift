// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import NMEA

/// The fast paths, which nearly all sentences and fields use, must give the same results as the slow paths.
@Suite("Fast paths and slow paths")
struct FastPathTests {
  private static let contents = [
    "GPGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,,",
    "GNRMC,083559.00,A,4717.11437,N,00833.91522,E,0.004,77.52,091202,,,A,V",
    "GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00,1",
    "GNGSA,A,3,80,71,73,79,69,,,,,,,,1.83,1.09,1.47,1", "GNVTG,77.52,T,,M,0.004,N,0.008,K,A", "X,",
    "LONGADDRESS,1,2,,3",
    "PUBX,00,081350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52",
  ]

  private static let surprises = ascii("$*,A0\r\n!~ +(-./") + [0, 0x1F, 0x7F, 0x80, 0xFE, 0xFF]

  @Test("The short path accepts only sentences, with the same length and fields")
  func sentences() {
    var random = SeededRandomNumberGenerator(seed: 3)
    var found = 0
    for turn in 0..<20_000 {
      var bytes = Wire.nmea(Self.contents[turn % Self.contents.count])
      // Half of them are in the form of files from a computer, without the CR.
      if turn / Self.contents.count % 2 == 1 { bytes.remove(at: bytes.count - 2) }
      let length = bytes.count
      bytes += ascii(String(repeating: "$GP,*\r\n", count: 13))
      for _ in 0..<Int(random.next() % 3) {
        bytes[Int(random.next() % UInt64(length))] = Self.surprises[Int(random.next() % UInt64(Self.surprises.count))]
      }
      guard let quick = Sentence.fastScan(bytes.raw, from: 0) else { continue }
      found += 1
      #expect(Sentence.scan(bytes.raw) == .sentence(quick.length))
      #expect(quick.ends == FieldEnds(in: bytes.raw.extracting(0..<quick.length)))
    }
    #expect(found > 6000)
  }

  @Test("A whole sentence goes the short way, up to 80 characters before its checksum", arguments: 1...90)
  func lengths(count: Int) {
    let bytes = Wire.nmea("G" + String(repeating: ",", count: count)) + [UInt8](repeating: 0, count: 96)
    let isShort = count + 2 < 80
    #expect((Sentence.fastScan(bytes.raw, from: 0) != nil) == isShort)
    #expect(Sentence.scan(bytes.raw) == .sentence(count + 7))
    var short = bytes
    short.remove(at: count + 5)
    short.append(0)
    #expect((Sentence.fastScan(short.raw, from: 0) != nil) == isShort)
    #expect(Sentence.scan(short.raw) == .sentence(count + 6))
  }

  @Test("The fast path of the frame scan finds what the slow path finds, for every byte at every place")
  func everyByte() {
    for text in Self.contents {
      let bytes = Wire.nmea(text) + ascii("$GP,*\r\n" + String(repeating: "-", count: 88))
      for place in 1...text.count + 5 {
        for value in UInt8.min...UInt8.max where value != bytes[place] {
          var broken = bytes
          broken[place] = value
          guard let quick = Sentence.fastScan(broken.raw, from: 0) else { continue }
          #expect(Sentence.scan(broken.raw) == .sentence(quick.length))
          #expect(quick.ends == FieldEnds(in: broken.raw.extracting(0..<quick.length)))
        }
      }
    }
  }

  @Test("The fast path of the frame scan reads no further than the bytes reach")
  func tooFew() {
    for count in 0...100 {
      let bytes = Array((Wire.nmea(Self.contents[1]) + [UInt8](repeating: 0x0A, count: 100)).prefix(count))
      #expect((Sentence.fastScan(bytes.raw, from: 0) != nil) == (count >= 88))
    }
  }

  @Test("Numbers taken at once are the same, and rejected the same, as one after the other")
  func numbers() {
    let words = [
      "", "", "7", "03", "45", "111", "359", "360", "361", "999", "1000", "-5", "-91", "+1", "1.0", "x", " 2", "00012",
    ]
    var random = SeededRandomNumberGenerator(seed: 4)
    for turn in 0..<20_000 {
      // Half of them are as receivers write them.
      let choice = UInt64(turn % 2 == 0 ? 7 : words.count)
      let fields = (0..<Int(random.next() % 19)).map { _ in words[Int(random.next() % choice)] }
      let head = (0..<3).map { _ in turn % 3 == 0 ? words[Int(random.next() % choice)] : "\(random.next() % 12)" }
      let text = "GPGSV" + (head + fields).map { "," + $0 }.joined()
      let bytes = Wire.nmea(text)
      guard let sentence = Sentence(bytes.raw) else {
        Issue.record("no sentence: \(text)")
        continue
      }
      var rejected = 0
      let content = sentence.decode(GSV.self, rejected: &rejected)
      var expected = GSV()
      var reader = sentence.fields
      expected.fieldsOnSlowPath(&reader)
      #expect(content == expected, "\(text)")
      #expect(rejected == reader.rejected, "\(text)")
      #expect(Array(content.present) == (0..<expected.satelliteCount).map { expected.satellites[$0] })
    }
  }

  @Test("GSA's satellites taken at once are the same as one after the other")
  func satelliteNumbers() {
    let words = ["", "", "", "0", "7", "03", "45", "111", "301", "999", "1000", "-5", "1.0", "x", " 2"]
    var random = SeededRandomNumberGenerator(seed: 5)
    for turn in 0..<20_000 {
      let choice = UInt64(turn % 2 == 0 ? 10 : words.count)
      let mode = ["1", "2", "3", "", "0", "4", "03"][Int(random.next() % 7)]
      // Sentences that end early, and sentences with fields after the satellites.
      let fields = (0..<Int(random.next() % 18)).map { _ in words[Int(random.next() % choice)] }
      let text = "GNGSA,A" + ([mode] + fields).map { "," + $0 }.joined()
      let bytes = Wire.nmea(text)
      guard let sentence = Sentence(bytes.raw) else {
        Issue.record("no sentence: \(text)")
        continue
      }
      var rejected = 0
      let content = sentence.decode(GSA.self, rejected: &rejected)
      var expected = GSA()
      var reader = sentence.fields
      expected.fieldsOnSlowPath(&reader)
      #expect(content == expected, "\(text)")
      #expect(rejected == reader.rejected, "\(text)")
      #expect(Array(content.satellites) == (0..<12).compactMap { expected.satellites[$0].map(Int16.init) })
    }
  }

  @Test("GSA's dilutions and system taken at once are the same as one after the other")
  func dilutions() {
    let words = [
      "1.13", "0.63", "99.99", "12.50", "0.00", "", "1.0", "9.123", ".50", "5.", "123.45", "-1.00", "x.11", "1x11",
      "1.x1",
      "1.1x", " 1.13", "1.13 ", "..11", "1..1", "00001.25", "0000001.25",
    ]
    let systems = ["1", "3", "A", "f", "", "10", "G", " 1", "1,", "1,2"]
    var random = SeededRandomNumberGenerator(seed: 8)
    for turn in 0..<20_000 {
      let proper = (0..<3).map { _ in words[random.int(0...4)] }
      var dilutions = proper
      if turn % 2 == 1 { dilutions[random.int(0...2)] = random.element(of: words) }
      let system = random.oneIn(3) ? [] : [random.element(of: turn % 4 == 1 ? systems : ["1", "2", "3"])]
      let used = (0..<12).map { _ in random.oneIn(2) ? "" : "\(random.int(1...99))" }
      let mode = random.oneIn(9) ? random.element(of: ["", "AA", ",", " "]) : "A"
      let text = "GNGSA,\(mode),3," + (used + dilutions + system).joined(separator: ",")
      expectGSAOnSlowPath(text)
    }
  }

  @Test("Sentences of any characters are read at once as they are read one after the other")
  func anyCharacters() {
    var random = SeededRandomNumberGenerator(seed: 9)
    for turn in 0..<40_000 {
      var text = ascii(turn % 2 == 0 ? Self.contents[2] : Self.contents[3])
      for _ in 0..<random.int(1...4) {
        text[random.int(6...(text.count - 1))] = random.element(of: ascii(",,,.0123459AFx- "))
      }
      let characters = String(decoding: text, as: UTF8.self)
      if turn % 2 == 0 { expectGSVOnSlowPath(characters) } else { expectGSAOnSlowPath(characters) }
    }
  }

  /// A GSA gives the same values and rejections as when read field by field.
  private func expectGSAOnSlowPath(_ text: String) {
    let bytes = Wire.nmea(text)
    guard let sentence = Sentence(bytes.raw) else {
      Issue.record("no sentence: \(text)")
      return
    }
    var rejected = 0
    var expected = GSA()
    var reader = sentence.fields
    expected.fieldsOnSlowPath(&reader)
    #expect(sentence.decode(GSA.self, rejected: &rejected) == expected, "\(text)")
    #expect(rejected == reader.rejected, "\(text)")
  }

  /// The same for a GSV.
  private func expectGSVOnSlowPath(_ text: String) {
    let bytes = Wire.nmea(text)
    guard let sentence = Sentence(bytes.raw) else {
      Issue.record("no sentence: \(text)")
      return
    }
    var rejected = 0
    var expected = GSV()
    var reader = sentence.fields
    expected.fieldsOnSlowPath(&reader)
    #expect(sentence.decode(GSV.self, rejected: &rejected) == expected, "\(text)")
    #expect(rejected == reader.rejected, "\(text)")
  }

  @Test("GSA's satellites as a set are those that are in the range, and how many there are")
  func satelliteSets() {
    var random = SeededRandomNumberGenerator(seed: 6)
    for _ in 0..<2000 {
      var ids = GSA.SatelliteIDs()
      for place in 0..<12 where !random.oneIn(3) { ids[place] = Int32(random.int(0...(random.oneIn(4) ? 999 : 100))) }
      let base = random.element(of: [0, 64])
      let most = random.int(1...63)
      let all = (0..<12).compactMap { ids[$0].map(Int.init) }
      let inside = all.filter { $0 > base && $0 <= base + most }
      let numbers = ids.numbers(after: Int16(base), most: UInt16(most))
      #expect(numbers.count == all.count && numbers.hasOthers == (inside.count < all.count))
      #expect(numbers.bits == inside.reduce(UInt64(0)) { $0 | 1 << UInt64($1 - base) })
    }
  }
}

extension GSA {
  /// The fields of the sentence, read one number at a time.
  fileprivate mutating func fieldsOnSlowPath(_ reader: inout FieldReader) {
    reader.character("", &operationMode)
    reader.integer("", &fixMode, 1...3)
    for place in 0..<12 { reader.integer("", &satellites[place], 0...999) }
    reader.decimal("", &pdop)
    reader.decimal("", &hdop)
    reader.decimal("", &vdop)
    if reader.hasMore(isPresent: false) { reader.hexadecimal("", &systemID) }
  }
}

extension GSV {
  /// The fields of the sentence, read one number at a time.
  fileprivate mutating func fieldsOnSlowPath(_ reader: inout FieldReader) {
    reader.integer("", &sentences, 0...99)
    reader.integer("", &number, 0...99)
    reader.integer("", &satellitesInView, 0...99)
    satelliteCount = reader.blocks(of: 4, have: 0, most: 4)
    for index in 0..<satelliteCount {
      reader.integer("", &satellites[index].id, 0...999)
      reader.integer("", &satellites[index].elevation, -90...99)
      reader.integer("", &satellites[index].azimuth, 0...360)
      reader.integer("", &satellites[index].signal, 0...99)
    }
    if reader.hasMore(isPresent: false) { reader.hexadecimal("", &signalID) }
  }
}
