// SPDX-License-Identifier: Apache-2.0
import NMEA
import TestSupport
import Testing

@testable import ReceiverStream

/// The fast path reads the numbers of GSV and GSA at once, and adds up to four satellites to the sky at a time.
/// Sentences outside the fast path must give the same result on the slow path.
@Suite("Satellites on the fast path and on the slow path")
struct SatelliteFastPathTests {
  private static let talkers = ["GP", "GP", "GN", "GN", "GL", "GA", "GB", "BD", "GQ", "QZ", "GI", "II", "XX"]
  /// Manufacturers with proprietary sentences whose names start like a talker.
  private static let manufacturers = ["PQ", "PA"]
  private static let surprises = ascii("$*,A0.-\r\n ") + [0x7F, 0x80]

  /// The same sentence on the slow path: the fast path does not accept numbers of more than three digits. The first
  /// field of a GSA is a character and is unchanged.
  private static func padded(_ line: String) -> String {
    guard line.contains("GSA,") || line.contains("GSV,") else { return line }
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = fields.dropFirst(2).map { field in
      field.isEmpty || !field.utf8.allSatisfy { (0x30...0x39).contains($0) } ? String(field) : "000\(field)"
    }
    return (fields.prefix(2).map(String.init) + numbers).joined(separator: ",")
  }

  /// The reports of a stream, and the number of rejected fields in a last report. Nil is a silence of the line.
  private func reports(_ pieces: [[UInt8]?]) -> [Playback.Received] {
    var stream = FrameStream()
    var assembler = EpochAssembler()
    var reports: [Playback.Received] = []
    for piece in pieces {
      if let piece {
        stream.receive(piece.raw) { frame in
          assembler.receive(frame) { report, sky in reports.append(Playback.Received(report, sky)) }
        }
      } else {
        assembler.idle { report, sky in reports.append(Playback.Received(report, sky)) }
      }
    }
    stream.finish { frame in
      assembler.receive(frame) { report, sky in reports.append(Playback.Received(report, sky)) }
    }
    assembler.finish { report, sky in reports.append(Playback.Received(report, sky)) }
    var rejected = Playback.Received(EpochAssembler.Report(fix: Fix()), Sky())
    rejected.fix.satellitesInView = assembler.rejectedFields
    return reports + [rejected]
  }

  @Test("Both paths report the same of any stream, satellites, dilutions and rejected fields", arguments: 0..<40)
  func anyStream(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pieces: [[UInt8]?] = []
    var paddedPieces: [[UInt8]?] = []
    for second in 10..<50 {
      var lines = [rmc("1011\(second)"), gga("1011\(second)")]
      for _ in 0..<random.int(0...3) { lines.append(gsa(&random)) }
      for _ in 0..<random.int(0...6) { lines.append(gsv(&random)) }
      // GSA may also follow GSV, and both may precede the time.
      for _ in 0..<2 where random.oneIn(3) { lines.swapAt(random.int(0...(lines.count - 1)), lines.count - 1) }
      for line in lines {
        var bytes = Wire.nmea(line)
        var paddedBytes = Wire.nmea(Self.padded(line))
        if random.oneIn(20) {
          bytes[random.int(0...(bytes.count - 1))] = random.element(of: Self.surprises)
          paddedBytes = bytes
        }
        pieces.append(bytes)
        paddedPieces.append(paddedBytes)
      }
      if random.oneIn(6) {
        let message = navSAT([1, 2, 3], second: second)
        pieces.append(message)
        paddedPieces.append(message)
      }
      if random.oneIn(4) {
        pieces.append(nil)
        paddedPieces.append(nil)
      }
    }
    let fast = reports(pieces)
    #expect(fast == reports(paddedPieces))
    #expect(fast.count > 30)
  }

  @Test("An epoch has the satellites of its sentences, each once with its strongest signal, in their order")
  func sky() {
    var random = SeededRandomNumberGenerator(seed: 7)
    var found = 0
    for _ in 0..<600 {
      let used = (0..<random.int(0...3)).map { _ in gsa(&random, isProper: true) }
      let sentences = (0..<random.int(1...40)).map { _ in gsv(&random, isProper: true) }
      let expected = Self.sky(of: sentences, used: used)
      // The last group has its end.
      let lines = [rmc("101112")] + used + sentences + ["GPGSV,1,1,00"]
      for path in [lines, lines.map(Self.padded)] {
        let report = reports(path.map { Wire.nmea($0) })[0]
        #expect(report.satellites == expected)
        #expect(report.fix.satellitesInView ?? 0 == expected.count)
      }
      found += expected.count
    }
    #expect(found > 10_000)
  }

  private static func talker(_ line: String) -> Talker {
    let characters = Array(line.utf8)
    return Talker(code: UInt16(characters[0]) << 8 | UInt16(characters[1]))
  }

