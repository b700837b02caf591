import WireBytes

/// The bytes of a receiver's stream from a file that is either a recording or plain bytes: which it is shows in its
/// first bytes.
public struct RecordedBytes: ~Copyable {
  /// What the file is; nil until enough of it was seen.
  public var isRecording: Bool? {
    switch state {
    case .unknown: nil
    case .plain: false
    case .recording: true
    }
  }
  /// Bytes of the stream handed out.
  public private(set) var count: UInt64 = 0
  /// Bytes of a recording that are damaged.
  public var damagedBytes: UInt64 { reader.damagedBytes }

  private enum State { case unknown, plain, recording }
  private var state = State.unknown
  /// The first bytes, too few to tell.
  private var first: [UInt8] = []
  private var reader = RecordingReader()

  public init() {}

  /// Takes the next piece of the file and hands out the bytes of the stream in it.
  ///
  /// - Throws: `newerVersion`, or `notARecording` for what begins as one and is none.
  public mutating func receive(_ piece: RawSpan, _ body: (RawSpan) -> Void) throws(RecordingError) {
    var start = 0
    if case .unknown = state {
      while start < piece.byteCount, first.count < 4 {
        first.append(piece.u1(start))
        start += 1
      }
      decide()
      if case .unknown = state { return }
      let begun = first
      first = []
      try unsafe passOn(begun.span.bytes, body)
    }
    try passOn(piece.extracting(start..<piece.byteCount), body)
  }

  /// Says that the file is at its end.
  ///
  /// - Returns: the bytes of a recording's torn tail.
  public mutating func finish(_ body: (RawSpan) -> Void) throws(RecordingError) -> UInt64 {
    if case .unknown = state {
      state = .plain
      let begun = first
      first = []
      try unsafe passOn(begun.span.bytes, body)
    }
    guard case .recording = state else { return 0 }
    var count: UInt64 = 0
    let torn = try reader.finish { record in
      guard record.kind == .data else { return }
      count += UInt64(record.payload.byteCount)
      body(record.payload)
    }
    self.count += count
    return torn
  }

  private mutating func decide() {
    let start: [UInt8] = [Record.sync.0, Record.sync.1, Record.sync.2, Record.Kind.header.rawValue]
    if first != Array(start.prefix(first.count)) {
      state = .plain
    } else if first.count == 4 {
      state = .recording
    }
  }

  private mutating func passOn(_ piece: RawSpan, _ body: (RawSpan) -> Void) throws(RecordingError) {
    guard case .recording = state else {
      if piece.byteCount > 0 { body(piece) }
      count += UInt64(piece.byteCount)
      return
    }
    var count: UInt64 = 0
    try reader.receive(piece) { record in
      guard record.kind == .data else { return }
      count += UInt64(record.payload.byteCount)
      body(record.payload)
    }
    self.count += count
  }
}
