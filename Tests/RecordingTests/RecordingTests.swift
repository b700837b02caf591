// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import Testing

@Suite("A recording survives any end")
struct RecordingTests {
  @Test(
    "Records are read as written, however the file is cut into pieces", arguments: [1, 3, 27, 64, 100_000])
  func roundTrip(piece: Int) throws {
    let file = recording([.data([1, 2, 3], 10), .rate(9600, 20), .data([0x89, 0x53, 0x58], 30), .lost(40)])
    let read = try records(of: file, piece: piece)
    #expect(read.events == ["H0", "D10 [1, 2, 3]", "R20 9600", "D30 [137, 83, 88]", "L40"])
    #expect(read.torn == 0)
    #expect(read.damaged == 0)
  }

  @Test("A file that is cut at any byte loses only the record with the cut")
  func torn() throws {
    let whole = recording([.data([1, 2, 3], 10), .data([4], 20), .data([5, 6], 30)])
    let header = recording([]).count
    for length in header..<whole.count {
      let read = try records(of: Array(whole[..<length]), piece: 50)
      let kept = [31, 29, 30].reduce(into: [header]) { $0.append($0.last! + $1) }.filter { $0 <= length }.last!
      #expect(read.whole == UInt64(kept), "cut at \(length)")
      #expect(read.torn == UInt64(length - kept), "cut at \(length)")
    }
  }

  @Test("Zeros at the end, as a file system leaves them after a loss of power, are a torn tail")
  func zeros() throws {
    let whole = recording([.data([1, 2, 3], 10)])
    let read = try records(of: whole + [UInt8](repeating: 0, count: 5000), piece: 4096)
    #expect(read.whole == UInt64(whole.count))
    #expect(read.torn == 5000)
  }

  @Test("A record with any damaged byte is skipped, and the next one is read")
  func damaged() throws {
    let header = recording([]).count
    let file = recording([.data([1, 2, 3], 10), .data([4], 20)])
    for index in header..<header + 31 {
      var bad = file
      bad[index] ^= 0x20
      let read = try records(of: bad, piece: 7)
      // A record of an unknown kind with a wrong checksum is damaged like others.
      #expect(read.events == ["H0", "D20 [4]"], "damaged at \(index)")
      #expect(read.damaged == 31, "damaged at \(index)")
    }
  }

  @Test("Files of a rotated recording can be concatenated")
  func concatenated() throws {
    let read = try records(of: recording([.data([1], 10)]) + recording([.data([2], 20)]), piece: 33)
    #expect(read.events == ["H0", "D10 [1]", "H0", "D20 [2]"])
  }

  @Test("Other files are refused, and the error about a later version has the next step")
  func refused() {
    #expect(throws: RecordingError.notARecording) { try records(of: ascii("$GPGGA,,,"), piece: 4) }
    var header = RecordingHeader(device: "/dev/x", baud: nil)
    header.version = 2
    var writer = RecordingWriter()
    _ = writer.add(.header, text: header.text, at(0))
    let file = array(writer.pending)
    #expect(throws: RecordingError.newerVersion(2)) { try records(of: file, piece: 4) }
    #expect(RecordingError.newerVersion(2).description.contains("later version"))
  }

  @Test("A header keeps its fields, and a line break in a path makes no line")
  func header() {
    let header = RecordingHeader(device: "/dev/serial/by-id/a=b", baud: 115_200, earlierBytes: 7)
    #expect(RecordingHeader(header.text) == header)
    #expect(RecordingHeader(RecordingHeader(device: "a\nbaud=1", baud: nil).text)?.baud == nil)
    #expect(RecordingHeader("NMEA") == nil)
  }

  @Test("A writer without capacity returns false and keeps its pending bytes")
  func full() {
    var writer = RecordingWriter(capacity: 0)
    let longest = [UInt8](repeating: 7, count: Record.longestPayload)
    let first = writer.add(.data, longest.raw, at(0))
    let second = writer.add(.data, [1].raw, at(1))
    let count = writer.pending.byteCount
    #expect(first && !second)
    #expect(count == Record.longestPayload + Record.overhead)
  }

