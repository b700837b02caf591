// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Extracts the bytes of a receiver's stream from a file that is a recording or plain bytes. The first bytes of the
/// file determine which.
public struct RecordedBytes: ~Copyable {
  /// Whether the file is a recording; nil until enough bytes have arrived.
  public var isRecording: Bool? {
    switch state {
    case .unknown: nil
    case .plain: false
    case .recording: true
    }
  }
  /// The number of bytes of the stream returned.
  public private(set) var count: UInt64 = 0
  /// The number of damaged bytes of a recording.
  public var damagedBytes: UInt64 { reader.damagedBytes }

  private enum State { case unknown, plain, recording }
  private var state = State.unknown
  /// The first bytes, too few to decide.
  private var first: [UInt8] = []
  private var reader = RecordingReader()
  /// The arrival of the last bytes of the run; nil at its start.
  private var lastArrival: Instant?

  public init() {}

  /// Handles the next bytes of the file, and passes the bytes of the stream to `body`.
  ///
  /// - Parameters:
  ///   - piece: the next bytes of the file, any number of them.
  ///   - pauses: gets the milliseconds between the arrivals of the previous and the following bytes of a recording, if they are long enough
  ///     to separate bursts.
  ///   - body: gets the bytes of the stream, in order, in pieces.
  /// - Throws: `newerVersion`, or `notARecording` for a file that only starts like a recording.
  public mutating func receive(
    _ piece: RawSpan, pauses: (UInt32) -> Void = { _ in }, _ body: (RawSpan) -> Void
  ) throws(RecordingError) {
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
      try unsafe passOn(begun.span.bytes, pauses, body)
    }
    try passOn(piece.extracting(start..<piece.byteCount), pauses, body)
  }

  /// Marks the end of the file.
  ///
  /// - Returns: the size of an incomplete record at the end of a recording, bytes.
  public mutating func finish(_ body: (RawSpan) -> Void) throws(RecordingError) -> UInt64 {
    if case .unknown = state {
      state = .plain
      let begun = first
      first = []
      try unsafe passOn(begun.span.bytes, { _ in }, body)
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

  private mutating func passOn(
    _ piece: RawSpan, _ pauses: (UInt32) -> Void, _ body: (RawSpan) -> Void
  ) throws(RecordingError) {
    guard case .recording = state else {
      if piece.byteCount > 0 { body(piece) }
      count += UInt64(piece.byteCount)
      return
    }
    var count: UInt64 = 0
    var last = lastArrival
    defer { lastArrival = last }
    try reader.receive(piece) { record in
      // The monotonic clock may restart between two runs of the recorder.
      if record.kind == .header { last = nil }
      guard record.kind == .data else { return }
      let arrival = record.arrival.instant
      if let last, arrival > last {
        let pause = arrival.milliseconds(since: last)
        if pause >= Listener.shortestPause { pauses(UInt32(clamping: pause)) }
      }
      last = arrival
      count += UInt64(record.payload.byteCount)
      body(record.payload)
    }
    self.count += count
  }
}
