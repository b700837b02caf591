// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Finds the records of a recording that arrives in pieces of any size.
///
/// A record is valid if its checksum is correct. After a damaged record the reader searches for the next valid one, and
/// the bytes between are counted. An incomplete record at the end of the file, which a loss of power leaves, is the
/// torn tail.
public struct RecordingReader: ~Copyable {
  /// The number of valid records so far.
  public private(set) var records: UInt64 = 0
  /// The number of bytes of the stream in them.
  public private(set) var streamBytes: UInt64 = 0
  /// The number of bytes that do not belong to a record.
  public private(set) var damagedBytes: UInt64 = 0
  /// The offset of the end of the last valid record, from the start of the file. A torn tail is truncated there.
  public private(set) var wholeBytes: UInt64 = 0

  /// The number of bytes before `carry` and the current piece.
  private var settled: UInt64 = 0
  private var carry: [UInt8] = []

  public init() { carry.reserveCapacity(Record.longestPayload + Record.overhead) }

  /// Handles the next bytes of the file, and passes each record that they complete to `body`.
  ///
  /// - Throws: `notARecording` if the file does not begin with a header record, `newerVersion`.
  public mutating func receive(
    _ piece: RawSpan, _ body: (borrowing Record) -> Void
  ) throws(RecordingError) {
    var used = 0
    while !carry.isEmpty {
      let found = unsafe Record.scan(carry.span.bytes)
      switch found {
      case .needs(let total):
        let taken = min(total - carry.count, piece.byteCount - used)
        if taken == 0 { return }
        for index in used..<used + taken { carry.append(piece.u1(index)) }
        used += taken
      case .record(let total):
        // The array is moved out while it is read, to avoid a copy.
        var complete: [UInt8] = []
        swap(&complete, &carry)
        try unsafe take(Record(checked: complete.span.bytes.extracting(0..<total)), total, body)
        complete.removeFirst(total)
        swap(&complete, &carry)
      case .none:
        try skip(1)
        carry.removeFirst()
        let next = carry.firstIndex(of: Record.sync.0) ?? carry.count
        try skip(next)
        carry.removeFirst(next)
      }
    }
    while used < piece.byteCount {
      let rest = piece.extracting(used..<piece.byteCount)
      switch Record.scan(rest) {
      case .needs:
        for index in used..<piece.byteCount { carry.append(piece.u1(index)) }
        return
      case .record(let total):
        try take(Record(checked: rest.extracting(0..<total)), total, body)
        used += total
      case .none:
        var next = used + 1
        while next < piece.byteCount, piece.u1(next) != Record.sync.0 { next += 1 }
        try skip(next - used)
        used = next
      }
    }
  }

  /// Marks the end of the file. A torn tail may be a damaged length, so it is searched for further records.
  ///
  /// - Returns: the size of the torn tail, bytes.
  public mutating func finish(_ body: (borrowing Record) -> Void) throws(RecordingError) -> UInt64 {
    if records == 0 {
      // Power was lost before the first record was complete.
      defer { carry.removeAll() }
      return UInt64(carry.count)
    }
    while !carry.isEmpty {
      let rest = carry.dropFirst()
      let next = rest.firstIndex(of: Record.sync.0) ?? rest.endIndex
      try skip(next)
      let piece = Array(carry[next...])
      carry.removeAll(keepingCapacity: true)
      try unsafe receive(piece.span.bytes, body)
    }
    damagedBytes -= settled - wholeBytes
    return settled - wholeBytes
  }

  private mutating func skip(_ count: Int) throws(RecordingError) {
    // Until the first record the file may have any format.
    if records == 0, count > 0 { throw .notARecording }
    damagedBytes += UInt64(count)
    settled += UInt64(count)
  }

  private mutating func take(
    _ record: borrowing Record, _ total: Int, _ body: (borrowing Record) -> Void
  ) throws(RecordingError) {
    if record.kind == .header {
      guard let header = RecordingHeader(record.text) else { throw .notARecording }
      if header.version > RecordingHeader.currentVersion { throw .newerVersion(header.version) }
    } else if records == 0 {
      throw .notARecording
    }
    records += 1
    if record.kind == .data { streamBytes += UInt64(record.payload.byteCount) }
    settled += UInt64(total)
    wholeBytes = settled
    body(record)
  }
}
