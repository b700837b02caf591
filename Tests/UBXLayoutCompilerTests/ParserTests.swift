// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UBXLayoutCompiler

@Suite("Layout files")
struct ParserTests {
  private func parse(_ text: String) throws -> [Message] {
    var parser = Parser(file: "X.ubx")
    return try parser.parse(text)
  }

  private func failure(_ text: String) -> Parser.Failure? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      return error as? Parser.Failure
    }
  }

  private let head = "message TST-ONE 01 0A output poll when length=8 ; A test\n"

  private func field(_ message: Message?, _ index: Int) -> Field? {
    if case .field(let field)? = message?.items[index] { field } else { nil }
  }

  @Test("A message has a name, class, id, directions, conditions and a summary")
  func message() throws {
    let message = try #require(try parse(head + "  U4 a\n  U4 b").first)
    #expect(message.name == "TST-ONE")
    #expect(message.swiftName == "TstONE")
    #expect(message.messageClass == 1)
    #expect(message.messageID == 10)
    #expect(message.directions == ["output", "poll"])
    #expect(message.summary == "A test")
    #expect(message.conditions.count == 1)
    #expect(message.fixedSize == 8)
  }

  @Test("A field has a type, a count, a scale and a unit")
  func fields() throws {
    let fields = "I4 lon 1e-7 deg ; Longitude\n U1[3] reserved0\n I2 t ms\n I2 u 2^-12\n CH[*] c"
    let message = try parse(head + fields).first
    #expect(field(message, 0)?.type == .i4)
    #expect(field(message, 0)?.scale == "1e-7")
    #expect(field(message, 0)?.unit == "deg")
    #expect(field(message, 0)?.summary == "Longitude")
    #expect(field(message, 1)?.count == .fixed(3))
    #expect(field(message, 1)?.isReserved == true)
    #expect(field(message, 2)?.unit == "ms")
    #expect(field(message, 3)?.scale == "2^-12")
    #expect(field(message, 4)?.count == .rest)
    #expect(message?.fixedSize == 11)
  }

  @Test("A unit may begin with a number: the value is not scaled")
  func countedUnit() throws {
    let message = try #require(try parse(head + "  I1 a 0.1mm\n  U4 b 1e-2 deg").first)
    #expect(field(message, 0)?.scale == "")
    #expect(field(message, 0)?.unit == "0.1mm")
    #expect(field(message, 1)?.scale == "1e-2")
  }

  @Test("Bits belong to the field before them; i… are signed")
  func bits() throws {
    let field = field(try parse(head + "  X1 flags\n  b0 ok\n  i4..7 difference").first, 0)
    #expect(field?.bits.map(\.name) == ["ok", "difference"])
    #expect(field?.bits.map(\.width) == [1, 4])
    #expect(field?.bits.map(\.isSigned) == [false, true])
  }

  @Test("A group repeats by a field, by bits of one, by a number, or to the end", arguments: ["n", "f.n", "3", "*"])
  func groups(times: String) throws {
    let message = try parse(head + "  U1 n\n  X1 f\n  b4..7 n\n  repeat \(times) as Thing\n  U1 a\n  I2 b\n  end").first
    guard case .group(let group)? = message?.items.last else {
      Issue.record("no group")
      return
    }
    #expect(group.size == 3)
    #expect(group.swiftName == "Thing")
    #expect(message?.fixedSize == (times == "3" ? 11 : 2))
  }

  @Test("Comments and empty lines are ignored")
  func comments() throws {
    #expect(try parse("# a comment\n\n\(head)  # inside\n  U1 a\n").count == 1)
  }

  @Test(
    "Errors are reported with their line",
    arguments: [
      ("  U1 a", 1), ("message TST 01\n", 1), ("message TST-ONE 01 XX output\n", 1),
      ("message TST-ONE 01 02 as X\n", 1),
      ("message TST-ONE 01 02 sideways\n", 1), ("message TST-ONE 01 02 output when size=3\n", 1),
    ])
  func badMessages(text: String, line: Int) {
    #expect(failure(text)?.file == "X.ubx")
    #expect(failure(text)?.line == line)
  }

  @Test(
    "Errors in a field or group are reported too",
    arguments: [
      "U9 a", "U1[0] a", "U1[x] a", "U1", "U1 a\n b8 x", "U1[2] a\n b0 x", "b0 x", "R4 a\n b0 x", "repeat n as X",
      "U1 n\n repeat n.k as X", "repeat 2\n end", "end", "repeat 2 as X\n repeat 2 as Y", "U1 a\n U1 a",
      "CH[*] a\n U1 b", "repeat * as X\n U1 a\n end\n U1 b", "repeat 2 as X\n CH[*] a\n end", "U1 a\n minimum 2",
      "repeat 2 as X\n U1 a", "minimum x", "U1 a 1e-x",
    ])
  func badFields(text: String) {
    #expect(failure(head + text) != nil)
  }

  @Test("Scales become Swift literals, names become Swift names")
  func names() {
    #expect(scaleLiteral("2^-12") == "0x1p-12")
    #expect(scaleLiteral("0.01") == "0.01")
    #expect(scaleLiteral("one") == nil)
    #expect(swiftName("NAV-PVT") == "NavPVT")
    #expect(swiftName("MGA-INI-POS_LLH") == "MgaINI_POS_LLH")
  }
}
