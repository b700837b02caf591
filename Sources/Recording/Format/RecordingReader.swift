import WireBytes

/// Finds the records of a recording that arrives in pieces of any size.
///
/// A record is believed when its checksum is right. Where a record is damaged the next whole one is looked for, and what
/// is between is counted; a record that the file ends in, which a loss of power leaves, is the torn tail.
public struct RecordingReader: ~Copyable {
  /// Whole records so far.
  public private(set) var records: UInt64 = 0
  /// Bytes of the stream in them.
  public private(set) var streamBytes: UInt64 = 0
  /// Bytes between records that belong to none.
  public private(set) var damagedBytes: UInt64 = 0
  /// The place behind the last whole record, bytes from the start of the file: where a torn tail is cut.
  public private(set) var wholeBytes: UInt64 = 0

  /// Bytes before those in `carry` and in the piece at hand.
  private var settled: UInt64 = 0
  private var carry: [UInt8] = []

  public init() { carry.reserveCapacity(Record.longestPayload + Record.overhead) }

  /// Takes the next piece of the file and hands out each record that is whole with it.
  ///
  /// - Throws: `notARecording` when the file does not begin with a header record, `newerVersion`.
  public mutating func receive(
    _ piece: RawSpan, _ body: (borrowing Record) -> Void
  ) throws(RecordingError) {
    var used = 0
    while !carry.isEmpty {
      let look = unsafe Record.look(at: carry.span.bytes)
      switch look {
      case .needs(let total):
        let taken = min(total - carry.count, piece.byteCount - used)
        if taken == 0 { return }
        for index in used..<used + taken { carry.append(piece.u1(index)) }
        used += taken
      case .record(let total):
        // Taken out for as long as it is looked into, and not copied.
        var whole: [UInt8] = []
        swap(&whole, &carry)
        try unsafe take(Record(checked: whole.span.bytes.extracting(0..<total)), total, body)
        whole.removeFirst(total)
        swap(&whole, &carry)
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
      switch Record.look(at: rest) {
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

  /// Says that the file is at its end. A tail that looked like a long record is searched for whole ones.
  ///
  /// - Returns: the bytes of the torn tail.
  public mutating func finish(_ body: (borrowing Record) -> Void) throws(RecordingError) -> UInt64 {
    if records == 0 {
      // Power went before the first record was whole.
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
    // Until the first record it could be anything.
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
