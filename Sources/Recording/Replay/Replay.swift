import MonotonicTime
import WireBytes

/// Plays a file back: what it holds goes in piece by piece, and the stream's bytes come out when they are due.
///
/// A recording is played at the times at which its bytes arrived; plain bytes at the times of their epochs (`LogPace`).
/// It has no clock and no file: `wantsMore` says when to read on, `deadline` when `play` is due.
public struct Replay: ~Copyable {
  /// How fast.
  public enum Speed: Equatable, Sendable {
    /// So many times as fast as it was, above 0.
    case times(Double)
    /// As fast as it is taken.
    case maximum

    /// Reads `max` or a number with or without an `x` behind it, from 0.001 to 1,000,000; nil for anything else.
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

  /// What comes out.
  public enum Event: Equatable, Sendable {
    /// Bytes of the stream.
    case bytes([UInt8])
    /// The line was opened at this rate or set to it, in baud.
    case rate(UInt32)
    /// The receiver went away, and came back.
    case lost, opened
  }

  /// From one run of the recorder to the next no time is measured: so much is left between them.
  static let betweenRuns = Milliseconds(1000)
  /// Bytes that wait for their time; more of the file is wanted below.
  static let buffered = 65_536

  /// Events that were played and are still held.
  private static let longestPlayed = 1024

  private let speed: Speed
  private let started: Instant
  /// The first bytes, too few to tell what the file is.
  private var first: [UInt8] = []
  private var isRecording: Bool?
  private var reader = RecordingReader()
  private var clock = Clock()
  private var pace = LogPace()
  private var queue: [(due: UInt64, event: Event)] = []
  /// The first of `queue` that was not played.
  private var next = 0
  private var waiting = 0
  private var isAtEnd = false

  /// Nanoseconds from the start of the replay, at the recording's own speed.
  private struct Clock {
    var elapsed: UInt64 = 0
    /// The arrival of the last record; nil at the start of a run.
    var last: Instant?
    var isFirst = true

    mutating func time(of instant: Instant) -> UInt64 {
      if let last, instant > last { elapsed += instant.nanoseconds - last.nanoseconds }
      last = instant
      return elapsed
    }
  }

  public init(speed: Speed, at now: Instant) {
    self.speed = speed
    started = now
  }

  /// Whether more of the file is to be given, or its end be told.
  public var wantsMore: Bool { !isAtEnd && waiting < Self.buffered }
  /// Whether everything was played.
  public var isEnded: Bool { isAtEnd && next == queue.count }

  /// When `play` is due; nil at the end, or when the file has to be read first.
  public var deadline: Instant? { next < queue.count ? instant(queue[next].due) : nil }

  /// Takes the next piece of the file.
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

  /// Says that the file is at its end.
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

  /// Plays the next thing that is due; nil when nothing is.
  public mutating func play(at now: Instant) -> Event? {
    guard next < queue.count, now >= instant(queue[next].due) else { return nil }
    let event = queue[next].event
    next += 1
    if case .bytes(let bytes) = event { waiting -= bytes.count }
    // What was played is dropped now and then, also while the file always brings more.
    if next == queue.count || next >= Self.longestPlayed {
      queue.removeFirst(next)
      next = 0
    }
    return event
  }

  // MARK: What the file holds

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
      if !clock.isFirst { clock.elapsed += betweenRuns.count * 1_000_000 }
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
      // Beyond a century of waiting nothing is played.
      let distance = min(Double(due) / factor, 3e18)
      return Instant(nanoseconds: started.nanoseconds + UInt64(distance))
    }
  }
}
