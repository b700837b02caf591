// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

struct HexadecimalDigitsTests {
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

  @Test("No digit is no byte")
  func empty() { #expect([UInt8](hexadecimalDigits: "") == []) }
}
