// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

/// A receiver's bursts in virtual time. Each value of an epoch is computed from its number, so that a value of another epoch
/// shows.
private struct BurstStream {
  enum Kind: CaseIterable { case rmc, gga, gns, gll, vtg, gsa, gsv, hdt, zda }

  /// Sentences that arrive together, and their epochs.
  struct Piece {
    var milliseconds: UInt64
    var bytes: [UInt8]
  }

  let period: Int
  let order: [Kind]
  /// The kinds, for messages.
  var text: String { order.map { "\($0)".suffix(3) }.joined(separator: " ") }
  private(set) var pieces: [Piece] = []
  /// The epochs of which a sentence with a position arrives.
  private(set) var delivered: Set<Int> = []
  /// The epochs of which a sentence without a time arrives, and none with one.
  private(set) var orphaned: Set<Int> = []

  /// - Parameter isFaulty: whether sentences come late or are lost, and the receiver pauses.
  init(_ random: inout SeededRandomNumberGenerator, isFaulty: Bool) {
    period = random.element(of: [1000, 200, 100])
    let positions = [Kind.rmc, .gga, .gns, .gll].filter { _ in random.oneIn(2) }
    var order = positions.isEmpty ? [.rmc] : positions
    order += [Kind.vtg, .gsa, .gsv, .hdt, .zda].filter { _ in random.oneIn(2) }
    for index in order.indices.dropLast() { order.swapAt(index, random.int(index...order.count - 1)) }
    self.order = order
    var epoch = random.int(0...20)
    var isFirst = true
    for _ in 0..<random.int(4...14) where epoch < 90 {
      var at = UInt64(epoch * period + random.int(0...period / 10) + 1000)
      var late = isFaulty && random.oneIn(12) ? random.int(0...order.count) : .max
      var sentences = order.flatMap { kind in Self.sentences(kind, epoch, period).map { (kind, $0) } }
      // A stream is opened in the middle of a burst.
      if isFirst, random.oneIn(2) { sentences.removeFirst(random.int(0...sentences.count - 1)) }
      isFirst = false
      var (hasPosition, hasOther) = (false, false)
      for (kind, sentence) in sentences {
        if isFaulty, random.oneIn(30) { continue }
        if late == 0 { at += UInt64(random.int(1...period / 8)) }
        late -= 1
        at += UInt64(random.int(2...5))
        pieces.append(Piece(milliseconds: at, bytes: Wire.nmea(sentence)))
        if [.rmc, .gga, .gns, .gll].contains(kind) { hasPosition = true } else { hasOther = true }
      }
      if hasPosition { delivered.insert(epoch) } else if hasOther { orphaned.insert(epoch) }
      epoch += isFaulty && random.oneIn(15) ? random.int(2...9) : 1
    }
  }

  /// The milliseconds of the day of an epoch.
  static func time(_ epoch: Int, _ period: Int) -> Int { 36_000_000 + epoch * period }

  private static func text(_ milliseconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let seconds = milliseconds / 1000
    return two(seconds / 3600) + two(seconds / 60 % 60) + two(seconds % 60) + "." + two(milliseconds % 1000 / 10)
  }

  private static func sentences(_ kind: Kind, _ epoch: Int, _ period: Int) -> [String] {
    let time = text(time(epoch, period))
    let two = epoch < 10 ? "0\(epoch)" : "\(epoch)"
    let place = "4717.\(two)437,N,00833.91522,E"
    switch kind {
    case .rmc: return ["GNRMC,\(time),A,\(place),\(epoch).0,\(epoch).0,091225,,,A"]
    case .gga: return ["GNGGA,\(time),\(place),1,08,1.\(two),\(epoch).0,M,48.0,M,,"]
    case .gns: return ["GNGNS,\(time),\(place),AA,08,1.\(two),\(epoch).0,48.0,,"]
    case .gll: return ["GNGLL,\(place),\(time),A,A"]
    case .vtg: return ["GNVTG,\(epoch).0,T,,M,\(epoch).0,N,,K,A"]
    case .gsa: return ["GPGSA,A,3,05,09,,,,,,,,,,,2.\(two),1.\(two),3.\(two)"]
    case .gsv:
      return [
        "GPGSV,2,1,05,05,\(two),083,46,09,\(two),308,41,14,\(two),344,39,30,\(two),228,45",
        "GPGSV,2,2,05,02,\(two),172,30",
      ]
    case .hdt: return ["GNHDT,\(epoch).0,T"]
    case .zda: return ["GNZDA,\(text(Self.time(epoch, period) + 60)),09,12,2025,00,00"]
    }
  }
}

