// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("JSON")
struct JSONTests {
  @Test(
    "RFC 8259: texts and their values",
    arguments: [
      ("null", JSON.null), (" true\n", true), ("\t\rfalse", false), ("0", 0), ("-7", -7), ("1.5", 1.5),
      ("1e2", .double(100)),
      ("1E+2", .double(100)), ("-0.5e-1", -0.05), ("-0", .double(-0.0)), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
      (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"), (#""\u00e9\u6C34""#, "é水"),
      (#""\uD83D\uDEF0""#, "\u{1F6F0}"), (#""é水🛰""#, "é水🛰"), (#""\u0000""#, "\0"), ("[ ]", []), ("{ }", .empty),
      ("[1, [2], {}]", [1, [2], .empty]), (#"{"a" : 1 , "b":null}"#, ["a": 1, "b": .null]), ("\"\u{7F}\"", "\u{7F}"),
    ] as [(String, JSON)])
  func value(text: String, expected: JSON) throws {
    #expect(try JSON(parsing: text.bytes) == expected)
  }

  @Test(
    "RFC 8259: text other than one value is refused, with the place",
    arguments: [
      ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 3),
      ("01", .trailingBytes, 1), ("-", .unexpectedEnd, 1), ("+1", .unexpectedByte, 0), ("1.", .unexpectedEnd, 2),
      (".5", .unexpectedByte, 0), ("1e", .unexpectedEnd, 2), ("1e999", .numberOutOfRange, 5),
      ("NaN", .unexpectedByte, 0),
      ("1 2", .trailingBytes, 2), ("[1,]", .unexpectedByte, 3), ("[1 2]", .unexpectedByte, 3), ("[", .unexpectedEnd, 1),
      ("[1", .unexpectedEnd, 2), ("{1:2}", .unexpectedByte, 1), (#"{"a"}"#, .unexpectedByte, 4),
      (#"{"a":1,}"#, .unexpectedByte, 7), (#"{"a":1"#, .unexpectedEnd, 6), (#"{"a":1,"a":2}"#, .repeatedName, 10),
      (#"{"a":1,"\u0061":2}"#, .repeatedName, 15), ("\"a", .unexpectedEnd, 2), ("\"\n\"", .controlCharacter, 1),
      ("\"\\t\n\"", .controlCharacter, 3), (#""\x""#, .invalidEscape, 2), (#""\u12G4""#, .invalidEscape, 5),
      (#""\uD83D""#, .loneSurrogate, 7), (#""\uD83D\n""#, .loneSurrogate, 8), (#""\uD83D\u0041""#, .loneSurrogate, 13),
      (#""\uDEF0""#, .loneSurrogate, 7), (#""\"#, .unexpectedEnd, 2), ("'a'", .unexpectedByte, 0),
      ("\u{FEFF}1", .unexpectedByte, 0), ("// a\n1", .unexpectedByte, 0), ("1\0", .trailingBytes, 1),
    ] as [(String, JSONSyntaxError.Reason, Int)])
  func invalid(text: String, reason: JSONSyntaxError.Reason, offset: Int) {
    #expect(throws: JSONSyntaxError(reason: reason, offset: offset)) { try JSON(parsing: text.bytes) }
  }

  @Test("RFC 8259, section 6: a number is the nearest double, with few digits or many", arguments: 0..<4)
  func numbers(seed: UInt64) throws {
    var random = SeededRandomNumberGenerator(seed: seed)
    for _ in 0..<20_000 {
      var digits = String(random.next() >> (random.next() % 64))
      let places = Int(random.next() % 20)
      if places > 0 {
        digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -places))
      }
      if random.next() % 2 == 0 { digits = "-" + digits }
      let expected = try #require(Double(digits))
      switch try JSON(parsing: digits.bytes) {
      case .integer(let value): #expect(String(value) == digits)
      case .double(let value): #expect(value.bitPattern == expected.bitPattern, "\(digits)")
      default: Issue.record("\(digits)")
      }
    }
  }

  @Test(
    "RFC 8259, section 8.1: a string is UTF-8, escaped or not",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE6, 0xB0], [0x5C, 0x6E, 0x80]] as [[UInt8]])
  func invalidUTF8(content: [UInt8]) throws {
    let error = #expect(throws: JSONSyntaxError.self) { try JSON(parsing: [0x22] + content + [0x22]) }
    #expect(error?.reason == .invalidUTF8)
  }

  @Test("Nesting is limited in both directions")
  func depth() throws {
    func nested(_ depth: Int) -> JSON { (1..<depth).reduce([]) { inner, _ in .array([inner]) } }
    let deepest = nested(JSON.maximumDepth)
    #expect(try JSON(parsing: deepest.text()) == deepest)
    #expect(throws: JSONWriteError.tooDeep) { try nested(JSON.maximumDepth + 1).text() }
    for opening in ["[", "{\"a\":"] {
      let error = #expect(throws: JSONSyntaxError.self) {
        try JSON(parsing: String(repeating: opening, count: 100_000).bytes)
      }
      #expect(error?.reason == .tooDeep)
    }
  }

  @Test("A name that is repeated among many is found")
  func manyMembers() throws {
    let members = (0..<2000).map { "\"k\($0)\":\($0)" }
    let text = "{" + members.joined(separator: ",")
    #expect(try JSON(parsing: (text + "}").bytes)["k1999"] == 1999)
    for name in ["k3", "k1500"] {
      let error = #expect(throws: JSONSyntaxError.self) { try JSON(parsing: (text + ",\"\(name)\":0}").bytes) }
      #expect(error?.reason == .repeatedName)
    }
  }

  @Test("Texts are compact, without a NUL, and doubles have the fewest digits")
  func writing() throws {
    #expect(
      try text(["a": [1, 0.1, -2.0, .null, true], "b\n": "\0\"\\\u{1F}/é"])
        == #"{"a":[1,0.1,-2.0,null,true],"b\n":"\u0000\"\\\u001f/é"}"#)
    #expect(try text(.double(1e300)) == "1e+300")
    for value in [Double.nan, .infinity, -.infinity] {
      #expect(throws: JSONWriteError.notFinite) { try JSON.array([.double(value)]).text() }
    }
  }

  @Test("Any tree is read as it was written", arguments: 0..<8)
  func roundTrip(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    for _ in 0..<250 {
      let tree = JSON.random(&random)
      let text = try tree.text()
      #expect(!text.contains(0))
      #expect(try JSON(parsing: text) == tree)
    }
  }

  @Test("A text with a changed byte is refused, or is a value that can be written and read again", arguments: 0..<8)
  func mutations(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    var accepted = 0
    for _ in 0..<500 {
      var text = try JSON.object(&random, depth: 3).text()
      text[Int.random(in: 0..<text.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      guard let value = try? JSON(parsing: text) else { continue }
      accepted += 1
      #expect(try JSON(parsing: value.text()) == value)
    }
    #expect(accepted > 0 && accepted < 500)
  }
}
