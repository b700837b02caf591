// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("The number of frames")
struct FrameCountTests {
  /// The number before the word "frame" in a text.
  private static func frames(in text: String) -> Int? {
    let words = text.split { " \n,".contains($0) }
    return words.indices.dropFirst().first { words[$0].hasPrefix("frame") }.flatMap { Int(words[$0 - 1]) }
  }

  @Test(
    "record and decode count the same frames of the same bytes, also with garbage and a cut end",
    arguments: [0, 1, 5, 40])
  func equal(cut: Int) throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    var random = SeededRandomNumberGenerator(seed: UInt64(cut))
    var bytes: [UInt8] = []
    for index in 0..<60 {
      bytes += MixedStream.frame(&random)
      if index % 7 == 0 { bytes += [0, 1, 2] }
    }
    let file = "\(folder)/mixed.ubx"
    try Data(bytes.dropLast(cut)).write(to: URL(fileURLWithPath: file))
    let decoded = try CommandProgram.run(["decode", "--format", "summary", file], in: folder)
    let wanted = try #require(Self.frames(in: decoded.output))
    #expect(wanted > 20)
    let copy = "\(folder)/copy.rec"
    let recorded = try CommandProgram.run(["record", "--device", "-", copy], in: folder, input: file)
    #expect(Self.frames(in: recorded.errors) == wanted, "\(recorded.errors)")
    let again = try CommandProgram.run(["decode", "--format", "summary", copy], in: folder)
    #expect(Self.frames(in: again.output) == wanted)
  }
}
