// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

struct TextCodingTests {
  @Test("Every byte has two digits, which are read again in both cases")
  func bytes() {
    let bytes = Array(UInt8.min...UInt8.max)
    let text = bytes.hexadecimalDigits
    #expect(text.utf8.count == 512)
    #expect([UInt8](hexadecimalDigits: text) == bytes)
    #expect([UInt8](hexadecimalDigits: text.uppercased()) == bytes)
  }

  @Test("A number has all digits of its width")
  func widths() {
    #expect(UInt8(0x0A).hexadecimalDigits == "0a")
    #expect(UInt16(0x1A8).hexadecimalDigits == "01a8")
    #expect([UInt8]().hexadecimalDigits == "")
  }

  @Test("Text that is not whole bytes is refused", arguments: ["0", "012", "0g", "+1", "-1", " 1", "0x", "١٢", "ａｂ"])
  func refused(text: String) { #expect([UInt8](hexadecimalDigits: text) == nil) }

  @Test("A byte needs a digit")
  func empty() { #expect([UInt8](hexadecimalDigits: "") == []) }

  @Test(
    "A number with fewer digits has zeros in front", arguments: [(0, "000"), (7, "007"), (123, "123"), (1234, "1234")])
  func padded(number: Int, text: String) { #expect(number.digits(3) == text) }

  @Test(
    "Decimals are rounded, and zero has no sign",
    arguments: [
      (0, 2, "0.00"), (1.005, 1, "1.0"), (-0.004, 2, "0.00"), (-0.006, 2, "-0.01"), (12.5, 0, "13"), (-12.4, 0, "-12"),
      (0.999, 2, "1.00"), (48.123_456_789, 9, "48.123456789"), (-4_000_000.123_45, 4, "-4000000.1235"),
      (1e300, 4, "922337203685477.5807"), (-1e300, 4, "-922337203685477.5808"), (.nan, 1, "0.0"),
    ])
  func decimals(number: Double, count: Int, text: String) { #expect(number.decimals(count) == text) }

  @Test(
    "All but unreserved characters are percent-encoded",
    arguments: [("az AZ09-._~", "az%20AZ09-._~"), ("%2F/", "%252F%2F"), ("ä\u{0}", "%C3%A4%00"), ("", "")])
  func percentEncoding(text: String, encoded: String) {
    #expect(text.percentEncoded() == encoded)
    #expect(encoded.utf8.percentDecoded.bytes == Array(text.utf8))
    #expect(encoded.utf8.percentDecoded.isWellFormed)
  }

  @Test("A % is always encoded, other bytes by the caller's choice")
  func plain() { #expect("a%/b".percentEncoded { $0 != UInt8(ascii: "b") } == "a%25/%62") }

  @Test(
    "A % without two digits is kept, and is not well-formed",
    arguments: ["%", "%4", "%4g", "%+5", "a%", "% 1", "%%", "%ä"])
  func malformed(text: String) {
    #expect(text.utf8.percentDecoded.bytes == Array(text.utf8))
    #expect(!text.utf8.percentDecoded.isWellFormed)
  }

  @Test("Bytes after a malformed % are decoded")
  func rest() { #expect("%%41%4G%2f".utf8.percentDecoded.bytes == Array("%A%4G/".utf8)) }
}
