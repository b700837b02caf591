// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing

@Suite("A replay returns the bytes at their times")
struct ReplayTests {
  /// All events of a replay, with their due times.
  private func played(_ file: [UInt8], _ speed: Replay.Speed, piece: Int = 1000) throws -> [(UInt64, Replay.Event)] {
    var replay = Replay(speed: speed, at: time(5000))
    var events: [(UInt64, Replay.Event)] = []
    var at = 0
    while true {
      while replay.needsInput {
        if at == file.count {
          try replay.finish()
        } else {
          let next = min(at + piece, file.count)
          try replay.receive(Array(file[at..<next]).raw)
          at = next
        }
      }
      let (due, isEnded) = (replay.deadline, replay.isEnded)
      guard let due else {
        #expect(isEnded)
        return events
      }
      while let event = replay.play(at: due) {
        // The rate of the headers has a separate test.
        if event == .rate(9600) { continue }
        events.append((due.milliseconds(since: time(5000)), event))
      }
    }
  }

  @Test("Recorded bytes have their distances in time, and none is early")
  func recorded() throws {
    let file = recording([.data([1], 100), .rate(38400, 150), .data([2, 3], 1100), .lost(1200)])
    let events = try played(file, .times(1))
    #expect(events.map(\.0) == [100, 150, 1100, 1200])
    #expect(events.map(\.1) == [.bytes([1]), .rate(38400), .bytes([2, 3]), .lost])
    var replay = Replay(speed: .times(1), at: time(0))
    try replay.receive(file.raw)
    let atOnce = replay.play(at: time(99))
    let early = replay.play(at: time(99))
    #expect(atOnce == .rate(9600) && early == nil)
  }

  @Test("The rate at the opening of the line comes first in each run")
  func headersRate() throws {
    let file = recording([.data([1], 100)]) + recording([.data([2], 100)])
    var replay = Replay(speed: .maximum, at: time(0))
    try replay.receive(file.raw)
    try replay.finish()
    var events: [Replay.Event] = []
    while let event = replay.play(at: time(0)) { events.append(event) }
    #expect(events == [.rate(9600), .bytes([1]), .rate(9600), .bytes([2])])
  }

  @Test("Fourfold speed takes a quarter of the time, and max none")
  func fast() throws {
    let file = recording([.data([1], 0), .data([2], 4000)])
    #expect(try played(file, .times(4)).map(\.0) == [0, 1000])
    #expect(try played(file, .maximum).map(\.0) == [0, 0])
  }

  @Test("Between two runs of the recorder there is a second, whatever their clocks")
  func runs() throws {
    let later = recording([.data([2], 9_000_100)], startingAt: 9_000_000)
    #expect(try played(recording([.data([1], 500)]) + later, .times(1)).map(\.0) == [500, 1600])
    let restarted = recording([.data([2], 150)], startingAt: 100)
    #expect(try played(recording([.data([1], 500)]) + restarted, .times(1)).map(\.0) == [500, 1550])
  }

  @Test("Times that no recorder writes are played: a gap of more than a day is a second")
  func impossibleTimes() throws {
    var writer = RecordingWriter(capacity: 1_000_000)
    _ = writer.add(.header, text: RecordingHeader(device: "/dev/ttyACM0", baud: 9600).text, at(0))
    for (number, nanoseconds) in [UInt64.max, 0, 1 << 63, .max].enumerated() {
      let arrival = Arrival(Instant(nanoseconds: nanoseconds), utcNanoseconds: number == 0 ? .max : .min)
      _ = writer.add(.data, [UInt8(number)].raw, arrival)
    }
    let file = array(writer.pending)
    let events = try played(file + file, .times(1))
    #expect(events.map(\.1) == [0, 1, 2, 3, 0, 1, 2, 3].map { .bytes([$0]) })
    #expect(events.map(\.0) == [1000, 1000, 2000, 3000, 5000, 5000, 6000, 7000])
    let day: UInt64 = 86_400_000
    #expect(try played(recording([.data([1], day)]), .times(1)).map(\.0) == [day])
    #expect(try played(recording([.data([1], day + 1)]), .times(1)).map(\.0) == [1000])
  }

  @Test("Many long gaps are played until the end of time, and not beyond")
  func longGaps() throws {
    var file: [UInt8] = []
    let day: UInt64 = 86_400_000_000_000
    var writer = RecordingWriter(capacity: 40_000_000)
    _ = writer.add(.header, text: RecordingHeader(device: "", baud: nil).text, at(0))
    // Each second record is at the start again: 250,000 gaps of a day are more than 584 years.
    for number in 0..<500_000 {
      _ = writer.add(.lost, text: "", Arrival(Instant(nanoseconds: number % 2 == 0 ? 0 : day), utcNanoseconds: 0))
    }
    file = array(writer.pending)
    let events = try played(file + recording([.data([1], 0)]), .times(1), piece: 65_536)
    #expect(events.count == 500_001)
    #expect(events.last?.1 == .bytes([1]))
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.0 <= $1.0 })
  }

  @Test("A plain log is played epoch by epoch and completely", arguments: [7, 100, 100_000])
  func plain(piece: Int) throws {
    let log = VirtualLine.recording(startUTCSeconds: 1_780_000_100, seconds: 20).flatMap { $0 }
    let events = try played(log, .times(1), piece: piece)
    var bytes: [UInt8] = []
    for case (_, .bytes(let some)) in events { bytes += some }
    #expect(bytes == log)
    let last = try #require(events.last)
    #expect((18_000...19_000).contains(last.0), "\(last.0)")
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.0 <= $1.0 })
  }

  @Test("A log without epochs is played at 9600 baud, and one of three bytes at once")
  func noise() throws {
    let events = try played([UInt8](repeating: 0x55, count: 96_000), .times(1))
    let last = try #require(events.last)
    #expect((80_000...100_000).contains(last.0), "\(last.0)")
    let few = try played([1, 2, 3], .times(1))
    #expect(few.map(\.1) == [.bytes([1, 2, 3])])
    let none = try played([], .times(1))
    #expect(none.isEmpty)
  }

  @Test("No more of the file is requested than is needed soon")
  func memory() throws {
    var replay = Replay(speed: .times(1), at: time(0))
    var given = 0
    let piece = recording([.data([UInt8](repeating: 0, count: 30_000), 100_000)])
    while replay.needsInput, given < 100 {
      try replay.receive(piece.raw)
      given += 1
    }
    #expect(given == 3)
  }

  @Test("A long recording is played completely and in order while more of it is read")
  func long() throws {
    let parts = (0..<5000 as Range<UInt64>).map { Written.data([UInt8(truncatingIfNeeded: $0)], $0) }
    let file = recording(parts)
    let events = try played(file, .times(1), piece: 4096)
    #expect(events.map(\.1) == (0..<5000).map { .bytes([UInt8(truncatingIfNeeded: $0)]) })
    #expect(events.map(\.0) == (0..<5000).map { UInt64($0) })
  }

  @Test("Forms of speeds")
  func speeds() {
    #expect(Replay.Speed("max") == .maximum)
    #expect(Replay.Speed("10") == .times(10))
    #expect(Replay.Speed("0.5x") == .times(0.5))
    for bad in ["", "x", "0", "-1", "nan", "inf", "fast"] { #expect(Replay.Speed(bad) == nil, "\(bad)") }
  }
}
