// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing
import sextant

/// The results for an input that reproduces a publicly reported fault (`corpus/field`).
private struct FieldCase {
  struct Seen {
    var fix: Fix
    var isUpdate: Bool
    var fixChanged: Bool
    var satellites: [Satellite]
    var milliseconds: UInt64
  }

  var seen: [Seen] = []
  var epochs: EpochStatistics
  var names: [String] = []

  /// The new epochs.
  var fixes: [Fix] { seen.filter { !$0.isUpdate && $0.fixChanged }.map(\.fix) }
  var seconds: [Int64?] { fixes.map { $0.time.map { $0.nanosecondsOfDay / 1_000_000_000 - 36_900 } } }

  init(_ name: String) throws {
    let pieces = try FieldInput.pieces(name)
    var listener = Listener(searchingFrom: nil, reference: nil, now: Instant(nanoseconds: 0))
    var frames: [UInt8] = []
    var now: UInt64 = 0
    var seen: [Seen] = []
    var names: [String] = []
    func take(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
      var satellites: [Satellite] = []
      let inView = sky.satellites
      for index in inView.indices { satellites.append(inView[index]) }
      seen.append(
        Seen(
          fix: report.fix, isUpdate: report.isUpdate, fixChanged: report.fixChanged, satellites: satellites,
          milliseconds: now))
    }
    func tap(_ frame: borrowing Frame) -> Bool {
      for index in 0..<frame.bytes.byteCount {
        unsafe frames.append(frame.bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
      }
      names.append(MessageKey(frame).name)
      return true
    }
    for piece in pieces {
      let at = Instant(nanoseconds: piece.milliseconds * 1_000_000)
      while let due = listener.deadline, due < at {
        now = due.nanoseconds / 1_000_000
        _ = listener.wake(at: due, frames: tap, take)
      }
      now = piece.milliseconds
      let received = piece.bytes
      _ = unsafe listener.receive(received.span.bytes, at: at, frames: tap, take)
    }
    listener.finish(take)
    self.seen = seen
    self.names = names
    var stream = FrameStream()
    var statistics = RecordingStatistics()
    stream.receive(frames.raw) { statistics.receive($0) }
    stream.finish { statistics.receive($0) }
    epochs = statistics.finish(name: name, bytes: UInt64(frames.count), stream.counters).epochs
  }
}

@Suite("Inputs of public fault reports", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct FieldTests {
  private static let latitude = -41.502056667
  private static let longitude = 174.509053333

  private func isThere(_ fix: Fix) -> Bool {
    fix.hasPosition && abs((fix.latitudeDegrees ?? 0) - Self.latitude) < 1e-9
      && abs((fix.longitudeDegrees ?? 0) - Self.longitude) < 1e-9
  }

  @Test(
    "Each second has one fix, and the report has no outage",
    arguments: [
      ("beidou-from-101.nmea", 1), ("digit-talker.nmea", 1), ("gga-quality-12.nmea", 2), ("gga-quality-9.nmea", 1),
      ("gns-per-system.nmea", 3), ("heading-between-bursts.timed", 6), ("heading-pqtmtar.nmea", 1),
      ("vtg-before-rmc.nmea", 6), ("zda-own-time.nmea", 5), ("false-ubx-header.timed", 12),
    ])
  func everySecond(name: String, count: Int64) throws {
    let found = try FieldCase(name)
    #expect(found.seconds == (0..<count).map { $0 })
    #expect(found.seen.filter(\.fixChanged).allSatisfy { isThere($0.fix) && !$0.isUpdate })
    #expect(found.epochs.epochs == Int(count) && found.epochs.positions == Int(count) && found.epochs.outages == 0)
  }

  @Test("Trimble's numbers of BeiDou are used and identified")
  func beiDou() throws {
    let seen = try FieldCase("beidou-from-101.nmea").seen
    let satellites = try #require(seen.last).satellites
    #expect(satellites.filter { $0.system == .gps }.map(\.number) == [4, 9, 16])
    #expect(satellites.filter { $0.system == .beiDou }.map(\.number) == [6, 12, 21, 35])
    #expect(satellites.allSatisfy { $0.isUsed })
  }

  @Test("Qualities: a number that is out of range, NovAtel's SBAS, and RTK with corrections for each system")
  func qualities() throws {
    let unreadable = try FieldCase("gga-quality-12.nmea").fixes
    #expect(unreadable.allSatisfy { $0.kind == .twoD })
    let byNovAtel = try FieldCase("gga-quality-9.nmea").fixes
    #expect(byNovAtel.map(\.quality) == [.differential])
    let fixes = try FieldCase("gns-per-system.nmea").fixes
    #expect(
      fixes.allSatisfy {
        $0.quality == .rtkFloat && $0.kind == .threeD && $0.heightAboveSeaLevelMetres == 52.1 && $0.satellitesUsed == 14
      })
  }

  @Test("Speed and course come from the epoch's own RMC")
  func motion() throws {
    let fixes = try FieldCase("vtg-before-rmc.nmea").fixes
    #expect(fixes.map(\.courseDegrees) == [5, 15, 25, 35, 45, 55])
    for (fix, speed) in zip(fixes, [5.144, 10.289, 15.433, 20.578, 25.722, 30.867]) {
      #expect(abs((fix.speedMetresPerSecond ?? 0) - speed) < 0.001)
    }
    let withHeading = try FieldCase("heading-pqtmtar.nmea").fixes
    #expect(withHeading.map(\.headingDegrees) == [123.45])
  }

  @Test("A false header delays at most one fix, by less than a second")
  func falseHeader() throws {
    let found = try FieldCase("false-ubx-header.timed")
    let late = found.seen.filter { !$0.isUpdate }.map { seen in
      Int64(seen.milliseconds) - 1000 * (1 + (seen.fix.time.map { $0.nanosecondsOfDay / 1_000_000_000 - 36_900 } ?? 0))
    }
    #expect(late.filter { $0 > 200 }.count <= 1 && late.allSatisfy { $0 < 1000 }, "\(late)")
  }

  @Test("Proprietary sentences have their whole names, and digits of a talker are part of it")
  func names() throws {
    let proprietary = try FieldCase("proprietary-names.nmea").names
    #expect(
      proprietary == [
        "NMEA PQTMVERNO", "NMEA PQTMCFGUART", "NMEA PQTMCFGMSGRATE", "NMEA PAIR062", "NMEA PAIR050", "NMEA PKWDWPL",
      ])
    let digits = try FieldCase("digit-talker.nmea").names
    #expect(digits == ["NMEA 24HDG", "NMEA 02RMC", "NMEA 04HDM"])
  }
}
