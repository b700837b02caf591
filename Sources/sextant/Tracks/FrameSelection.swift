// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// The frames of a stream that have one of the requested names and belong to an epoch of the requested time.
///
/// The last message of an epoch may have its date, also after its first report: its frames are held until the next epoch
/// begins. A frame between two epochs belongs to the earlier one. After `capacity` bytes without an epoch the last known
/// time decides.
package struct FrameSelection: ~Copyable {
  static var capacity: Int { 1 << 20 }

  private let messages: MessageSelection?
  private let range: TimeRange
  private var assembler = EpochAssembler()
  private var time: UTCTime?
  private var held: [UInt8] = []
  private var places: [(offset: UInt64, length: Int)] = []
  /// Whether the epoch of the held frames was reported.
  private var isReported = false
  /// The number of held frames of that epoch if the others may belong to the next one.
  private var ownPlaces: Int?

  /// - Parameters:
  ///   - messages: the requested names; nil for all frames.
  ///   - range: the times of the requested epochs.
  package init(messages: MessageSelection?, range: TimeRange) {
    self.messages = messages
    self.range = range
  }

  /// Handles the next frame, and passes each selected frame to `body`.
  package mutating func receive(_ frame: borrowing Frame, _ body: (borrowing Frame) -> Void) {
    let isNamed = messages?.contains(frame) ?? true
    if range.isOpen {
      if isNamed { body(frame) }
      return
    }
    var hasReport = false
    var (time, earlier) = (self.time, self.time)
    assembler.receive(frame) { report, _ in Self.note(report, &hasReport, &time, &earlier) }
    self.time = time
    if isReported, hasReport { release(at: earlier, body) }
    // Late satellites belong to the epoch that was reported.
    let isOpen = assembler.isOpen && assembler.state != .late
    // A frame that ends an epoch and leaves one open is the first of the next epoch.
    if hasReport, isOpen { isReported = true }
    if isReported {
      ownPlaces = isOpen ? ownPlaces ?? places.count : nil
      if assembler.state == .open { release(at: time, body) }
    }
    if isNamed {
      if isOpen || hasReport || isReported { hold(frame) } else if range.contains(time) { body(frame) }
    }
    if hasReport, !isOpen { isReported = true }
    if held.count > Self.capacity { releaseAll(body) }
  }

  /// Marks the end of the stream.
  package mutating func finish(_ body: (borrowing Frame) -> Void) {
    var hasReport = false
    var (time, earlier) = (self.time, self.time)
    assembler.finish { report, _ in Self.note(report, &hasReport, &time, &earlier) }
    self.time = time
    if isReported, hasReport { release(at: earlier, body) }
    releaseAll(body)
  }

  /// - Parameters:
  ///   - time: the time of the last epoch.
  ///   - earlier: the time of the epoch before, if this report has another one.
  private static func note(
    _ report: borrowing EpochAssembler.Report, _ hasReport: inout Bool, _ time: inout UTCTime?,
    _ earlier: inout UTCTime?
  ) {
    if !report.isUpdate { (hasReport, earlier) = (true, time) }
    if report.fixChanged { time = report.fix.time ?? time }
  }

  private mutating func hold(_ frame: borrowing Frame) {
    places.append((frame.offset, frame.bytes.byteCount))
    for index in 0..<frame.bytes.byteCount { held.append(frame.bytes.u1(index)) }
  }

  private mutating func releaseAll(_ body: (borrowing Frame) -> Void) {
    ownPlaces = nil
    release(at: time, body)
  }

  /// Releases the frames of the reported epoch.
  private mutating func release(at time: UTCTime?, _ body: (borrowing Frame) -> Void) {
    let count = ownPlaces ?? places.count
    let end = places[..<count].reduce(0) { $0 + $1.length }
    if range.contains(time) {
      let bytes = unsafe held.span.bytes
      var at = 0
      for place in places[..<count] {
        var cursor = FrameCursor(
          bytes.extracting(at..<at + place.length), offset: place.offset, protocols: .ofReceiversAndSPARTN)
        if let frame = cursor.next() { body(frame) }
        at += place.length
      }
    }
    held.removeFirst(end)
    places.removeFirst(count)
    (isReported, ownPlaces) = (false, nil)
  }
}
