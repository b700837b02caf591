// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Plays a file. The input is its bytes, in pieces; the output is the bytes of the stream when they are due.
///
/// A recording is played at the arrival times of its bytes, plain bytes at the times of their epochs (`UntimedLogPace`). The
/// value does not use a clock or files: `needsInput` requests more of the file, and `play` is due at `deadline`.
public struct Replay: ~Copyable {
  /// The speed of a replay.
  public enum Speed: Equatable, Sendable {
    /// A factor above 0.
    case times(Double)
    /// Without pauses.
    case maximum

    /// Reads `max`, or a number from 0.001 to 1,000,000 with an optional `x` after it; nil for anything else.
    public init?(_ text: String) {
      if text == "max" {
        self = .maximum
        return
      }
      guard let factor = Double(text.hasSuffix("x") ? String(text.dropLast()) : text), factor >= 0.001, factor <= 1e6
      else { return nil }
      self = .times(factor)
    }
  }

  /// An event of the replay.
  public enum Event: Equatable, Sendable {
    /// Bytes of the stream.
    case bytes([UInt8])
    /// The line was opened at this rate or set to it, baud.
    case rate(UInt32)
    /// The receiver was disconnected, or connected again.
    case lost, opened
  }

  /// The pause between two runs of the recorder, of unknown length.
  static let betweenRuns = Milliseconds(1000)
  /// A longer gap between two records is a damaged or invented time, and is replaced by `betweenRuns`.
  static let longestGap = Milliseconds(86_400_000)
  /// The number of waiting bytes below which more of the file is requested.
  static let buffered = 65_536

  /// The maximum number of played events before they are removed from the queue.
  private static let longestPlayed = 1024

  private let speed: Speed
  private let started: Instant
  /// The first bytes, too few to decide whether the file is a recording.
  private var first: [UInt8] = []
  private var isRecording: Bool?
  private var reader = RecordingReader()
  private var clock = Clock()
  private var pace = UntimedLogPace()
  private var queue: [(due: UInt64, event: Event)] = []
  /// The index of the first event in `queue` that was not played.
  private var next = 0
  private var waiting = 0
  private var isAtEnd = false

  /// The time from the start of the replay at the speed of the recording, ns.
  private struct Clock {
    private(set) var elapsed: UInt64 = 0
    /// The arrival of the last record; nil at the start of a run.
    var last: Instant?
    var isFirst = true

    mutating func time(of instant: Instant) -> UInt64 {
      if let last, instant > last + longestGap {
        advance(by: betweenRuns.nanoseconds)
      } else if let last, instant > last {
        advance(by: instant.nanoseconds - last.nanoseconds)
      }
      last = instant
      return elapsed
    }

    mutating func advance(by nanoseconds: UInt64) { elapsed = elapsed.saturatingSum(nanoseconds) }
  }

  public init(speed: Speed, at now: Instant) {
    self.speed = speed
    started = now
  }

  /// Whether `receive` or `finish` must be called.
  public var needsInput: Bool { !isAtEnd && waiting < Self.buffered }
  /// Whether all events have been played.
  public var isEnded: Bool { isAtEnd && next == queue.count }

  /// The time at which `play` is due; nil at the end, or if more of the file is needed first.
  public var deadline: Instant? { next < queue.count ? instant(queue[next].due) : nil }

  /// Handles the next bytes of the file.
  ///
  /// - Throws: `RecordingError` for a recording that cannot be read.
  public mutating func receive(_ piece: RawSpan) throws(RecordingError) {
    if isRecording != nil { return try take(piece) }
    for index in 0..<piece.byteCount { first.append(piece.u1(index)) }
    guard first.count >= 4 else { return }
    isRecording =
      first[0] == Record.sync.0 && first[1] == Record.sync.1 && first[2] == Record.sync.2
      && first[3] == Record.Kind.header.rawValue
    let begun = first
    first = []
    try unsafe take(begun.span.bytes)
  }

  /// Marks the end of the file.
  public mutating func finish() throws(RecordingError) {
    guard !isAtEnd else { return }
    isAtEnd = true
    var added: [(UInt64, Event)] = []
    switch isRecording {
    case nil: if !first.isEmpty { added.append((0, .bytes(first))) }
    case true?: _ = try reader.finish { Self.take($0, &clock, &added) }
    case false?: pace.finish { due, bytes in added.append((due, .bytes(bytes))) }
    }
    add(added)
  }

  /// Returns the next event that is due; nil if there is none.
  public mutating func play(at now: Instant) -> Event? {
    guard next < queue.count, now >= instant(queue[next].due) else { return nil }
    let event = queue[next].event
    next += 1
    if case .bytes(let bytes) = event { waiting -= bytes.count }
    // Played events are removed from time to time, even if the file always has more.
    if next == queue.count || next >= Self.longestPlayed {
      queue.removeFirst(next)
      next = 0
    }
    return event
  }

  // MARK: The content of the file

  private mutating func take(_ piece: RawSpan) throws(RecordingError) {
    var added: [(UInt64, Event)] = []
    if isRecording == true {
      try reader.receive(piece) { Self.take($0, &clock, &added) }
    } else {
      pace.receive(piece) { due, bytes in added.append((due, .bytes(bytes))) }
    }
    add(added)
  }

  private static func take(_ record: borrowing Record, _ clock: inout Clock, _ added: inout [(UInt64, Event)]) {
    if record.kind == .header {
      if !clock.isFirst { clock.advance(by: betweenRuns.nanoseconds) }
      clock.isFirst = false
      clock.last = record.arrival.instant
      if let baud = RecordingHeader(record.text)?.baud { added.append((clock.elapsed, .rate(baud))) }
      return
    }
    let due = clock.time(of: record.arrival.instant)
    switch record.kind {
    case .data?: added.append((due, .bytes([UInt8](copying: record.payload))))
    case .rate?: if let rate = record.baudRate { added.append((due, .rate(rate))) }
    case .lost?: added.append((due, .lost))
    case .opened?: added.append((due, .opened))
    case .header?, .note?, .end?, nil: break
    }
  }

  private mutating func add(_ added: [(UInt64, Event)]) {
    for (due, event) in added {
      if case .bytes(let bytes) = event { waiting += bytes.count }
      queue.append((due, event))
    }
  }

  private func instant(_ due: UInt64) -> Instant {
    switch speed {
    case .maximum: return started
    case .times(let factor):
      return started.moved(by: Double(due) / 1e9 / factor)
    }
  }
}

extension Milliseconds {
  fileprivate var nanoseconds: UInt64 { (Instant.zero + self).nanoseconds }
}

extension UInt64 {
  /// A sum that saturates: the times in a file are not trusted. The maximum is about 584 years, which means never.
  func saturatingSum(_ other: UInt64) -> UInt64 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
