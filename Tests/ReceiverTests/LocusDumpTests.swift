// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

@testable import Receiver

/// The decoders of loggers' memories, with random memories and random damage.
@Suite("Memories of loggers")
struct LocusDumpTests {
  private struct Entry: Equatable {
    var seconds: UInt32
    var latitude: Float
    var longitude: Float
    var height: Int16
    var kind: UInt8
  }

  private static let contents: [UInt32] = [31, 127, 0b1101, 0b1_0100_0001_1111]

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  private static func record(_ entry: Entry, _ content: UInt32) -> [UInt8] {
    let fields: [(Int, [UInt8])] = [
      (0, little(entry.seconds)), (1, [entry.kind]), (2, little(entry.latitude.bitPattern)),
      (3, little(entry.longitude.bitPattern)), (4, little(entry.height)), (5, [3, 0]), (6, [90, 0]), (10, [95, 0]),
      (12, [9]),
    ]
    let bytes = fields.filter { content >> UInt32($0.0) & 1 == 1 }.flatMap(\.1)
    return bytes + [bytes.reduce(0) { $0 ^ $1 }]
  }

  private static func flash(_ entries: [Entry], _ content: UInt32) -> [UInt8] {
    let inSector = LocusDump.recordsInSector(content: content)
    return stride(from: 0, to: entries.count, by: inSector).flatMap { start -> [UInt8] in
      let head = little(UInt16(start / inSector + 1)) + [1, 0x0B] + little(content) + [UInt8](repeating: 0, count: 8)
      let body = entries[start..<min(start + inSector, entries.count)].flatMap { record($0, content) }
      let all = head + [UInt8](repeating: 0xFF, count: 48) + body
      return all + [UInt8](repeating: 0xFF, count: 4096 - all.count)
    }
  }

  /// - Parameter perSector: whether a sector begins a line.
  private static func lines(_ flash: [UInt8], perSector: Bool) -> [[UInt8]] {
    let unit = perSector ? 4096 : max(flash.count, 1)
    let parts = stride(from: 0, to: flash.count, by: unit).flatMap { start in
      stride(from: start, to: min(start + unit, flash.count), by: 96).map {
        Array(flash[$0..<min($0 + 96, start + unit, flash.count)])
      }
    }
    let data = parts.enumerated().map { index, bytes in
      "PMTKLOX,1,\(index),"
        + stride(from: 0, to: bytes.count, by: 4).map { at in
          bytes[at..<at + 4].map { String(format($0)) }.joined()
        }.joined(separator: ",")
    }
    return (["PMTKLOX,0,\(parts.count)"] + data + ["PMTKLOX,2"]).map { Array($0.utf8) }
  }

  private static func format(_ byte: UInt8) -> String {
    let digits = Array("0123456789ABCDEF")
    return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
  }

  private static func entries(_ random: inout SeededRandomNumberGenerator, _ count: Int) -> [Entry] {
    (0..<count).map { index in
      Entry(
        seconds: 1_780_000_000 + UInt32(index) * 3, latitude: Float(random.int(-89...89)) + 0.25,
        longitude: Float(random.int(-179...179)) + 0.5, height: Int16(random.int(-400...9000)),
        kind: random.oneIn(20) ? 0 : random.oneIn(2) ? 2 : 4)
    }
  }

  private static func isSame(_ record: BatchedFix?, _ entry: Entry, _ content: UInt32) -> Bool {
    guard let fix = record?.fix else { return false }
    let hasFix = content & 2 == 0 || entry.kind & 6 != 0
    guard fix.time?.nanosecondsSince1970 == Int64(entry.seconds) * 1_000_000_000, fix.hasPosition == hasFix else {
      return false
    }
    guard hasFix else { return true }
    return fix.latitudeDegrees == Double(entry.latitude) && fix.longitudeDegrees == Double(entry.longitude)
      && (content & 16 == 0 || fix.heightAboveSeaLevelMetres == Double(entry.height))
      && (fix.horizontalAccuracyMetres ?? 0) > 0
  }

