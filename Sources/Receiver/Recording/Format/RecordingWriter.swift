// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Creates the bytes of a recording in memory that is allocated once. The owner of the file writes `pending` to it and
/// calls `removePending`.
public struct RecordingWriter: ~Copyable {
  private var memory: [UInt8]
  private var used = 0

  /// - Parameter capacity: the maximum size of `pending`, bytes; at least one longest record.
  public init(capacity: Int = 2 * (Record.longestPayload + Record.overhead)) {
    memory = Array(repeating: 0, count: max(capacity, Record.longestPayload + Record.overhead))
  }

  /// The bytes to write to the file.
  public var pending: RawSpan {
    @_lifetime(borrow self) get { unsafe memory.span.bytes.extracting(0..<used) }
  }

  /// Removes the pending bytes after they were written.
  public mutating func removePending() { used = 0 }

  /// Adds a record.
  ///
  /// - Parameters:
  ///   - kind: the kind of the record.
  ///   - payload: at most `Record.longestPayload` bytes; traps if longer.
  ///   - arrival: the time of the record.
  /// - Returns: false if `pending` must be written first. Nothing is then added.
  public mutating func add(_ kind: Record.Kind, _ payload: RawSpan, _ arrival: Arrival) -> Bool {
    precondition(payload.byteCount <= Record.longestPayload)
    let total = payload.byteCount + Record.overhead
    guard memory.count - used >= total else { return false }
    Self.store(kind, payload, arrival, in: &memory, at: used)
    used += total
    return true
  }

  private static func store(
    _ kind: Record.Kind, _ payload: RawSpan, _ arrival: Arrival, in memory: inout [UInt8], at start: Int
  ) {
    var elements = memory.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe elements.mutableBytes
    let end = start + Record.headerLength + payload.byteCount
    room.setLittleEndian(Record.sync.0, at: start)
    room.setLittleEndian(Record.sync.1, at: start + 1)
    room.setLittleEndian(Record.sync.2, at: start + 2)
    room.setLittleEndian(kind.rawValue, at: start + 3)
    room.setLittleEndian(UInt32(payload.byteCount), at: start + 4)
    room.setLittleEndian(arrival.instant.nanoseconds, at: start + 8)
    room.setLittleEndian(arrival.utcNanoseconds, at: start + 16)
    room.copy(payload, to: start + Record.headerLength)
    let sum = CRC32C.sum(of: room.bytes.extracting(start..<end), count: end - start)
    room.setLittleEndian(sum, at: end)
  }

  /// Adds a record of text, truncated to the longest payload.
  public mutating func add(_ kind: Record.Kind, text: String, _ arrival: Arrival) -> Bool {
    let characters = Array(text.utf8.prefix(Record.longestPayload))
    return unsafe add(kind, characters.span.bytes, arrival)
  }

  /// Adds the record of a rate, in baud.
  public mutating func add(rate: UInt32, _ arrival: Arrival) -> Bool {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rate >> UInt32(8 * $0)) }
    return unsafe add(.rate, bytes.span.bytes, arrival)
  }
}
