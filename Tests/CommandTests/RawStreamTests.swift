// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import sextant

@Suite("Bytes of a receiver as they are")
struct RawStreamTests {
  @Test("watch --raw prints the bytes of a receiver, which watch and record read from standard input")
  func raw() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let raw = try CommandProgram.run(["watch", "--raw", "--device", "sim:walk", "--count", "2"], in: path)
    #expect(raw.code == 0 && raw.output.contains("$GN"), "\(raw)")
    try Data(contentsOf: URL(fileURLWithPath: "\(path)/output")).write(to: URL(fileURLWithPath: "\(path)/stream"))
    let stream = "\(path)/stream"
    let watched = try CommandProgram.run(["watch", "--json", "--device", "-"], in: path, input: stream)
    #expect(watched.code == 0 && watched.output.contains(#""class":"TPV","device":"/dev/stdin""#), "\(watched)")
    let again = try CommandProgram.run(["watch", "--raw", "--device", "-"], in: path, input: stream)
    #expect(again.code == 0 && again.output == raw.output)
    let recorded = try CommandProgram.run(
      ["record", "--raw", "--device", "-", "\(path)/copy"], in: path, input: stream)
    #expect(recorded.code == 0, "\(recorded)")
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: "\(path)/copy")) == Data(contentsOf: URL(fileURLWithPath: stream)))
    let decoded = try CommandProgram.run(["decode", "--format", "messages", "-"], in: path, input: stream)
    #expect(decoded.code == 0 && decoded.output.contains(#""protocol":"NMEA""#), "\(decoded)")
    let none = try CommandProgram.run(["watch", "--device", "-"], in: path)
    #expect(none.code == 69, "\(none)")
    for options in [["--raw", "--json"], ["--raw", "--corrections", "fifo:x"]] {
      #expect(try CommandProgram.run(["watch"] + options, in: path).code == 64)
    }
  }
}
