// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

@testable import sextant

@Suite("The bytes of a receiver of the location service")
struct ServedLineTests {
  @Test(
    "The test vectors of RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(bytes: String, text: String) { #expect(Base64.bytes(of: text) == Array(bytes.utf8)) }

  @Test("All byte values come back", arguments: [(0, "AAEC"), (250, "+vv8"), (253, "/f7/")])
  func values(first: UInt8, text: String) { #expect(Base64.bytes(of: text) == [first, first + 1, first + 2]) }

  @Test("Text that is not base64 is refused", arguments: ["Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9\n", "Zm9*"])
  func damaged(text: String) { #expect(Base64.bytes(of: text) == nil) }
}
