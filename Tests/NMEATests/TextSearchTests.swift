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

  @Test("Text is divided and compared by its bytes, also where a separator is a part of a character")
  func bytes() {
    // They extend the character before them, or are one with the character after them.
    for odd in ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{600}", "\u{110BD}", "\r", "\n", "\u{1F1E6}", "\u{D55C}", ""] {
      for text in ["a/\(odd)b", "a\(odd)/b", "\(odd)/\(odd)/", "/\(odd)", "//\(odd)x//", odd] {
        let parts = text.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        #expect(text.parts(at: "/").map { Array($0.utf8) } == parts.map { Array($0.utf8) })
        let all = text.parts(at: "/", omittingEmpty: false)
        #expect(all.map { Array($0.utf8) }.joined(separator: [UInt8(ascii: "/")]).elementsEqual(text.utf8))
        #expect(ExactText(text.before("/")) == ExactText(all[0]))
        #expect(text.position(of: "/") == text.utf8.firstIndex(of: 0x2F))
        #expect(text.lastPosition(of: "/") == text.utf8.lastIndex(of: 0x2F))
        #expect(text.begins(with: "/") == (text.utf8.first == 0x2F) && text.ends(with: "/") == (text.utf8.last == 0x2F))
        #expect("/\(text)".after("/").map { ExactText($0) } == ExactText(text))
        #expect("\(text)(deleted)".ends(with: "(deleted)"))
      }
    }
    #expect("0:/x".after("0::") == nil && "".after("x") == nil && "x".after("x") == "" && "x".after("") == "x")
    #expect("a b\tc \u{301}d".words.map { Array($0.utf8) } == ["a", "b", "c", "\u{301}d"].map { Array($0.utf8) })
    #expect("a\r\nb\n\nc\r".lines.map { Array($0.utf8) } == ["a", "b", "", "c"].map { Array($0.utf8) })
    // CR alone ends a line too: a file of another system is not one comment.
    #expect("# a\rb\r\rc\n\rd".lines == ["# a", "b", "", "c", "", "d"])
    #expect("a\u{2028}b".lines.count == 1 && "".lines == [""] && "a\n".lines == ["a", ""])
  }

  @Test("Two names are equal only if their bytes are")
  func exactText() {
    let names: [ExactText] = ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "", "caf", "cafe"]
    for (index, one) in names.enumerated() {
      for (second, other) in names.enumerated() {
        #expect((one == other) == (index == second) && !(one < other && other < one))
        #expect((one < other) == Array(one.text.utf8).lexicographicallyPrecedes(Array(other.text.utf8)))
      }
    }
    #expect(Set(names).count == names.count)
  }
}
