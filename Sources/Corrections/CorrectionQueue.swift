import MonotonicTime
import RTCM3
import ReceiverStream
import WireBytes

/// RTCM 3 corrections on their way from a source to a receiver: whole frames with a right checksum, and no more of them
/// than the line can take.
///
/// Where more comes, the oldest observations are dropped, never a part of a frame: an old observation is worth less than
/// a new one. Of a message that describes the station the newest is kept. It has no clock and no source.
public struct CorrectionQueue: ~Copyable {
  /// An observation older than this is of no use: receivers leave it out (60 s is their usual limit, CFG-NAVSPG
  /// CONSTR_DGNSSTO; by then the next ones are long there).
  public static let longestAge = Milliseconds(10_000)
  /// What waits for the line at the most, bytes, where the line has no rate.
  static let backlogWithoutRate = 32_768
  /// Frames that are handed out together hold at most so many bytes, unless one alone is longer.
  static let burst = 1024

  /// The line's rate in baud; nil where it has none. The backlog is what the line carries in a second.
  public var lineRate: UInt32?
  /// Frames handed out.
  public private(set) var passed: UInt64 = 0
  /// Frames dropped: too old, or too many for the line.
  public private(set) var dropped: UInt64 = 0
  /// Bytes of the source that are no RTCM 3 frame.
  public var skippedBytes: UInt64 { stream.counters.skippedBytes }

  private var stream = FrameStream()
  private var queue: [Waiting] = []
  private var queued = 0

  private struct Waiting {
    var number: Int
    var bytes: [UInt8]
    var since: Instant
    var isObservation: Bool
  }

  public init(lineRate: UInt32?) { self.lineRate = lineRate }

  /// Whether frames wait.
  public var isEmpty: Bool { queue.isEmpty }

  /// Takes bytes of the source; whether a correction was among them.
  @discardableResult
  public mutating func receive(_ bytes: RawSpan, at now: Instant) -> Bool {
    var frames: [Waiting] = []
    stream.receive(bytes) { frame in
      guard let correction = frame.rtcm3, let number = correction.messageNumber else { return }
      frames.append(
        Waiting(
          number: number, bytes: [UInt8](copying: correction.bytes), since: now,
          isObservation: Self.isObservation(number)))
    }
    for frame in frames { add(frame) }
    return !frames.isEmpty
  }

  /// The source was lost: the frame that it had begun is no beginning of what comes next.
  public mutating func reset() { stream.reset() }

  /// The next whole frames for the receiver; nil when none wait.
  public mutating func next(at now: Instant) -> [UInt8]? {
    drop { $0.isObservation && now > $0.since + Self.longestAge }
    var bytes: [UInt8] = []
    while let first = queue.first, bytes.isEmpty || bytes.count + first.bytes.count <= Self.burst {
      bytes += first.bytes
      queued -= first.bytes.count
      queue.removeFirst()
      passed += 1
    }
    return bytes.isEmpty ? nil : bytes
  }

  private mutating func add(_ frame: Waiting) {
    if Self.isStation(frame.number), let old = queue.firstIndex(where: { $0.number == frame.number }) {
      queued += frame.bytes.count - queue[old].bytes.count
      queue[old] = frame
      return
    }
    queue.append(frame)
    queued += frame.bytes.count
    let limit = lineRate.map { max(Int($0) / 10, 1029) } ?? Self.backlogWithoutRate
    while queued > limit, queue.count > 1 {
      // Without an old observation the oldest frame goes.
      let oldest = queue.dropLast().firstIndex { $0.isObservation } ?? 0
      queued -= queue[oldest].bytes.count
      queue.remove(at: oldest)
      dropped += 1
    }
  }

  private mutating func drop(_ isOld: (Waiting) -> Bool) {
    let before = queue.count
    queue.removeAll(where: isOld)
    dropped += UInt64(before - queue.count)
    if queue.count != before { queued = queue.reduce(0) { $0 + $1.bytes.count } }
  }

  /// Observations of satellites: 1001 to 1004, 1009 to 1012, the multiple signal messages, and u-blox's own 4072 of a
  /// base that moves (RTCM 10403.3, table 3.5-1).
  private static func isObservation(_ number: Int) -> Bool {
    switch number {
    case 1001...1004, 1009...1012, 1071...1137, 4072: true
    default: false
    }
  }

  /// What the station is and where it stands; it is said again and again.
  private static func isStation(_ number: Int) -> Bool {
    [1005, 1006, 1007, 1008, 1013, 1029, 1032, 1033, 1230].contains(number)
  }
}
