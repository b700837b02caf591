import MonotonicTime
import WireBytes

/// When something arrived, on both clocks of the computer.
public struct Arrival: Equatable, Sendable {
  /// The clock that never steps: distances between arrivals are right, across a restart of the computer they mean
  /// nothing.
  public var instant: Instant
  /// Nanoseconds since 1970, UTC, by the computer's clock, which may be wrong and may step.
  public var utcNanoseconds: Int64

  public init(_ instant: Instant, utcNanoseconds: Int64) {
    self.instant = instant
    self.utcNanoseconds = utcNanoseconds
  }
}

/// One record of a recording, whole and with a right checksum: a view, nothing is copied. docs/recording.md has the
/// layout.
public struct Record: ~Escapable {
  /// What a record tells.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// `H`: a recording begins, or goes on. The payload is a `RecordingHeader`.
    case header = 0x48
    /// `D`: these bytes were received.
    case data = 0x44
    /// `R`: the line is set to this rate, baud, u4.
    case rate = 0x52
    /// `L`: the receiver is gone.
    case lost = 0x4C
    /// `O`: the receiver is back; the payload is the path of its device.
    case opened = 0x4F
    /// `N`: a note for people: what the receiver said of itself.
    case note = 0x4E
    /// `E`: the recording ends in order.
    case end = 0x45
  }

  /// What the bytes at the start of a span are.
  public enum Look: Equatable, Sendable {
    /// A record of this many bytes.
    case record(Int)
    /// The beginning of a record that needs this many bytes in all.
    case needs(Int)
    /// No record begins here.
    case none
  }

  /// Bytes before the payload.
  public static let headerLength = 24
  /// Bytes around the payload.
  public static let overhead = 28
  /// The longest payload, bytes.
  public static let longestPayload = 65_536
  /// The bytes that each record begins with: no frame of a receiver does.
  static let sync: (UInt8, UInt8, UInt8) = (0x89, 0x53, 0x58)

  /// All bytes of the record.
  let bytes: RawSpan

  /// Looks for a record at the start of `bytes`.
  static func look(at bytes: RawSpan) -> Look {
    let left = bytes.byteCount
    if left >= 1, bytes.u1(0) != sync.0 { return .none }
    if left >= 2, bytes.u1(1) != sync.1 { return .none }
    if left >= 3, bytes.u1(2) != sync.2 { return .none }
    guard left >= 8 else { return .needs(overhead) }
    let length = Int(bytes.littleEndian(4, as: UInt32.self))
    guard length <= longestPayload else { return .none }
    let total = length + overhead
    guard left >= total else { return .needs(total) }
    let sent = bytes.littleEndian(total - 4, as: UInt32.self)
    return crc32c(of: bytes, count: total - 4) == sent ? .record(total) : .none
  }

  /// The record that `look` found.
  @_lifetime(copy bytes)
  init(checked bytes: RawSpan) {
    precondition(bytes.byteCount >= Self.overhead)
    self.bytes = bytes
  }

  /// Nil for a kind that a later version brought; it can be passed over.
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

  /// The payload as text; what is no UTF-8 is replaced.
  public var text: String { String(decoding: (0..<payload.byteCount).map { payload.u1($0) }, as: UTF8.self) }
}
