// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// The frames of a stream that have one of the requested names and belong to an epoch of the requested time.
///
/// The time of an epoch is known at its end, so its frames are held until then. A frame between two epochs belongs to the
/// earlier one. After `capacity` bytes without an epoch the last known time decides.
package struct FrameSelection: ~Copyable {
  static var capacity: Int { 1 << 20 }

  private let messages: MessageSelection?
  private let range: TimeRange
  private var assembler = EpochAssembler()
  private var time: UTCTime?
  private var held: [UInt8] = []
  private var places: [(offset: UInt64, length: Int)] = []

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
    var isReported = false
    var time = time
    assembler.receive(frame) { report, _ in
      guard !report.isUpdate else { return }
      isReported = true
      time = report.fix.time ?? time
    }
    // Late satellites belong to the epoch that was reported.
    let isOpen = assembler.isOpen && assembler.state != .late
    // A frame that ends an epoch and leaves one open is the first of the next epoch.
    if isReported, isOpen { release(at: time, body) }
    self.time = time
    if isNamed {
      if isOpen || isReported { hold(frame) } else if range.contains(time) { body(frame) }
    }
    if isReported && !isOpen || held.count > Self.capacity { release(at: time, body) }
  }

  /// Marks the end of the stream.
  package mutating func finish(_ body: (borrowing Frame) -> Void) {
    var time = time
    assembler.finish { report, _ in time = report.fix.time ?? time }
    release(at: time, body)
  }

  private mutating func hold(_ frame: borrowing Frame) {
    places.append((frame.offset, frame.bytes.byteCount))
    for index in 0..<frame.bytes.byteCount { held.append(frame.bytes.u1(index)) }
  }

  private mutating func release(at time: UTCTime?, _ body: (borrowing Frame) -> Void) {
    if range.contains(time) {
      let bytes = unsafe held.span.bytes
      var start = 0
      for place in places {
        var cursor = FrameCursor(
          bytes.extracting(start..<start + place.length), offset: place.offset,
          protocols: .ofReceiversAndSPARTN)
        if let frame = cursor.next() { body(frame) }
        start += place.length
      }
    }
    held.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }
}
