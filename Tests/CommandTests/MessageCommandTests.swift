// SPDX-License-Identifier: Apache-2.0
import Foundation
import Receiver
import Testing
import UBX

@testable import sextant

@Suite("Messages to a receiver")
struct MessageCommandTests {
  @Test(
    "Messages by name are sent to a receiver, and the replies printed",
    arguments: [
      (["poll", "MON-VER"], 0, "swVersion"), (["poll", "mon-ver", "--json"], 0, #""name":"MON-VER","offset":"#),
      (["poll", "0x0a-0x04", "--json"], 0, #""swVersion":"#),
      (
        ["poll", "CFG-VALGET", "layer=0", "CFG-RATE-MEAS", "--json"], 0,
        #""key":"CFG-RATE-MEAS","id":807469057,"value":1}"#
      ),
      (["send", "CFG-VALSET", "layers=1", "CFG-RATE-MEAS=0.2"], 0, "CFG-VALSET acknowledged (ACK-ACK)"),
      (["send", "CFG-VALSET", "layers=1", "CFG-RATE-MEAS=0.2", "--json"], 0, #""name":"ACK-ACK""#),
      (["send", "CFG-VALSET", "--hex", "00 01 00 00 01 00 21 30 C8 00"], 0, "acknowledged"),
      (["send", "--hex", "B5 62 0A 04 00 00 0E 34"], 0, "swVersion"),
      (["send", "$PUBX,00", "--wait", "2"], 0, "$PUBX,00*33 sent"),
      // The simulated receiver refuses a message that its family lacks.
      (["send", "CFG-GNSS", "numTrkChUse=8"], 69, "refused"),
      (["send", "CFG-VALSET", "layers=0", "CFG-RATE-MEAS=0.2"], 69, "refused CFG-VALSET"),
      (["poll", "NAV-PTV"], 64, "did you mean NAV-PVT"),
      (["send", "CFG-RATE", "measRat=1"], 64, "did you mean measRate"),
      (["send", "CFG-RATE", "measRate=70000"], 64, "0 to 65535 ms"), (["send"], 64, "name a message"),
      (["send", "--hex", "B5 62 0A 04 00 00 0E 35"], 64, "checksums"),
      (["send", "--hex", "B5 6"], 64, "two hexadecimal"),
    ] as [([String], Int32, String)])
  func messages(words: [String], code: Int32, expected: String) throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let result = try CommandProgram.run(words + ["--device", "sim:walk"], in: path)
    #expect(result.code == code, "\(result)")
    #expect((result.output + result.errors).contains(expected), "\(result)")
  }

  @Test("A command that sends refuses --read-only and standard input with 64", arguments: ["poll", "send"])
  func readOnly(command: String) throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    for (options, expected) in [
      (["--read-only", "--device", "sim:walk"], "omit --read-only"), (["--device", "-"], "standard input"),
    ] {
      let result = try CommandProgram.run([command, command == "poll" ? "MON-VER" : "CFG-ANT"] + options, in: path)
      #expect(result.code == 64 && result.errors.contains(expected), "\(result)")
    }
  }

  @Test("With SEXTANT_READ_ONLY=1 commands that send are refused with 64, and the others send nothing")
  func readOnlyVariable() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let variables = ["SEXTANT_READ_ONLY": "1", "GNSS_DEVICE": "sim:walk"]
    for words in [["send", "CFG-ANT"], ["configure", "show"], ["power"], ["reset", "hot"], ["batch", "status"]] {
      let result = try CommandProgram.run(words, in: path, variables: variables)
      #expect(result.code == 64 && result.errors.contains("SEXTANT_READ_ONLY is set"), "\(words): \(result)")
    }
    let probe = try CommandProgram.run(["probe", "--json"], in: path, variables: variables)
    #expect(probe.code == 0 && probe.output.contains(#""model":null"#), "the receiver was asked: \(probe)")
  }

  @Test("A file of frames is sent in its order; one with other bytes is refused with 65 before anything is sent")
  func file() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let poll = Command(MessageIdentity(0x0A, 0x04), [], answer: .none).bytes
    let file = "\(path)/frames"
    try Data(poll + Array("$PUBX,00*33\r\n".utf8)).write(to: URL(fileURLWithPath: file))
    let sent = try CommandProgram.run(["send", "--file", file, "--device", "sim:walk"], in: path)
    #expect(sent.code == 0 && sent.output.contains("swVersion") && sent.output.contains("sent"), "\(sent)")
    try Data(poll + [1, 2, 3]).write(to: URL(fileURLWithPath: file))
    let refused = try CommandProgram.run(["send", "--file", file, "--device", "sim:walk"], in: path)
    #expect(refused.code == 65 && refused.errors.contains("3 of 11 bytes") && refused.output.isEmpty, "\(refused)")
  }
}