  @Test("The stream of a recording equals the stream of plain bytes", arguments: [1, 5, 1000])
  func recordedBytes(piece: Int) throws {
    let stream = [UInt8](0...200)
    let file = recording([.data(Array(stream[..<90]), 1), .lost(2), .data(Array(stream[90...]), 3)])
    #expect(try bytes(in: stream, piece: piece) == stream)
    #expect(try bytes(in: file, piece: piece) == stream)
    #expect(try bytes(in: [0x89, 0x53], piece: piece) == [0x89, 0x53])
    #expect(try bytes(in: [], piece: piece) == [])
  }

  @Test("After random bytes the reader finds the next valid record")
  func fuzz() throws {
    var random = SeededRandomNumberGenerator(seed: 7)
    for _ in 0..<200 {
      var file = recording([.data([1], 1)])
      let noise = random.bytes(random.int(0...300))
      file += noise + recording([.data([2], 2)])
      let read = try records(of: file, piece: random.int(1...80))
      #expect(read.events.last == "D2 [2]")
      #expect(read.damaged == UInt64(noise.count))
    }
  }

  private func bytes(in file: [UInt8], piece: Int) throws -> [UInt8] {
    var either = RecordedBytes()
    var found: [UInt8] = []
    for start in stride(from: 0, to: file.count, by: piece) {
      try either.receive(file[start..<min(start + piece, file.count)].array.raw) { found += array($0) }
    }
    _ = try either.finish { found += array($0) }
    return found
  }
}

@Suite("Sync and rotation of a recording")
struct RecordingPlanTests {
  @Test("A sync is due a second after the first unsynced byte, and not without one")
  func sync() {
    var plan = RecordingPlan(rotation: nil)
    #expect(plan.deadline == nil)
    plan.wrote(10, at: time(100))
    plan.wrote(10, at: time(900))
    #expect(plan.deadline == time(1100))
    #expect(!plan.isSyncDue(at: time(1099)))
    #expect(plan.isSyncDue(at: time(1100)))
    plan.synced()
    #expect(plan.deadline == nil)
  }

  @Test("A file is full by its size, or by its time")
  func rotation() {
    var bySize = RecordingPlan(rotation: .bytes(20))
    bySize.wrote(19, at: time(0))
    #expect(!bySize.isRotationDue(at: time(1)))
    bySize.wrote(1, at: time(2))
    #expect(bySize.isRotationDue(at: time(2)))
    bySize.rotated()
    #expect(!bySize.isRotationDue(at: time(2)))

    var byTime = RecordingPlan(rotation: .time(Milliseconds(1000)))
    #expect(!byTime.isRotationDue(at: time(5000)))
    byTime.wrote(1, at: time(5000))
    #expect(!byTime.isRotationDue(at: time(5999)))
    #expect(byTime.isRotationDue(at: time(6000)))
  }

  @Test("Forms of sizes and times")
  func texts() {
    #expect(RecordingPlan.Rotation("500k") == .bytes(500_000))
    #expect(RecordingPlan.Rotation("100M") == .bytes(100_000_000))
    #expect(RecordingPlan.Rotation("1h") == .time(Milliseconds(3_600_000)))
    for bad in ["", "M", "0M", "-1h", "1.5h", "10", "1w", "99999999999G"] {
      #expect(RecordingPlan.Rotation(bad) == nil, "\(bad)")
    }
  }

  @Test("Finished files are numbered upwards, also after a gap, and the oldest are removed first")
  func names() {
    let present = ["a.log.2", "a.log.10", "a.log", "a.log.x", "b.log.99", "a.log.03"]
    var names = RecordingNames(of: "a.log", among: present, keep: 2)
    #expect(names.finish() == 11)
    #expect(names.surplus() == [2])
    #expect(names.surplus() == [])
    #expect(names.finish() == 12)
    #expect(names.surplus() == [10])
    var all = RecordingNames(of: "a.log", among: present, keep: nil)
    #expect(all.surplus() == [])
    // The files of another name, which is equal as text, are not removed.
    var composed = RecordingNames(of: "caf\u{E9}", among: ["cafe\u{301}.1", "caf\u{E9}.2", "caf\u{E9}.3"], keep: 1)
    #expect(composed.surplus() == [2])
  }
}