  @Test("Every record of a whole dump is read in its order, in either form", arguments: 0..<repetitions(40))
  func whole(_ seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed) + 1)
    let content = Self.contents[seed % Self.contents.count]
    let entries = Self.entries(&random, random.int(0...700))
    let lines = Self.lines(Self.flash(entries, content), perSector: seed % 2 == 0)
    let dump = LocusDump.read(lines.shuffled(using: &random))
    #expect(dump.isComplete && dump.records.count == entries.count)
    #expect(zip(dump.records, entries).allSatisfy { Self.isSame($0, $1, content) })
  }

  @Test(
    "Lines that are missing cost their records alone, and a second dump completes them", arguments: 0..<repetitions(40))
  func missing(_ seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed) + 100)
    let entries = Self.entries(&random, random.int(100...700))
    let lines = Self.lines(Self.flash(entries, 31), perSector: true)
    var some: [[UInt8]] = []
    for line in lines where !random.oneIn(8) { some.append(line) }
    // The first line of a sector has its header.
    let dump = LocusDump.read(some)
    let known = Set(entries.map(\.seconds))
    for record in dump.records {
      guard let time = record?.fix.time else { continue }
      #expect(known.contains(UInt32(time.nanosecondsSince1970 / 1_000_000_000)))
    }
    let both = LocusDump.read(some + lines)
    #expect(both.isComplete && both.records.count == entries.count && !both.records.contains(nil))
  }

  @Test("A changed byte costs one record", arguments: 0..<repetitions(40))
  func changed(_ seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed) + 200)
    let entries = Self.entries(&random, 200)
    var flash = Self.flash(entries, 31)
    let place = random.int(0...199)
    flash[64 + place * 16 + random.int(0...15)] ^= UInt8(random.int(1...255))
    let dump = LocusDump.read(Self.lines(flash, perSector: true))
    #expect(dump.records.count == entries.count)
    for (index, record) in dump.records.enumerated() { #expect((record == nil) == (index == place)) }
  }

  @Test("Random lines are read without a trap, and no position is outside of the Earth", arguments: 0..<60)
  func noise(_ seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed) + 300)
    let entries = Self.entries(&random, 60)
    var lines = Self.lines(Self.flash(entries, Self.contents[seed % 4]), perSector: true)
    lines += [
      "PMTKLOX,0,-1", "PMTKLOX,0,99999999999999999999", "PMTKLOX,1,4095,FFFFFFFF", "PMTKLOX,1", "PMTKLOX,1,,",
      "PMTKLOX",
      "PAIR908,1,-5,22", "PAIR908,2,", "PAIR908,1,9223372036854775807,22",
      "PAIR908,2,6A18E1C0,02,1CB5F0E0,06EB9C80,0200",
    ].map { Array($0.utf8) }
    for index in lines.indices {
      for _ in 0..<random.int(0...4) where !lines[index].isEmpty {
        lines[index][random.int(0...lines[index].count - 1)] = UInt8(random.int(0...255))
      }
    }
    for dump in [LocusDump.read(lines), PAIRDump.read(lines)] {
      for fix in dump.records.compactMap({ $0?.fix }) where fix.hasPosition {
        #expect(abs(fix.latitudeDegrees ?? 99) <= 90 && abs(fix.longitudeDegrees ?? 999) <= 180)
      }
    }
    for length in 0..<40 { _ = LocusDump.record((0..<length).map { _ in UInt8(random.int(0...255)) }, UInt32(seed)) }
  }

  @Test("A record of PAIR908 is read with commas and without")
  func airoha() {
    let fields = ["6A18E200", "02", "1CB4B5A0", "FD5A5A80", "FFF6", "0000", "0000", "005A", "09"]
    for text in [fields.joined(separator: ","), fields.joined()] {
      let dump = PAIRDump.read(["PAIR908,1,1,22", "PAIR908,2,\(text)", "PAIR908,3"].map { Array($0.utf8) })
      let fix = dump.records.first??.fix
      #expect(dump.isComplete && fix?.time?.nanosecondsSince1970 == 0x6A18_E200 * 1_000_000_000)
      #expect(fix.map { abs(($0.latitudeDegrees ?? 0) - 48.1605) < 0.1 } == true)
      #expect((fix?.longitudeDegrees ?? 0) < 0 && fix?.heightAboveSeaLevelMetres == -10 && fix?.satellitesUsed == 9)
    }
  }

  @Test("The state of a logger is one word, and nothing else is read as one")
  func state() {
    var state = LoggerState(isOn: true, interval: 15)
    (state.records, state.free, state.details) = (3769, 300, [2, 1, 1, 10])
    #expect(LoggerState(state.text) == state)
    for text in ["", "1", "1:15:0:0", "2:15:0:0:0", "1:-1:0:0:0", "1:70000:0:0:0", "1:15:0:0:0:x", "1:15:99999999:0:0"]
    {
      #expect(LoggerState(text) == nil, "\(text)")
    }
  }
}
