// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

/// The trust in a recording. Time advances with the epochs' times, and by a second for an epoch without a time.
private struct TrustWalk: ~Copyable {
  private var monitor = TrustMonitor()
  private var assembler = EpochAssembler()
  private var now = Instant.zero + Milliseconds(1000)
  private var last: UTCTime?
  /// The worst trust, with its reasons.
  private(set) var worst = SignalTrust.unknown
  private(set) var reasons: [String] = []

  init(_ bytes: [UInt8]) {
    var stream = FrameStream()
    stream.receive(bytes.raw) { receive($0) }
    stream.finish { receive($0) }
  }

  private mutating func receive(_ frame: borrowing Frame) {
    if let ubx = frame.ubx { monitor.receive(ubx, at: now) }
    note()
    var (monitor, now, last) = (self.monitor, self.now, self.last)
    assembler.receive(frame) { report, sky in
      if report.isUpdate { return }
      Self.advance(&now, &last, &monitor, to: report.fix.time)
      monitor.receive(report.fix, sky, at: now)
    }
    (self.monitor, self.now, self.last) = (monitor, now, last)
    note()
  }

  private static func advance(
    _ now: inout Instant, _ last: inout UTCTime?, _ monitor: inout TrustMonitor, to time: UTCTime?
  ) {
    var step: UInt64 = 1000
    if let time, let last {
      let milliseconds = (time.nanosecondsSince1970 - last.nanosecondsSince1970) / 1_000_000
      if 1...3_600_000 ~= milliseconds {
        step = UInt64(clamping: milliseconds)
      } else {
        // Several recordings in one, or a date that was wrong: a program would have seen a pause.
        step = 11_000
        monitor.interrupt()
      }
    }
    last = time ?? last
    now += Milliseconds(step)
  }

  private mutating func note() {
    let trust = monitor.trust(at: now)
    if trust > worst { (worst, reasons) = (trust, monitor.reasons(at: now)) }
  }
}

@Suite("Trust in recorded receivers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct TrustCorpusTests {
  @Test("No recording is called suspect, jammed or spoofed: no receiver of them warns")
  func noFalseAlarm() throws {
    let paths = Corpus.logs.map { "gpsd/" + $0 } + ["ubx/ublox-zed-f9p_hpg1.11.log"]
    var statements = 0
    for path in paths {
      let walk = TrustWalk(try Corpus.bytes(path))
      let (worst, reasons) = (walk.worst, walk.reasons)
      if worst == .ok { statements += 1 }
      #expect(worst <= .ok, "\(path): \(worst) \(reasons)")
    }
    // MON-RF or NAV-STATUS of some of them says that all is well.
    #expect(statements > 0)
  }
}
