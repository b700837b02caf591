// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import WireBytes

/// The contents of MediaTek's logger LOCUS by the lines of PMTK622: words of the flash in hexadecimal digits (GlobalTop LOCUS
/// library user manual; layout of sectors and records: MediaTek's LocusParser).
///
///     PMTKLOX,0,<lines>    PMTKLOX,1,<index>,<up to 24 words of 8 digits>    PMTKLOX,2
///
/// A sector of 4096 bytes has a header of 64: number, type, mode, the mask of its records' fields, intervals, and a bitmap of used
/// records. A record has the fields of the mask in the order of their bits, little-endian, and the XOR of these bytes.
enum LocusDump {
  private static let lineBytes = 96
  private static let sectorBytes = 4096
  private static let headerBytes = 64
  /// A flash has 128 kB at most; a wrong number of lines takes no more memory than twice that.
  private static let mostLines = 4096
  /// The sizes of the fields by their bits: time, fix, latitude, longitude, height, speed, track, then fields of the document that no
  /// part was seen to use.
  private static let sizes: [Int: Int] = [0: 4, 1: 1, 2: 4, 3: 4, 4: 2, 5: 2, 6: 2, 10: 2, 12: 1]
  /// Time, latitude and longitude.
  private static let needed: UInt32 = 0b1101

  /// Whether records with these fields can be read, and show a position.
  static func isReadable(content: UInt32) -> Bool {
    content & needed == needed && (0..<32).allSatisfy { content >> UInt32($0) & 1 == 0 || sizes[$0] != nil }
  }

  /// The number of records in a sector.
  static func recordsInSector(content: UInt32) -> Int { (sectorBytes - headerBytes) / size(content) }

  private static func size(_ content: UInt32) -> Int {
    1 + sizes.reduce(0) { $0 + (content >> UInt32($1.key) & 1 == 1 ? $1.value : 0) }
  }

  /// Reads the lines, which may come from several dumps of an unchanged memory.
  ///
  /// - Parameter lines: sentences without `$` and checksum, in any order.
  static func read(_ lines: [[UInt8]]) -> LoggerDump {
    var count: Int?
    var parts: [Int: [UInt8]] = [:]
    for line in lines {
      let fields = SentenceFields(line)
      guard fields[0] == "PMTKLOX", let kind = fields[1] else { continue }
      if kind == "0", let number = fields[2].flatMap({ Int($0) }), 0...mostLines ~= number { count = number }
      if kind == "1", let index = fields[2].flatMap({ Int($0) }), 0..<mostLines ~= index,
        let bytes = words(fields, from: 3)
      {
        parts[index] = bytes
      }
    }
    var dump = LoggerDump()
    let known = count ?? (parts.keys.max().map { $0 + 1 } ?? 0)
    dump.isComplete = count != nil && (0..<known).allSatisfy { parts[$0] != nil }
    guard known > 0 else { return dump }
    let flash = image(parts, lines: known)
    for start in stride(from: 0, to: flash.count, by: sectorBytes) {
      dump.records += sector(flash[start..<min(start + sectorBytes, flash.count)])
    }
    // Records that may be missing at the end are not known to exist.
    while let last = dump.records.last, last == nil { dump.records.removeLast() }
    return dump
  }

  private static func words(_ fields: SentenceFields, from first: Int) -> [UInt8]? {
    guard fields.count > first, fields.count - first <= lineBytes / 4 else { return nil }
    var bytes: [UInt8] = []
    for index in first..<fields.count {
      guard let word = fields[index], word.utf8.count % 2 == 0, word.utf8.count <= 8,
        let part = [UInt8](hexadecimalDigits: word)
      else { return nil }
      bytes += part
    }
    return bytes
  }