  /// The satellites of the sentences in order.
  private static func sky(of sentences: [String], used: [String]) -> [Satellite] {
    var marked: Set<[UInt8]> = []
    var beiDou = BeiDouNumbering.unknown
    for line in used {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let system = Satellite.system(talker: Self.talker(line), systemID: fields.count > 18 ? Int(fields[18]) : nil)
      for id in fields[3..<15] { beiDou.learn(from: Int(id) ?? 0, of: system) }
      for id in fields[3..<15] {
        if let id = Int(id), let name = Satellite.from(id: id, of: system, beiDou),
          name.number < 64 || name.system == .sbas
        {
          marked.insert([name.system.rawValue, name.number])
        }
      }
    }
    var sky: [Satellite] = []
    for line in sentences {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let system = Satellite.system(Self.talker(line))
      let blocks = stride(from: 4, to: fields.count - 3, by: 4)
      for block in blocks { beiDou.learn(from: Int(fields[block]) ?? 0, of: system) }
      for block in blocks {
        guard let id = Int(fields[block]), let name = Satellite.from(id: id, of: system, beiDou) else { continue }
        let satellite = Satellite(
          system: name.system, number: name.number,
          elevationDegrees: Int(fields[block + 1]).map { abs($0) <= 90 ? Int8($0) : -128 } ?? -128,
          azimuthDegrees: Int(fields[block + 2]).map { Int16($0 % 360) } ?? -128,
          signalDecibelHertz: UInt8(fields[block + 3]) ?? 0,
          isUsed: marked.contains([name.system.rawValue, name.number]))
        if let index = sky.firstIndex(where: { $0.system == name.system && $0.number == name.number }) {
          sky[index].signalDecibelHertz = max(sky[index].signalDecibelHertz, satellite.signalDecibelHertz)
        } else if sky.count < Sky.capacity {
          sky.append(satellite)
        }
      }
    }
    return sky
  }

  /// A GSA in the form of a receiver, or with missing or wrong fields.
  private func gsa(_ random: inout SeededRandomNumberGenerator, isProper: Bool = false) -> String {
    let talker = random.element(of: Self.talkers + (isProper ? [] : Self.manufacturers))
    let base = random.element(of: [0, 0, 0, 64, 300])
    var fields = ["A", "\(random.int(1...3))"]
    fields += (0..<12).map { _ in random.oneIn(3) ? "" : "\(base + random.int(1...(random.oneIn(9) ? 99 : 32)))" }
    let dilutions = [
      "1.13", "0.63", "99.99", "12.50", "0.00", "1.0", "", "9.123", ".50", "123.45", "-1.00", "x.11", "1,13",
    ]
    fields += (0..<3).map { _ in dilutions[random.int(0...(random.oneIn(4) && !isProper ? dilutions.count - 1 : 3))] }
    let systems = ["1", "2", "3", "4", "5", "6", "A", ""]
    // Without a system, numbers of GN are matched with the satellites in view, which `sky` does not do.
    if isProper, talker == "GN" {
      fields.append(random.element(of: Array(systems.prefix(6))))
    } else if !random.oneIn(3) {
      fields.append(random.oneIn(9) && !isProper ? "1F" : random.element(of: systems))
    }
    if !isProper {
      if random.oneIn(12) { fields.removeLast(random.int(1...6)) }
      let place = random.int(0...(fields.count - 1))
      if random.oneIn(12) { fields[place] = random.element(of: ["", "4", "0", "1000", "x", "7 "]) }
    }
    return "\(talker)GSA," + fields.joined(separator: ",")
  }

  /// A GSV in the same way. Satellites occur more than once, like satellites with several signals.
  private func gsv(_ random: inout SeededRandomNumberGenerator, isProper: Bool = false) -> String {
    let talker = random.element(of: Self.talkers + (isProper ? [] : Self.manufacturers))
    let base = random.element(of: [0, 0, 0, 64, 64, 192, 300, 400])
    var fields = ["3", "\(random.int(1...3))", "12"]
    for _ in 0..<random.int(0...4) {
      let id = base + random.int(1...(random.oneIn(5) ? 99 : 63))
      fields.append(id < 10 ? "0\(id)" : "\(id)")
      fields.append("\(random.int(0...(random.oneIn(6) ? 99 : 90)))")
      fields.append(random.oneIn(8) ? "" : "\(random.int(0...360))")
      fields.append(random.oneIn(4) ? "" : "\(random.int(0...55))")
      if !isProper, random.oneIn(15) {
        fields[fields.count - random.int(1...4)] = random.element(of: ["", "-5", "361", "1000", "x", " 4", "4.0"])
      }
    }
    if isProper || !random.oneIn(3) { fields.append(random.oneIn(9) && !isProper ? "1B" : "\(random.int(1...8))") }
    if !isProper, random.oneIn(12) { fields.removeLast() }
    return "\(talker)GSV," + fields.joined(separator: ",")
  }
}
