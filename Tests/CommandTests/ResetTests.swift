// SPDX-License-Identifier: Apache-2.0
import Foundation
import Receiver
import ReceiverRuntime
import ReceiverStream
import Testing

@testable import sextant

@Suite("Resets of a receiver")
struct ResetTests {
  @Test(
    "A reset ends with what the receiver replied after it",
    arguments: [("hot", "0x0"), ("warm", "0x1"), ("cold", "0xffff")])
  func reset(kind: String, mask: String) throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let result = try CommandProgram.run(["reset", kind, "--device", "sim:walk"], in: path)
    #expect(result.code == 0 && result.output.contains("navBbrMask \(mask), resetMode 2"), "\(result)")
    #expect(result.output.contains("reply after") && result.output.contains("since its start"), "\(result)")
    let json = try CommandProgram.run(
      ["reset", kind, "--mode", "software", "--json", "--device", "sim:walk"], in: path)
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(json.code == 0 && object?["start"] as? String == kind && object?["resetMode"] as? Int == 1, "\(json)")
  }

  @Test("CFG-RST has the documented masks and modes")
  func resetCommand() {
    #expect(ResetMode.gnss.command(.hot).bytes[6..<10] == [0, 0, 2, 0])
    #expect(ResetMode.software.command(.warm).bytes[6..<10] == [1, 0, 1, 0])
    #expect(ResetMode.hardware.command(.cold).bytes[6..<10] == [0xFF, 0xFF, 0, 0])
    #expect(ResetMode.shutdown.command(.cold).bytes[6..<10] == [0xFF, 0xFF, 4, 0])
  }

  @Test("A cold start removes the stored position and orbits of a receiver, a warm start the orbits")
  func assistance() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let store = try #require(AssistanceStore(path))
    let text =
      "sextant-assistance 1\nreceiver 00 SPG\nplace 48 11 500 3 1700000000\ndatabase 1700000000 1\n1380 00\nend\n"
    let record = try #require(AssistanceRecord(text))
    store.save(record, at: UTCTime(nanosecondsSince1970: 1_700_000_000_000_000_000))
    #expect(store.records().first?.database.count == 1)
    #expect(store.remove(record.key, keepsPlace: true))
    #expect(store.records().first?.place != nil && store.records().first?.database.isEmpty == true)
    #expect(!store.remove(record.key, keepsPlace: true), "nothing is left to remove")
    #expect(store.remove(record.key, keepsPlace: false) && store.records().isEmpty)
    #expect(!store.remove(record.key, keepsPlace: false))
  }

  @Test("A reset refuses --read-only and standard input with 64")
  func readOnly() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    for (options, expected) in [
      (["--read-only", "--device", "sim:walk"], "omit --read-only"), (["--device", "-"], "standard input"),
    ] {
      let result = try CommandProgram.run(["reset", "hot"] + options, in: path)
      #expect(result.code == 64 && result.errors.contains(expected), "\(result)")
    }
  }
}