  /// The flash by its lines. A sector begins a line: its last one is shorter than the others.
  private static func image(_ parts: [Int: [UInt8]], lines count: Int) -> [UInt8?] {
    let linesInSector = (sectorBytes + lineBytes - 1) / lineBytes
    // A dump that goes on over the ends of sectors has full lines at them.
    let isPerSector = parts.allSatisfy { index, bytes in
      bytes.count == (index % linesInSector == linesInSector - 1 ? sectorBytes % lineBytes : lineBytes)
    }
    var flash: [UInt8?] = []
    for index in 0..<count {
      let isLast = isPerSector && index % linesInSector == linesInSector - 1
      let length = isLast ? sectorBytes % lineBytes : lineBytes
      if let bytes = parts[index] {
        flash += bytes.map { $0 }
      } else {
        flash += [UInt8?](repeating: nil, count: length)
      }
    }
    return flash
  }

  /// The records of a sector in the order of their places, without unused ones; nil for one that cannot be read.
  private static func sector(_ bytes: ArraySlice<UInt8?>) -> [BatchedFix?] {
    let head = bytes.prefix(headerBytes).prefix(16).compactMap(\.self)
    guard head.count == 16, bytes.count > headerBytes else { return [] }
    let content = head.u4(4)
    // An empty sector, and one whose records have other fields.
    guard content != .max, isReadable(content: content) else { return [] }
    let size = size(content)
    var records: [BatchedFix?] = []
    var at = bytes.startIndex + headerBytes
    while at + size <= bytes.endIndex {
      let place = bytes[at..<at + size]
      at += size
      let whole = place.compactMap(\.self)
      if whole.count == size, whole.allSatisfy({ $0 == 0xFF }) { continue }
      records.append(whole.count == size ? record(whole, content) : nil)
    }
    return records
  }

  /// Reads a record with its checksum; nil if that is wrong.
  static func record(_ bytes: [UInt8], _ content: UInt32) -> BatchedFix? {
    guard bytes.count == size(content), isReadable(content: content), bytes.reduce(0, { $0 ^ $1 }) == 0 else {
      return nil
    }
    var places: [Int: Int] = [:]
    var at = 0
    for bit in sizes.keys.sorted() where content >> UInt32(bit) & 1 == 1 {
      places[bit] = at
      at += sizes[bit] ?? 0
    }
    guard let time = places[0], let latitude = places[2], let longitude = places[3] else { return nil }
    // 02 is a fix, 04 one with corrections; 40 is estimated and has no position.
    let kind = places[1].map { bytes[$0] } ?? 2
    let height = places[4].map { Double(Int16(bitPattern: bytes.u2($0))) }
    return BatchedFix(
      logged: bytes.u4(time), hasFix: kind & 6 != 0 && kind & 0x40 == 0, isDifferential: kind & 4 != 0,
      latitude: Double(Float(bitPattern: bytes.u4(latitude))),
      longitude: Double(Float(bitPattern: bytes.u4(longitude))), height: height,
      satellites: places[12].map { Int(bytes[$0]) })
  }
}

extension BatchedFix {
  /// Makes a fix of a logger's record. Values without a documented unit (speed, dilution) are left out; no record has an accuracy,
  /// so the accuracy of typical reception is assumed.
  ///
  /// - Parameter seconds: the time, in seconds since 1970.
  init?(
    logged seconds: UInt32, hasFix: Bool, isDifferential: Bool = false, latitude: Double, longitude: Double,
    height: Double?, satellites: Int? = nil
  ) {
    let time = UTCTime(nanosecondsSince1970: Int64(seconds) * 1_000_000_000)
    guard time.isBelieved else { return nil }
    number = 0
    fix = Fix()
    fix.time = time
    fix.timeIsResolved = true
    guard hasFix, latitude.isFinite, longitude.isFinite, abs(latitude) <= 90, abs(longitude) <= 180 else { return }
    fix.kind = height == nil ? .twoD : .threeD
    fix.quality = isDifferential ? .differential : .autonomous
    fix.source = .gga
    fix.latitudeDegrees = latitude
    fix.longitudeDegrees = longitude
    fix.heightAboveSeaLevelMetres = height
    fix.satellitesUsed = satellites
    fix.estimateAccuracy()
  }
}
