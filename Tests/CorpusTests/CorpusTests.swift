// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream
import TestSupport
import Testing

/// All results of decoding a log.
struct Decoding: Equatable {
  var lines: [UInt8] = []
  var counters = StreamCounters()
  var offsets: [UInt64] = []

  /// The log arrives in pieces of the lengths that `next` returns.
  init(_ bytes: [UInt8], pieces next: () -> Int) {
    var stream = FrameStream()
    var assembler = EpochAssembler()
    var line = JSONLine()
    var offsets: [UInt64] = []
    func receive(_ frame: borrowing Frame) {
      offsets.append(frame.offset)
      assembler.receive(frame) { report, sky in line.add(report, sky) }
    }
    var at = 0
    while at < bytes.count {
      let end = min(bytes.count, at + next())
      stream.receive(bytes.raw.extracting(at..<end), receive)
      at = end
    }
    stream.finish(receive)
    assembler.finish { report, sky in line.add(report, sky) }
    lines = Array(line.text.utf8)
    counters = stream.counters
    self.offsets = offsets
  }

  /// The log arrives at once.
  init(_ bytes: [UInt8]) { self.init(bytes) { bytes.count } }
}

extension JSONLine {
  fileprivate mutating func add(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    tpv(report.fix)
    if report.skyChanged { self.sky(sky, report.fix) }
  }
}

@Suite("Recorded receivers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct CorpusTests {
  @Test("A log decodes in any pieces to the same", arguments: Corpus.logs)
  func pieces(log: String) throws {
    let bytes = try Corpus.bytes("gpsd/" + log)
    var random = SeededRandomNumberGenerator(seed: UInt64(bytes.count))
    let whole = Decoding(bytes)
    #expect(whole.counters.frames > 0)
    #expect(Decoding(bytes) { random.int(1...700) } == whole)
    // Byte by byte is slow in a build for tests.
    if bytes.count < 8000 { #expect(Decoding(bytes) { 1 } == whole) }
  }

  @Test("At least nine epochs of ten agree with gpsd's")
  func agreement() throws {
    try #require(Corpus.isThere)
    var total = 0
    var agreeing = 0
    for log in Corpus.logs {
      let reference = TPV.epochs(try Corpus.bytes("gpsd/\(log).chk"))
      let ours = TPV.epochs(Decoding(try Corpus.bytes("gpsd/" + log)).lines)
      total += reference.count
      agreeing += reference.filter { ours[$0.key]?.agrees(with: $0.value) == true }.count
    }
    #expect(Double(agreeing) >= 0.9 * Double(total), "\(agreeing) of \(total)")
  }

  @Test(
    "Logs hold as many frames as they were counted to hold",
    arguments: [
      ("gpsd/ublox-8.log", 1008, 0, 0), ("gpsd/bundg_zeus_9.log", 4999, 0, 0),
      ("gpsd/ublox-zed-f9t-rtcm3.log", 0, 136, 182), ("gpsd/ublox-f9p-rtcm.log", 0, 16, 15),
      ("gpsd/ublox-zed-f9r.log", 871, 277, 224), ("ubx/ublox-zed-f9p_hpg1.11.log", 2612, 1960, 0),
    ] as [(String, UInt64, UInt64, UInt64)])
  func totals(log: String, nmea: UInt64, ubx: UInt64, rtcm3: UInt64) throws {
    let counters = Decoding(try Corpus.bytes(log)).counters
    #expect(counters.nmeaFrames == nmea)
    #expect(counters.ubxFrames == ubx)
    #expect(counters.rtcm3Frames == rtcm3)
  }
}

/// The beginnings of recordings are often within a sentence.
@Suite("Recordings that were cut", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct CutRecordingTests {
  /// The values of each epoch that sentences without a time supply.
  private func values(_ bytes: some Collection<UInt8>) -> [[Double?]] {
    var playback = Playback()
    playback.receive(Array(bytes))
    playback.finish()
    var epochs: [Fix] = []
    for report in playback.reports {
      if !report.isUpdate {
        epochs.append(report.fix)
      } else if !epochs.isEmpty {
        epochs[epochs.count - 1] = report.fix
      }
    }
    return epochs.map {
      [$0.speedMetresPerSecond, $0.courseDegrees, $0.climbMetresPerSecond, $0.pdop, $0.vdop, $0.verticalAccuracyMetres]
    }
  }

  @Test(
    "A log that was cut within a sentence of its first burst has the values of the whole log",
    arguments: [
      "garmin15x", "bn-9015", "et-332", "holux-gm-210", "tn200", "tr737A+", "ublox-lea-4s", "skytraq-dgps", "quectel",
    ])
  func cut(log: String) throws {
    let bytes = try Corpus.bytes("gpsd/\(log).log")
    let whole = values(bytes)
    let lines = bytes.indices.filter { bytes[$0] == UInt8(ascii: "$") && ($0 == 0 || bytes[$0 - 1] == 10) }
    let second = try #require(lines.dropFirst().first { bytes[$0...].starts(with: bytes[lines[0]..<(lines[0] + 6)]) })
    for start in lines where start < second {
      for cut in [start + 1, start + 12] {
        let found = values(bytes[cut...])
        let count = min(whole.count - 3, found.count)
        #expect(found.suffix(count) == whole.suffix(count), "\(cut)")
      }
    }
  }
}
