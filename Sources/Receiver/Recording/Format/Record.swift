// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// The time of an arrival on both clocks of the computer.
public struct Arrival: Equatable, Sendable {
  /// The monotonic time. Differences are exact within a run of the computer; they have no meaning across a restart.
  public var instant: Instant
  /// Nanoseconds since 1970, UTC, from the computer's clock, which may be wrong and may step.
  public var utcNanoseconds: Int64

  public init(_ instant: Instant, utcNanoseconds: Int64) {
    self.instant = instant
    self.utcNanoseconds = utcNanoseconds
  }
}

/// A complete record of a recording with a correct checksum: a view without a copy. docs/reference/recording-format.md
/// has the layout.
public struct Record: ~Escapable {
  /// The kind of a record.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// `H`: a recording begins or continues. The payload is a `RecordingHeader`.
    case header = 0x48
    /// `D`: bytes were received; the payload.
    case data = 0x44
    /// `R`: the line has a new rate: baud, u4.
    case rate = 0x52
    /// `L`: the receiver was disconnected.
    case lost = 0x4C
    /// `O`: the receiver is connected again; the payload is the path of its device.
    case opened = 0x4F
    /// `N`: a note for the user: the description of the receiver.
    case note = 0x4E
    /// `E`: the recording ended normally.
    case end = 0x45
  }

  /// The content at the start of a span.
  public enum ScanResult: Equatable, Sendable {
    /// A record of this many bytes.
    case record(Int)
    /// The beginning of a record of this total size, bytes.
    case needs(Int)
    /// No record begins here.
    case none
  }

  public static let headerLength = 24
  /// The size of a record minus its payload, bytes.
  public static let overhead = 28
  /// The maximum size of the payload, bytes.
  public static let longestPayload = 65_536
  /// The first bytes of each record. No frame of a receiver begins with them.
  static let sync: (UInt8, UInt8, UInt8) = (0x89, 0x53, 0x58)

  /// All bytes of the record.
  let bytes: RawSpan

  /// Scans for a record at the start of `bytes`.
  static func scan(_ bytes: RawSpan) -> ScanResult {
    let available = bytes.byteCount
    if available >= 1, bytes.u1(0) != sync.0 { return .none }
    if available >= 2, bytes.u1(1) != sync.1 { return .none }
    if available >= 3, bytes.u1(2) != sync.2 { return .none }
    guard available >= 8 else { return .needs(overhead) }
    let length = Int(bytes.littleEndian(4, as: UInt32.self))
    guard length <= longestPayload else { return .none }
    let total = length + overhead
    guard available >= total else { return .needs(total) }
    let sent = bytes.littleEndian(total - 4, as: UInt32.self)
    return CRC32C.sum(of: bytes, count: total - 4) == sent ? .record(total) : .none
  }

  /// The record that `scan` found.
  @_lifetime(copy bytes)
  init(checked bytes: RawSpan) {
    precondition(bytes.byteCount >= Self.overhead)
    self.bytes = bytes
  }

  /// The kind; nil for a kind of a later version, which readers skip.
  public var kind: Kind? { Kind(rawValue: bytes.u1(3)) }

  public var arrival: Arrival {
    Arrival(
      Instant(nanoseconds: bytes.littleEndian(8, as: UInt64.self)),
      utcNanoseconds: bytes.littleEndian(16, as: Int64.self))
  }

  public var payload: RawSpan {
    @_lifetime(copy self) get { bytes.extracting(Self.headerLength..<bytes.byteCount - 4) }
  }

  /// The rate of a record of kind `rate`, in baud.
  public var baudRate: UInt32? {
    kind == .rate && payload.byteCount == 4 ? payload.littleEndian(0, as: UInt32.self) : nil
  }

  /// The payload as text. Invalid UTF-8 is replaced.
  public var text: String { String(decoding: (0..<payload.byteCount).map { payload.u1($0) }, as: UTF8.self) }
}

/// CRC-32C: the polynomial 0x1EDC6F41 with bits reflected; start value and final exclusive or are all ones (RFC 3720,
/// appendix B.4).
enum CRC32C {
  static func sum(of bytes: RawSpan, count: Int) -> UInt32 {
    var remainder = UInt32.max
    for index in 0..<count {
      remainder = remainder >> 8 ^ table[Int((remainder ^ UInt32(bytes.u1(index))) & 0xFF)]
    }
    return ~remainder
  }

  /// The effect of each byte on the remainder.
  private static let table: [UInt32] = (0..<256).map { value in
    var word = UInt32(value)
    for _ in 0..<8 { word = word & 1 != 0 ? word >> 1 ^ 0x82F6_3B78 : word >> 1 }
    return word
  }
}
