// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream

/// A fix that waits for the server: what every format needs, and no more.
struct QueuedFix: Equatable, Sendable {
  /// Why the fix was due.
  enum Trigger: UInt8, Sendable {
    /// The interval and the distance are reached.
    case schedule = 0
    /// The server asked for it (`reportLocation`).
    case request = 1
    /// The border of a region was crossed.
    case region = 2
    /// Not a location of its own: the message of an entry, of formats that have one.
    case entry = 3
    /// The message of an exit.
    case exit = 4

    var isTransition: Bool { self == .entry || self == .exit }
  }

  /// The number of the fix in its queue, from 1; never used twice.
  var sequence: UInt64
  /// The time of the measurement, nanoseconds since 1970, UTC.
  var utcNanoseconds: Int64
  /// −90…90.
  var latitudeDegrees: Double
  /// −180…180.
  var longitudeDegrees: Double
  /// One standard deviation.
  var horizontalAccuracyMetres: Double?
  /// Above mean sea level.
  var altitudeMetres: Double?
  /// One standard deviation.
  var verticalAccuracyMetres: Double?
  var speedMetresPerSecond: Double?
  /// 0 ≤ course < 360 from true north.
  var courseDegrees: Double?
  var trigger: Trigger = .schedule
  /// The number of the region in ``RegionTable``, of a transition; 0 for none.
  var region: UInt16 = 0
  /// From a simulator or a recording.
  var isSimulated = false

  var iso8601: String { UTCTime(nanosecondsSince1970: utcNanoseconds).iso8601 }
}

/// The form of a fix in the queue's files: 64 bytes, little endian, with a checksum.
///
///     0 kind   1 flags   2 trigger   4 sequence (8)   12 time (8)   20 latitude (8)   28 longitude (8)
///     36 horizontal accuracy, mm (4)   40 altitude, mm (4)   44 vertical accuracy, mm (4)   48 speed, mm/s (4)
///     52 course, 0.01° (4)   56 region (2)   58 zero (2)   60 CRC-32 of the bytes before
///
/// A part of a record, and a record that was only half written at a loss of power, has a wrong checksum.
enum FixRecord {
  static let size = 64
  private static let kind: UInt8 = 0x46
  private static let simulatedFlag: UInt8 = 1
  /// An unknown value of four bytes.
  private static let unknown = Int32.min

  static func append(_ fix: QueuedFix, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(kind)
    bytes.append(fix.isSimulated ? simulatedFlag : 0)
    bytes.append(fix.trigger.rawValue)
    bytes.append(0)
    append(fix.sequence, to: &bytes)
    append(UInt64(bitPattern: fix.utcNanoseconds), to: &bytes)
    append(fix.latitudeDegrees.bitPattern, to: &bytes)
    append(fix.longitudeDegrees.bitPattern, to: &bytes)
    let thousandths = [
      fix.horizontalAccuracyMetres, fix.altitudeMetres, fix.verticalAccuracyMetres, fix.speedMetresPerSecond,
    ]
    for value in thousandths { append(scaled(value, by: 1000), to: &bytes) }
    append(scaled(fix.courseDegrees, by: 100), to: &bytes)
    append(fix.region, to: &bytes)
    append(UInt16(0), to: &bytes)
    sign(from: start, &bytes)
  }

  /// Returns the fix of a record; nil if the record is damaged.
  static func read(_ record: ArraySlice<UInt8>) -> QueuedFix? {
    guard record.count == size, record.first == kind, isIntact(record) else { return nil }
    let start = record.startIndex
    func integer(_ offset: Int, _ length: Int) -> UInt64 { Self.integer(record, offset, length) }
    func value(_ offset: Int, by factor: Double) -> Double? {
      let raw = Int32(truncatingIfNeeded: integer(offset, 4))
      return raw == unknown ? nil : Double(raw) / factor
    }
    let fix = QueuedFix(
      sequence: integer(4, 8), utcNanoseconds: Int64(bitPattern: integer(12, 8)),
      latitudeDegrees: Double(bitPattern: integer(20, 8)), longitudeDegrees: Double(bitPattern: integer(28, 8)),
      horizontalAccuracyMetres: value(36, by: 1000), altitudeMetres: value(40, by: 1000),
      verticalAccuracyMetres: value(44, by: 1000), speedMetresPerSecond: value(48, by: 1000),
      courseDegrees: value(52, by: 100), trigger: QueuedFix.Trigger(rawValue: record[start + 2]) ?? .schedule,
      region: UInt16(truncatingIfNeeded: integer(56, 2)), isSimulated: record[start + 1] & simulatedFlag != 0)
    guard (-90...90).contains(fix.latitudeDegrees), (-180...180).contains(fix.longitudeDegrees) else { return nil }
    return fix
  }

  /// A value that is not finite or too large is unknown.
  private static func scaled(_ value: Double?, by factor: Double) -> Int32 {
    value.flatMap { Int32(exactly: ($0 * factor).rounded()) } ?? unknown
  }

  // MARK: Integers, also of the ranges of acknowledged numbers

  static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  static func integer(_ record: ArraySlice<UInt8>, _ offset: Int, _ length: Int) -> UInt64 {
    record.dropFirst(offset).prefix(length).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Ends a record that starts at an index with its checksum.
  static func sign(from start: Int, _ bytes: inout [UInt8]) { append(CRC32.of(bytes[start...]), to: &bytes) }

  /// Whether the checksum of a record is right.
  static func isIntact(_ record: ArraySlice<UInt8>) -> Bool {
    integer(record, record.count - 4, 4) == UInt64(CRC32.of(record.dropLast(4)))
  }
}

/// The checksum of IEEE 802.3, as in zlib.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}
