// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

@testable import sextant

@Suite("The files of record")
struct RecordTests {
  private func time(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

  /// Records pieces of bytes, 100 ms apart.
  private func record(
    _ pieces: [[UInt8]], to path: String, rotation: RecordingPlan.Rotation? = nil, keep: Int? = nil, isRaw: Bool = false
  ) throws {
    let file = try RecordingFile(path: path, isRaw: isRaw, rotates: rotation != nil, keep: keep)
    var client = RecordClient(
      .device("/dev/ttyACM0"), baud: 9600, plan: RecordingPlan(rotation: rotation), isRaw: isRaw,
      wantsMeasurements: false, into: file)
    for (index, piece) in pieces.enumerated() { client.receive(bytes: piece.raw, at: time(100 * UInt64(index))) }
    try client.close()
  }

  /// The stream in a file, plain or recorded.
  private func stream(_ path: String) throws -> [UInt8] {
    var input = try StreamInput(opening: path)
    var bytes: [UInt8] = []
    while try input.next({ bytes += array($0) }) {}
    return bytes
  }

  private func append(_ bytes: [UInt8], to path: String) throws {
    var file = try RecordingFile(path: path, isRaw: false, rotates: false, keep: nil)
    try file.write(bytes.raw)
  }

  @Test("The bytes are the same, from a recording and from plain bytes")
  func bytes() throws {
    let folder = try TemporaryFolder()
    try record([[1, 2], [3]], to: folder.path + "/a")
    try record([[1, 2], [3]], to: folder.path + "/b", isRaw: true)
    #expect(try stream(folder.path + "/a") == [1, 2, 3])
    #expect(try stream(folder.path + "/b") == [1, 2, 3])
  }

  @Test("A file without a frame in its first bytes is refused before its end")
  func sparse() throws {
    let folder = try TemporaryFolder()
    try record([[1, 2], [3]], to: folder.path + "/a", isRaw: true)
    var input = try StreamInput(opening: folder.path + "/a")
    while try input.next({ _ in }) {}
    try input.check(StreamCounters(), after: 4)
    var code: Int32 = 0
    do { try input.check(StreamCounters(), after: 3) } catch let failure as CommandFailure { code = failure.exitCode }
    #expect(code == 65)
  }

  @Test("A recording is continued, and its torn tail is removed")
  func continued() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a"
    try record([[1, 2]], to: path)
    try append([0x89, 0x53, 0x58, 0x44, 9, 0], to: path)
    let found = try RecordingFile(path: path, isRaw: false, rotates: false, keep: nil).found
    #expect(found?.streamBytes == 2)
    #expect(found?.torn == 6)
    try record([[3]], to: path)
    #expect(try stream(path) == [1, 2, 3])
  }

  @Test("A recording is free at its end, also while a process that was started meanwhile has a copy of its descriptor")
  func unlocked() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a"
    var copy: Int32 = -1
    do {
      var file = try RecordingFile(path: path, isRaw: true, rotates: false, keep: nil)
      try file.write([1].raw)
      let names = FileLookup.names(in: "/proc/self/fd").filter { FileLookup.resolved("/proc/self/fd/\($0)") == path }
      copy = dup(try #require(names.first.flatMap { Int32($0) }))
    }
    defer { close(copy) }
    let isFree = try OutputFile(path).lock()
    #expect(copy >= 0 && isFree)
  }

  @Test("A file that is not a recording is not changed, and raw bytes are written to a new file only")
  func refused() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a"
    try record([ascii("something else")], to: path, isRaw: true)
    for isRaw in [false, true] {
      #expect {
        try record([[1]], to: path, isRaw: isRaw)
      } throws: { error in
        (error as? CommandFailure)?.exitCode == 73
      }
    }
    #expect(try stream(path) == ascii("something else"))
  }

  @Test("Full files get numbers, the oldest are removed, and together they are the stream")
  func rotated() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a"
    let pieces = (0..<6 as Range<UInt8>).map { [UInt8](repeating: $0, count: 500) }
    try record(pieces, to: path, rotation: .bytes(900))
    #expect(folder.names == ["a", "a.1", "a.2"])
    let together = try ["a.1", "a.2", "a"].reduce(into: [UInt8]()) { $0 += try stream(folder.path + "/" + $1) }
    #expect(together == Array(pieces.joined()))
    try record(pieces, to: path, rotation: .bytes(900), keep: 2)
    #expect(folder.names == ["a", "a.4", "a.5"])
  }

  @Test("A full disk is reported with the next step")
  func full() {
    #expect {
      var file = try RecordingFile(path: "/dev/full", isRaw: false, rotates: false, keep: nil)
      try file.write([1].raw)
    } throws: { error in
      (error as? CommandFailure)?.exitCode == 74 && "\(error)".contains("--rotate")
    }
  }

  @Test("Two recorders of one file are refused, and an empty recording leaves no file")
  func exclusive() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a"
    do {
      let first = try RecordingFile(path: path, isRaw: false, rotates: false, keep: nil)
      #expect {
        _ = try RecordingFile(path: path, isRaw: false, rotates: false, keep: nil)
      } throws: { error in
        (error as? CommandFailure)?.exitCode == 75
      }
      _ = consume first
    }
    #expect(folder.names == [])
  }

  @Test("The summary of a recording")
  func json() throws {
    let folder = try TemporaryFolder()
    let file = try RecordingFile(path: folder.path + "/a", isRaw: false, rotates: false, keep: nil)
    var client = RecordClient(
      .device("/dev/ttyACM0"), baud: nil, plan: RecordingPlan(rotation: nil), isRaw: false, wantsMeasurements: false,
      into: file)
    client.receive(bytes: [1, 2, 3].raw, at: time(0))
    try client.close()
    #expect(client.summary("a") == "a: 3 bytes, 0 frames and 0 fixes in 0 s")
    let line = client.json("a")
    #expect(line.hasPrefix(#"{"file":"a","device":"/dev/ttyACM0","bytes":3,"frames":0,"seconds":"#))
    #expect(line.hasSuffix("\"fixes\":0}\n"))
  }

  @Test("The summary has the fixes, the frames and the finished files")
  func summary() throws {
    let folder = try TemporaryFolder()
    let file = try RecordingFile(path: folder.path + "/a", isRaw: false, rotates: true, keep: nil)
    var client = RecordClient(
      .device("/dev/ttyACM0"), baud: nil, plan: RecordingPlan(rotation: .bytes(1)), isRaw: false,
      wantsMeasurements: false, into: file)
    for milliseconds in [0, 100] as [UInt64] { client.receive(bytes: [1].raw, at: time(milliseconds)) }
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (48, 11)
    client.receive(EpochAssembler.Report(fix: fix), Sky(), at: time(200))
    client.receive(EpochAssembler.Report(fix: Fix()), Sky(), at: time(300))
    client.frames = 12
    try client.close()
    #expect(client.summary("-").hasPrefix("standard output: 2 bytes, 12 frames and 1 fix in "))
    #expect(client.summary("-").hasSuffix(", 1 finished file before it"))
  }
}
