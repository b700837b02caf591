// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import ReceiverStream
import SerialPort
import TestSupport
import Testing

@Suite("The marks of a watched recording")
struct ReplayedMarksTests {
  /// A connection to a recording in virtual time, and its log with the milliseconds since its start.
  private final class Watched {
    private(set) var log: [String] = []
    private(set) var fixes: [UInt64] = []
    private var poller: Poller
    private let connection: ReceiverConnection
    private var now: Instant
    private let start = Instant(nanoseconds: 1_000_000_000)
    var bytes: UInt64 { connection.bytes }
    var totalCounters: StreamCounters { connection.totalCounters }
    var skipped: UInt64 { connection.counters.skippedBytes }
    var isEnded: Bool { connection.isEnded }

    init(_ file: [UInt8], _ speed: String = "") throws {
      let path = "/tmp/sextant-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).rec"
      let stream = unsafe fopen(path, "w")
      _ = unsafe file.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, stream) }
      _ = unsafe fclose(stream)
      defer { unsafe unlink(path) }
      now = start
      poller = try Poller()
      connection = ReceiverConnection(
        path: "replay:\(path)\(speed)", settings: SessionSettings(intent: .serve, line: .serial), baud: nil,
        token: Poller.Token(rawValue: 1), reference: { nil })
      try connection.open(&poller, at: now)
      note()
    }

    private var elapsed: UInt64 { now.milliseconds(since: start) }

    private func note() {
      while let event = connection.nextEvent() {
        switch event {
        case .opened(_, let rate): log.append("\(elapsed) opened \(rate ?? 0)")
        case .rate(let rate): log.append("\(elapsed) rate \(rate)")
        case .lost: log.append("\(elapsed) lost")
        case .ended: log.append("\(elapsed) ended")
        case .session(let report): log.append("\(elapsed) \(report)")
        case .notice, .finished, .batch, .unreachable: break
        }
      }
    }

    // The loop goes from deadline to deadline.
    func run(_ milliseconds: UInt64) {
      let end = start + Milliseconds(milliseconds)
      var turns = 0
      while let due = connection.deadline, due <= end, turns < 10_000 {
        now = max(now, due)
        turns += 1
        connection.wake(&poller, at: now) { report, _ in
          if !report.isUpdate, report.fix.hasPosition { fixes.append(elapsed) }
        }
        note()
      }
      #expect(turns < 10_000, "it spins")
    }
  }

  /// One second each, from the first fix on.
  private static let seconds = Array(VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 8).dropFirst(2))
  private static func at(_ milliseconds: UInt64) -> Arrival {
    Arrival(Instant.zero + Milliseconds(milliseconds), utcNanoseconds: 1_780_000_000_000_000_000)
  }

  private static func add(_ bytes: [UInt8], _ milliseconds: UInt64, _ writer: inout RecordingWriter) {
    _ = unsafe writer.add(.data, bytes.span.bytes, at(milliseconds))
  }

  /// A recorder that starts at 9600 baud.
  private static func recording(_ body: (inout RecordingWriter) -> Void) -> [UInt8] {
    var writer = RecordingWriter(capacity: 1_000_000)
    _ = writer.add(.header, text: RecordingHeader(device: "/dev/ttyUSB0", baud: 9600).text, at(0))
    body(&writer)
    return array(writer.pending)
  }

  @Test("An unplug in a recording ends the session, and a new one begins when the receiver is back")
  func unplug() throws {
    let file = Self.recording { writer in
      Self.add(Self.seconds[0], 1000, &writer)
      Self.add(Self.seconds[1], 2000, &writer)
      _ = writer.add(.lost, text: "", Self.at(2500))
      _ = writer.add(.opened, text: "/dev/ttyUSB1", Self.at(4500))
      Self.add(Self.seconds[4], 5000, &writer)
    }
    let watched = try Watched(file)
    watched.run(20_000)
    #expect(watched.log == ["0 opened 9600", "2500 lost", "4500 opened 9600", "5000 ended"])
    #expect(watched.fixes.count == 3 && watched.isEnded, "\(watched.fixes)")
  }

  @Test("The counts of all openings equal a decoder's, also after the end")
  func totals() throws {
    let pieces: [[UInt8]] = [
      Self.seconds[0], [0, 1, 2] + Self.seconds[1], Self.seconds[2] + Self.seconds[3].dropLast(3),
    ]
    let file = Self.recording { writer in
      for (index, piece) in pieces.enumerated() {
        let start = UInt64(1000 + 3000 * index)
        Self.add(piece, start, &writer)
        _ = writer.add(.lost, text: "", Self.at(start + 500))
        _ = writer.add(.opened, text: "/dev/ttyUSB0", Self.at(start + 1500))
      }
    }
    let watched = try Watched(file)
    watched.run(30_000)
    var wanted: UInt64 = 0
    for piece in pieces {
      var stream = FrameStream()
      stream.receive(piece.raw) { _ in }
      stream.finish { _ in }
      wanted += stream.counters.frames
    }
    #expect(watched.isEnded)
    #expect(watched.totalCounters.frames == wanted && wanted > 30, "\(watched.totalCounters), not \(wanted)")
    #expect(watched.totalCounters.cutFrames == 1 && watched.totalCounters.skippedBytes >= 3)
  }

  @Test(
    "A receiver that never returns ends the replay, and a change of the rate meanwhile applies at its return")
  func never() throws {
    let gone = Self.recording { writer in
      Self.add(Self.seconds[0], 1000, &writer)
      _ = writer.add(.lost, text: "", Self.at(1500))
    }
    let lost = try Watched(gone)
    lost.run(20_000)
    #expect(lost.log == ["0 opened 9600", "1500 lost", "1500 ended"])
    #expect(lost.isEnded)
    let changed = try Watched(
      Self.recording { writer in
        _ = writer.add(.lost, text: "", Self.at(1500))
        _ = writer.add(rate: 38_400, Self.at(1600))
        _ = writer.add(.opened, text: "/dev/ttyUSB0", Self.at(1700))
        Self.add(Self.seconds[0], 2000, &writer)
      })
    changed.run(20_000)
    #expect(changed.log == ["0 opened 9600", "1500 lost", "1700 opened 38400", "2000 ended"])
  }

  @Test(
    "A change of the rate is one of the line: it is reported at its time, and discards an incomplete message")
  func rates() throws {
    let second = Self.seconds[1]
    let file = Self.recording { writer in
      // A search: garbage at one rate, then the correct rate in the middle of a message.
      Self.add([0xB5, 0x62, 0x01, 0x07, 0xF0, 0x00, 0x80, 0x80], 900, &writer)
      _ = writer.add(rate: 38_400, Self.at(1000))
      Self.add(Array(second[20...]), 1100, &writer)
      Self.add(Self.seconds[2], 2100, &writer)
      _ = writer.add(rate: 115_200, Self.at(2500))
      Self.add(Self.seconds[3], 3100, &writer)
    }
    let watched = try Watched(file)
    watched.run(20_000)
    #expect(watched.log == ["0 opened 9600", "1000 rate 38400", "2500 rate 115200", "3100 ended"])
    // The incomplete message in the garbage would have consumed the next epoch.
    #expect(watched.fixes.count >= 2)
    #expect(watched.skipped < UInt64(8 + second.count))
  }

  @Test("Marks are applied at any speed", arguments: ["@10", "@max"])
  func fast(speed: String) throws {
    let file = Self.recording { writer in
      for (index, second) in Self.seconds.enumerated() {
        let when = UInt64(index) * 10_000
        _ = writer.add(rate: index.isMultiple(of: 2) ? 9600 : 38_400, Self.at(when))
        Self.add(second, when + 1000, &writer)
        _ = writer.add(.lost, text: "", Self.at(when + 2000))
        _ = writer.add(.opened, text: "/dev/ttyUSB0", Self.at(when + 3000))
      }
    }
    let watched = try Watched(file, speed)
    watched.run(speed == "@max" ? 10 : 10_000)
    #expect(watched.fixes.count == 6 && watched.isEnded, "\(watched.fixes)")
    #expect(watched.log.count { $0.hasSuffix(" lost") } == 6)
    #expect(watched.log.count { $0.contains(" rate ") } == 5)
  }
}
