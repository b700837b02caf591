// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

@Suite("Text search")
struct TextSearchTests {
  @Test("A text is found at its start, at its end, and after a part of it; nothing is found in a shorter text")
  func places() {
    #expect("/dev/serial/by-id/usb".includes("/by-id/"))
    #expect("GPS".includes("GPS"))
    #expect("GGPS".includes("GPS"))
    #expect(!"GP".includes("GPS"))
    #expect(!"".includes("GPS"))
    #expect("GPS".includes(""))
    #expect("".includes(""))
    let bytes: [UInt8] = [1, 1, 2, 1, 2, 3]
    #expect(bytes.occurrence(of: [1, 2, 3] as [UInt8]) == 3..<6)
    #expect(bytes.occurrence(of: [1, 2] as [UInt8]) == 1..<3)
    #expect(bytes.occurrence(of: [3, 1] as [UInt8]) == nil)
  }
}
