// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import ReceiverStream
import WireBytes

/// The queue of RTCM 3 corrections from a source to a receiver: whole frames with a correct checksum, no more than the
/// line can carry.
///
/// If more arrive, the oldest observations are dropped as whole frames, because new observations are worth more. Of the
/// messages that describe the station, only the newest of each is stored. The value does not use a clock or a source.
package struct CorrectionQueue: ~Copyable {
  /// Older observations are dropped. Receivers ignore observations after 60 s by default (CFG-NAVSPG-CONSTR_DGNSSTO),
  /// long after newer ones have arrived.
  package static let longestAge = Milliseconds(10_000)
  /// The capacity of the queue for a line without a rate, bytes.
  static let capacityWithoutRate = 32_768
  /// The maximum size of frames that are returned together, bytes, unless a single frame is longer.
  static let burst = 1024

  /// The rate of the line, baud; nil if it has none. The capacity of the queue is the number of bytes that the line
  /// carries in a second.
  package var lineRate: UInt32?
  /// The number of frames returned.
  package private(set) var passed: UInt64 = 0
  /// The number of frames dropped: too old, or more than the line can carry.
  package private(set) var dropped: UInt64 = 0
  /// The number of bytes of the source that are not part of an RTCM 3 frame.
  package var skippedBytes: UInt64 { stream.counters.skippedBytes }

  /// The station of the last observations, 0…4095; nil before the first.
  package private(set) var station: Int?

  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()
  private var queue: [Waiting] = []
  private var queued = 0

  private struct Waiting {
    var number: Int
    var bytes: [UInt8]
    var arrivedAt: Instant
    var isObservation: Bool
  }

  package init(lineRate: UInt32?) { self.lineRate = lineRate }

  /// Whether no frame is queued.
  package var isEmpty: Bool { queue.isEmpty }

  /// Handles bytes of the source. Returns whether they completed a correction.
  ///
  /// - Parameter body: receives each correction.
  @discardableResult
  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, _ body: (borrowing RTCM3Frame) -> Void = { _ in }
  ) -> Bool {
    var frames: [Waiting] = []
    var found = station
    func take(_ frame: borrowing Frame) {
      guard let correction = frame.rtcm3, let number = correction.messageNumber else { return }
      if let station = Self.station(correction, number) { found = station }
      body(correction)
      frames.append(
        Waiting(
          number: number, bytes: [UInt8](copying: correction.bytes), arrivedAt: now,
          isObservation: Self.isObservation(number)))
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    station = found
    for frame in frames { add(frame) }
    return !frames.isEmpty
  }

  /// Discards an incomplete frame after the source was lost.
  package mutating func reset() {
    stream.reset()
    station = nil
  }

  /// Returns the next whole frames for the receiver; nil if there are none.
  package mutating func next(at now: Instant) -> [UInt8]? {
    drop { $0.isObservation && now > $0.arrivedAt + Self.longestAge }
    var bytes: [UInt8] = []
    while let first = queue.first, bytes.isEmpty || bytes.count + first.bytes.count <= Self.burst {
      bytes += first.bytes
      queued -= first.bytes.count
      queue.removeFirst()
      passed += 1
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Drops the queued frames: the receiver takes none.
  package mutating func discard() { (queue, queued) = ([], 0) }

  private mutating func add(_ frame: Waiting) {
    if Self.isStation(frame.number), let old = queue.firstIndex(where: { $0.number == frame.number }) {
      queued += frame.bytes.count - queue[old].bytes.count
      queue[old] = frame
      return
    }
    queue.append(frame)
    queued += frame.bytes.count
    let limit = lineRate.map { max(Int($0) / 10, 1029) } ?? Self.capacityWithoutRate
    while queued > limit, queue.count > 1 {
      // If there is no older observation, the oldest frame is dropped.
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

  /// Returns the station of observations: DF003, the twelve bits after the message number (RTCM 10403.3, tables 3.5-1 and
  /// 3.5-78). Other messages may belong to a network.
  private static func station(_ correction: borrowing RTCM3Frame, _ number: Int) -> Int? {
    guard isObservation(number), number != 4072, correction.payload.byteCount >= 3 else { return nil }
    return Int(correction.payload.bigEndian(1, as: UInt16.self) & 0x0FFF)
  }

  /// Whether a message has observations of satellites: 1001 to 1004, 1009 to 1012, MSM, and u-blox's own 4072 of a
  /// moving base (RTCM 10403.3, table 3.5-1).
  private static func isObservation(_ number: Int) -> Bool {
    switch number {
    case 1001...1004, 1009...1012, 1071...1137, 4072: true
    default: false
    }
  }

  /// Whether a message describes the station and its position. These messages are repeated.
  private static func isStation(_ number: Int) -> Bool {
    [1005, 1006, 1007, 1008, 1013, 1029, 1032, 1033, 1230].contains(number)
  }
}
