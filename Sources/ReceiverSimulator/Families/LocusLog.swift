// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The state of MediaTek's logger LOCUS: 252 records of 16 bytes in each sector of 4 kB.
///
/// The flash of an Adafruit module has 16 sectors, and is kept without a supply. The log is of the type "full stop", or by a quirk of the
/// type "overlap", which erases its oldest sector.
struct LocusLog: Sendable {
  /// Whether it overwrites the oldest records.
  var overlaps = false
  /// The number of the first sector.
  private var firstSector = 1
  private(set) var records: [[UInt8]] = []
  private(set) var isLogging = false
  /// The interval, seconds.
  private(set) var interval = LocusLog.usualInterval
  private static let usualInterval = 15
  private var last: Int64?

  static let sectors = 16
  private static let inSector = 252
  private static var capacity: Int { sectors * inSector }
  /// UTC, fix, latitude, longitude and height.
  private static let content: UInt32 = 31
  /// Normal, and only with a fix, by interval.
  private static let mode: UInt8 = 0x0B

  mutating func start() { (isLogging, last) = (true, nil) }
  mutating func stop() { isLogging = false }
  /// The receiver restarts, and its interval becomes the default of the firmware.
  mutating func restart() { (isLogging, interval) = (false, Self.usualInterval) }
  mutating func set(interval: Int) { self.interval = interval }
  mutating func erase() { records = [] }

  var isFull: Bool { records.count >= Self.capacity }

  /// Adds a record if the interval is over. Returns whether a log that stops when it is full has stopped.
  @discardableResult
  mutating func record(_ solution: Solution, always: Bool = false) -> Bool {
    let seconds = solution.utcMilliseconds / 1000
    guard always || (isLogging && last.map { seconds - $0 >= Int64(interval) } ?? true) else { return false }
    if isFull {
      guard overlaps else {
        defer { stop() }
        return isLogging
      }
      records.removeFirst(Self.inSector)
      firstSector += 1
    }
    last = seconds
    var record = bytes(UInt32(truncatingIfNeeded: seconds)) + [2]
    record += bytes(Float(solution.latitudeDegrees).bitPattern) + bytes(Float(solution.longitudeDegrees).bitPattern)
    record += bytes(Int16(nearest: solution.altitudeMetres))
    records.append(record + [checksum(record)])
    return false
  }

  /// PMTKLOG.
  var status: String {
    let used = min(Self.sectors, records.count / Self.inSector + 1)
    let percent = records.count * 100 / Self.capacity
    return
      "PMTKLOG,\(used),\(overlaps ? 0 : 1),\(String(Self.mode, radix: 16)),\(Self.content),\(interval),0,0,\(isLogging ? 0 : 1),"
      + "\(records.count),\(percent)"
  }

  /// The lines of PMTK622.
  ///
  /// - Parameter usedOnly: false for the whole flash.
  func dump(usedOnly: Bool) -> [String] {
    let count = usedOnly ? records.count / Self.inSector + (records.count % Self.inSector > 0 ? 1 : 0) : Self.sectors
    let flash = (0..<count).flatMap(sector)
    let lines = stride(from: 0, to: flash.count, by: 96).map { Array(flash[$0..<min($0 + 96, flash.count)]) }
    var texts = ["PMTKLOX,0,\(lines.count)"]
    for (index, line) in lines.enumerated() {
      let words = stride(from: 0, to: line.count, by: 4).map { at in
        line[at..<min(at + 4, line.count)].map(hexadecimal).joined()
      }
      texts.append("PMTKLOX,1,\(index),\(words.joined(separator: ","))")
    }
    return texts + ["PMTKLOX,2"]
  }

  private func sector(_ index: Int) -> [UInt8] {
    let part = records.dropFirst(index * Self.inSector).prefix(Self.inSector)
    guard !part.isEmpty else { return [UInt8](repeating: 0xFF, count: 4096) }
    var head =
      bytes(UInt16(truncatingIfNeeded: index + firstSector)) + [overlaps ? 0 : 1, Self.mode] + bytes(Self.content)
    head += bytes(UInt16(clamping: interval)) + [0, 0, 0, 0]
    let words = stride(from: 0, to: head.count, by: 2).map { UInt16(head[$0]) | UInt16(head[$0 + 1]) << 8 }
    head += bytes(words.reduce(0) { $0 ^ $1 })
    var bitmap = [UInt8](repeating: 0xFF, count: 44)
    for place in 0..<part.count { bitmap[place / 8] &= ~(0x80 >> UInt8(place % 8)) }
    let content = part.flatMap { $0 }
    return head + bitmap + [0, 0, 0, 0] + content + [UInt8](repeating: 0xFF, count: 4032 - content.count)
  }
}