@Suite("Bursts in any order, in virtual time")
struct BurstStreamTests {
  private struct Seen {
    var fix: Fix
    var isUpdate: Bool
    var fixChanged: Bool
    var skyChanged: Bool
    var elevations: [Int8]
  }

  private func play(_ stream: BurstStream) -> [Seen] {
    var listener = Listener(searchingFrom: nil, reference: nil, now: Instant(nanoseconds: 0))
    var seen: [Seen] = []
    func take(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
      var elevations: [Int8] = []
      let satellites = sky.satellites
      for index in satellites.indices { elevations.append(satellites[index].elevationDegrees) }
      seen.append(
        Seen(
          fix: report.fix, isUpdate: report.isUpdate, fixChanged: report.fixChanged, skyChanged: report.skyChanged,
          elevations: elevations))
    }
    for piece in stream.pieces {
      let now = Instant(nanoseconds: piece.milliseconds * 1_000_000)
      while let due = listener.deadline, due <= now { _ = listener.wake(at: due, take) }
      let received = piece.bytes
      _ = unsafe listener.receive(received.span.bytes, at: now, take)
    }
    listener.finish(take)
    return seen
  }

  /// The epoch of a fix, by its position.
  private func epoch(_ fix: Fix) -> Int? {
    fix.latitudeDegrees.map { Int((($0 - 47) * 60 - 17) * 100) }
  }

  private func check(_ stream: BurstStream, _ name: String) {
    let seen = play(stream)
    var first: [Int] = []
    for one in seen {
      guard one.fixChanged else { continue }
      let known = epoch(one.fix)
      guard let known else {
        // Before the first position, a stream of ZDA alone has its times.
        #expect(first.isEmpty && stream.order.contains(.zda), "an empty epoch in \(name) [\(stream.text)]")
        continue
      }
      if !one.isUpdate { first.append(known) }
      let fix = one.fix
      if let time = fix.time {
        let expected = Int64(BurstStream.time(known, stream.period)) * 1_000_000
        #expect(time.nanosecondsOfDay == expected, "time in \(name) [\(stream.text)]")
      }
      let value = Double(known)
      if let course = fix.courseDegrees { #expect(course == value, "course in \(name) [\(stream.text)]") }
      if let speed = fix.speedMetresPerSecond {
        #expect(abs(speed * 3600 / 1852 - value) < 1e-6, "speed in \(name) [\(stream.text)]")
      }
      if let height = fix.heightAboveSeaLevelMetres { #expect(height == value, "height in \(name) [\(stream.text)]") }
      for dilution in [fix.hdop, fix.pdop, fix.vdop] {
        guard let dilution else { continue }
        #expect(Int((dilution * 100).rounded()) % 100 == known, "dilution in \(name) [\(stream.text)]")
      }
      if let heading = fix.headingDegrees, heading != value {
        #expect(stream.orphaned.contains(Int(heading)), "heading in \(name) [\(stream.text)]")
      }
      if one.skyChanged {
        #expect(one.elevations.allSatisfy { Int($0) == known }, "satellites in \(name) [\(stream.text)]")
      }
    }
    #expect(first == stream.delivered.sorted(), "epochs in \(name) [\(stream.text)]")
  }

  @Test("Without faults, each epoch is reported once, with its own values", arguments: 0..<10)
  func regular(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed + 1)
    for index in 0..<repetitions(500) {
      let stream = BurstStream(&random, isFaulty: false)
      check(stream, "\(seed)-\(index)")
      // The order is known by the fourth epoch: from then on no value is missing.
      let complete = play(stream).filter { !$0.isUpdate && $0.fixChanged }.dropFirst(4).dropLast()
      for one in complete {
        let fix = one.fix
        #expect(
          !stream.order.contains(.vtg) && !stream.order.contains(.rmc) || fix.courseDegrees != nil, "\(seed)-\(index)")
        #expect(!stream.order.contains(.hdt) || fix.headingDegrees != nil, "\(seed)-\(index) [\(stream.text)]")
        #expect(!stream.order.contains(.gsa) || fix.vdop != nil, "\(seed)-\(index) [\(stream.text)]")
        #expect(!stream.order.contains(.gsv) || one.skyChanged, "\(seed)-\(index) [\(stream.text)]")
      }
    }
  }

  @Test("With late and lost sentences and pauses, no value has a wrong time and no epoch is empty", arguments: 0..<10)
  func faulty(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed + 101)
    for index in 0..<repetitions(600) { check(BurstStream(&random, isFaulty: true), "\(seed)-\(index)") }
  }
}
