// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

@Suite("Texts that are known only when the program runs")
struct WrittenTextTests {
  @Test(
    "A text is written as it is, and cut at the room", arguments: ["", "SPG 5.10", String(repeating: "x", count: 40)])
  func group(text: String) throws {
    let characters = Array(text.utf8)
    let bytes = written {
      MonVER.encode(into: &$0, length: 100) {
        $0.swVersion(characters.span)
        $0.extensionString_extension(1, characters.span)
      }
    }
    let written = try #require(payload(of: bytes))
    #expect(written[0..<30].prefix { $0 != 0 } == characters.prefix(30)[...])
    #expect(written[30..<70].allSatisfy { $0 == 0 })
    #expect(written[70..<100].prefix { $0 != 0 } == characters.prefix(30)[...])
  }

  @Test("A text that fills the rest of a message, too")
  func rest() {
    let characters = Array("receiver starts".utf8)
    let notice = written { InfNOTICE.encode(into: &$0, length: characters.count) { $0.message(characters.span) } }
    #expect(payload(of: notice) == characters)
    let string = written { LogSTRING.encode(into: &$0, length: 4) { $0.bytes(characters.span) } }
    #expect(payload(of: string) == Array(characters[..<4]))
  }
}
