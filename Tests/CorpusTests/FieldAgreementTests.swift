// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing
import sextant

/// The output of each command, and of a client of gpsd's protocol, for an input of `corpus/field`.
private struct Shown {
  /// The times of the TPV, nil if there is none, and the modes.
  struct TPVs {
    var times: [String?] = []
    var modes: [Int] = []

    init(_ text: String) throws {
      for line in text.split(whereSeparator: \.isNewline) {
        let object = try JSON(parsing: Array(line.utf8))
        guard object["class"]?.string == "TPV" else { continue }
        times.append(object["time"]?.string)
        if case .integer(let mode)? = object["mode"] { modes.append(Int(mode)) }
      }
    }
  }

  let decode: TPVs
  let watch: TPVs
  let gpsd: TPVs
  /// The times of the rows of `track --format csv`.
  let track: [String]
  let report: EpochStatistics

  init(_ name: String) throws {
    let pieces = try FieldInput.pieces(name)
    let all = pieces.flatMap(\.bytes)

    // decode
    var decoded = JSONLine()
    var stream = FrameStream()
    var assembler = EpochAssembler()
    stream.receive(all.raw) { frame in assembler.receive(frame) { report, sky in decoded.write(report, sky) } }
    stream.finish { frame in assembler.receive(frame) { report, sky in decoded.write(report, sky) } }
    assembler.finish { report, sky in decoded.write(report, sky) }
    decode = try TPVs(decoded.text)

    // report
    var statistics = RecordingStatistics()
    var frames = FrameStream()
    frames.receive(all.raw) { statistics.receive($0) }
    frames.finish { statistics.receive($0) }
    report = statistics.finish(name: name, bytes: UInt64(all.count), frames.counters).epochs

    // watch, track and gpsd read a line, with its pauses.
    var watched = JSONLine()
    var served: [UInt8] = []
    var rows = JSONLine()
    var writer = TrackWriter(.csv, isLive: true)
    writer.begin(&rows)
    var state = GPSDState(release: "1.0")
    _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: UTCTime(nanosecondsSince1970: 0))
    try FieldInput.play(pieces) { report, sky in
      watched.write(report, sky)
      writer.add(report, sky, &rows)
      let epoch = state.receive(
        report, sky, of: 0, wanted: .init(), received: UTCTime(nanosecondsSince1970: 1_795_521_600_250_000_000))
      served += epoch?.json ?? []
    }
    writer.finish(&rows)
    watch = try TPVs(watched.text)
    gpsd = try TPVs(String(decoding: served, as: UTF8.self))
    track = rows.text.split(whereSeparator: \.isNewline).dropFirst().compactMap { row in
      row.split(separator: ",").first.map { String($0) }
    }
  }
}

extension JSONLine {
  fileprivate mutating func write(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    if report.fixChanged { tpv(report.fix) }
  }
}

/// The inputs of `corpus/field`, as pieces with their arrival times in milliseconds.
enum FieldInput {
  typealias Piece = (milliseconds: UInt64, bytes: [UInt8])

  /// The pieces of an input. A file without times arrives at once.
  static func pieces(_ name: String) throws -> [Piece] {
    let bytes = try Corpus.bytes("field/" + name)
    guard name.hasSuffix(".timed") else { return [(10, bytes)] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 2, let seconds = Double(parts[0]) else { return nil }
      let digits = Array(parts[1].utf8)
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
      }
      return (UInt64(seconds * 1000), bytes)
    }
  }

  /// Passes the pieces to the state machine that reads a receiver's line.
  static func play(
    _ pieces: [Piece], _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) throws {
    var listener = Listener(searchingFrom: nil, reference: nil, now: Instant(nanoseconds: 0))
    for piece in pieces {
      let at = Instant(nanoseconds: piece.milliseconds * 1_000_000)
      while let due = listener.deadline, due < at { _ = listener.wake(at: due, body) }
      let received = piece.bytes
      _ = unsafe listener.receive(received.span.bytes, at: at, body)
    }
    listener.finish(body)
  }
}

@Suite(
  "The commands agree on public fault reports", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs")
)
struct FieldAgreementTests {
  @Test(
    "decode, watch, track, report and gpsd's clients show each second once, and no lost fix",
    arguments: [
      ("beidou-from-101.nmea", 1), ("digit-talker.nmea", 1), ("gga-quality-12.nmea", 2), ("gga-quality-9.nmea", 1),
      ("gns-per-system.nmea", 3), ("heading-between-bursts.timed", 6), ("heading-pqtmtar.nmea", 1),
      ("vtg-before-rmc.nmea", 6), ("zda-own-time.nmea", 5), ("false-ubx-header.timed", 12),
    ])
  func agreement(name: String, count: Int) throws {
    let shown = try Shown(name)
    let times = shown.decode.times
    #expect(times.count == count && Set(times).count == count)
    #expect(shown.watch.times == times && shown.gpsd.times == times)
    for modes in [shown.decode.modes, shown.watch.modes, shown.gpsd.modes] {
      #expect(modes.count == count && modes.allSatisfy { $0 >= 2 }, "\(modes)")
    }
    #expect(shown.track == times.map { $0 ?? "" })
    #expect(shown.report.epochs == count && shown.report.positions == count && shown.report.outages == 0)
  }

  @Test("None of them shows a fix where no sentence has a valid checksum")
  func withoutChecksum() throws {
    let shown = try Shown("no-checksum.timed")
    #expect(shown.decode.times.isEmpty && shown.watch.times.isEmpty && shown.gpsd.times.isEmpty)
    #expect(shown.track.isEmpty && shown.report.epochs == 0)
  }
}
