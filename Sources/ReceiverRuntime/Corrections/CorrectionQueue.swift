// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import ReceiverStream
import WireBytes

/// The queue of RTCM 3 and SPARTN corrections from a source to a receiver: whole frames with a correct checksum, no more than
/// the line can carry. SPARTN also arrives within RXM-PMP of an L-band receiver.
///
/// If more arrive, the oldest observations are dropped as whole frames, because new observations are worth more. Of the
/// messages that describe the station, only the newest of each is stored. The areas and the keys of SPARTN are not dropped as
/// long as there is an observation. The value does not use a clock or a source.
package struct CorrectionQueue: ~Copyable {
  /// Older observations are dropped. Receivers ignore observations after 60 s by default (CFG-NAVSPG-CONSTR_DGNSSTO),
  /// long after newer ones have arrived.
  package static let longestAge = Milliseconds(10_000)
  /// The capacity of the queue for a line without a rate, bytes.
  static let capacityWithoutRate = 32_768
  /// The maximum size of frames that are returned together, bytes, unless a single frame is longer.
  static let burst = 1024

  /// The rate of the line, baud; nil if it has none. The capacity of the queue is the number of bytes that the line
  /// carries in a second, for SPARTN in five: a service sends the corrections of all its areas at once, every five to thirty
  /// seconds.
  package var lineRate: UInt32?
  /// The number of frames returned.
  package private(set) var passed: UInt64 = 0
  /// The number of frames dropped: too old, or more than the line can carry.
  package private(set) var dropped: UInt64 = 0
  /// Whether the receiver accepts SPARTN; frames of it are dropped otherwise.
  package var acceptsSPARTN = false
  /// The number of SPARTN frames of the source, and of the encrypted ones among them.
  package private(set) var spartnFrames: UInt64 = 0
  package private(set) var encryptedFrames: UInt64 = 0
  /// The number of bytes of the source that are not part of a correction.
  package var skippedBytes: UInt64 { stream.counters.skippedBytes }

  /// The station of the last observations, 0…4095; nil before the first.
  package private(set) var station: Int?

  private var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
  private var unfinished = UnfinishedFrame()
  private var lBand = LBandStream()
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

  /// The frames that bytes of a source complete.
  package enum Arrival: Sendable {
    case nothing
    /// Texts and the description of the station, which a caster also sends before it has the position that it needs.
    case descriptions
    case corrections
  }

  /// Handles bytes of the source.
  ///
  /// - Parameter body: receives each frame of RTCM 3.
  @discardableResult
  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, _ body: (borrowing RTCM3Frame) -> Void = { _ in }
  ) -> Arrival {
    var frames: [Waiting] = []
    var found = station
    var (spartn, encrypted) = (0, 0)
    func takeSPARTN(_ correction: borrowing SPARTNFrame) {
      spartn += 1
      if correction.header.encryption != nil { encrypted += 1 }
      guard acceptsSPARTN else { return }
      // Areas and keys are sent once in minutes. Numbers of RTCM 3 are above zero.
      let isObservation = correction.messageType != 2 && correction.messageType != 4
      frames.append(
        Waiting(
          number: -1 - correction.messageType, bytes: [UInt8](copying: correction.bytes), arrivedAt: now,
          isObservation: isObservation))
    }
    // Moved out of the queue, which the stream's closure must not change.
    var lBand = LBandStream()
    swap(&lBand, &self.lBand)
    func take(_ frame: borrowing Frame) {
      if let correction = frame.spartn { return takeSPARTN(correction) }
      if let data = frame.lBandData { return lBand.receive(data, takeSPARTN) }
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
    swap(&lBand, &self.lBand)
    for frame in frames { add(frame) }
    spartnFrames += UInt64(spartn)
    encryptedFrames += UInt64(encrypted)
    if spartn > 0 || frames.contains(where: { !Self.isStation($0.number) }) { return .corrections }
    return frames.isEmpty ? .nothing : .descriptions
  }

  /// Discards an incomplete frame after the source was lost.
  package mutating func reset() {
    stream.reset()
    lBand = LBandStream()
    station = nil
  }

  /// Drops the observations that are too old, also while the line takes none.
  package mutating func dropOld(at now: Instant) {
    let before = queue.count
    queue.removeAll { $0.isObservation && now > $0.arrivedAt + Self.longestAge }
    dropped += UInt64(before - queue.count)
    if queue.count != before { queued = queue.reduce(0) { $0 + $1.bytes.count } }
  }

  /// Returns the next whole frames for the receiver; nil if there are none.
  package mutating func next(at now: Instant) -> [UInt8]? {
    dropOld(at: now)
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
    let (seconds, longest) = frame.number < 0 ? (5, SPARTNFrame.longest) : (1, 1029)
    let limit = lineRate.map { max(Int($0) / 10 * seconds, longest) } ?? Self.capacityWithoutRate
    while queued > limit, queue.count > 1 {
      // If there is no older observation, the oldest frame is dropped.
      let oldest = queue.dropLast().firstIndex { $0.isObservation } ?? 0
      queued -= queue[oldest].bytes.count
      queue.remove(at: oldest)
      dropped += 1
    }
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

/// Finds the SPARTN frames of an L-band satellite, which a NEO-D9S sends in pieces (RXM-PMP). A receiver treats them as SPARTN of
/// its port (u-blox ZED-F9P integration manual, 3.1.6.2).
private struct LBandStream {
  /// The start of a frame, at most the longest one and a piece.
  private var bytes: [UInt8] = []

  mutating func receive(_ piece: RawSpan, _ body: (borrowing SPARTNFrame) -> Void) {
    let joined = bytes + [UInt8](copying: piece)
    let all = unsafe joined.span.bytes
    var at = 0
    scan: while at < all.byteCount {
      switch SPARTNFrame.scan(all, from: at) {
      case .frame(let length):
        body(SPARTNFrame(checked: all.extracting(at..<at + length)))
        at += length
      case .needs: break scan
      case .noSync, .badChecksum: at += 1
      }
    }
    bytes = Array(joined[at...])
  }
}
