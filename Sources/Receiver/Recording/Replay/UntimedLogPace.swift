// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import ReceiverStream
import WireBytes

/// Assigns the times of epochs to the bytes of a log without arrival times: the times of the fixes, or of the
/// observations in RTCM 3.
///
/// The bytes of an epoch are due together, as a receiver sends them. One second is used for an epoch without a time,
/// and if time steps back or forward by more than `longestGap`. A log without epochs is played at 9600 baud.
struct UntimedLogPace: ~Copyable {
  /// A longer gap in a log is an interruption of the recording, not a pause of the receiver, ns.
  static var longestGap: Int64 { 600 * 1_000_000_000 }
  static var usualGap: Int64 { 1_000_000_000 }
  /// The number of bytes without an epoch after which bytes are due at 9600 baud.
  static var longestEpoch: Int { 16_384 }
  static var nanosecondsPerByte: UInt64 { 1_041_667 }

  private var stream = FrameStream()
  private var assembler = EpochAssembler()
  /// The bytes without a time, and the number of bytes of the stream before them.
  private var open: [UInt8] = []
  private var openOffset: UInt64 = 0
  private var elapsed: UInt64 = 0
  private var lastTime: Int64?
  private var hadEpoch = false

  /// The ends of epochs in the bytes that the stream has processed.
  private struct Ends {
    var list: [(offset: UInt64, time: Int64?)] = []
    var observation: UInt32?
  }
  private var ends = Ends()

  /// Handles the next bytes of the log. `body` receives nanoseconds since the first epoch of the log, and the bytes due
  /// then.
  mutating func receive(_ piece: RawSpan, _ body: (UInt64, [UInt8]) -> Void) {
    for index in 0..<piece.byteCount { open.append(piece.u1(index)) }
    stream.receive(piece) { Self.take($0, &assembler, &ends) }
    release(body)
    if open.count > Self.longestEpoch {
      elapsed = elapsed.saturatingSum(UInt64(open.count) * Self.nanosecondsPerByte)
      handOut(open.count, body)
    }
  }

  /// Marks the end of the log. The remaining bytes belong to the last epoch.
  mutating func finish(_ body: (UInt64, [UInt8]) -> Void) {
    stream.finish { Self.take($0, &assembler, &ends) }
    release(body)
    if !open.isEmpty { handOut(open.count, body) }
  }

  private static func take(_ frame: borrowing Frame, _ assembler: inout EpochAssembler, _ ends: inout Ends) {
    let end = frame.offset + UInt64(frame.bytes.byteCount)
    assembler.receive(frame) { report, _ in
      if !report.isUpdate { ends.list.append((end, report.fix.time?.nanosecondsSince1970)) }
    }
    guard let correction = frame.rtcm3, let header = MSMHeader(correction), header.system == .gps else {
      return
    }
    if let last = ends.observation, last != header.epoch {
      // The end of the previous epoch is the start of this one.
      ends.list.append((frame.offset, Int64(last) * 1_000_000))
    }
    ends.observation = header.epoch
  }

  private mutating func release(_ body: (UInt64, [UInt8]) -> Void) {
    for (offset, time) in ends.list {
      let count = min(Int(clamping: Int64(offset) - Int64(openOffset)), open.count)
      if hadEpoch {
        var gap = Self.usualGap
        if let time, let lastTime, time >= lastTime {
          let (difference, isTooLarge) = time.subtractingReportingOverflow(lastTime)
          if !isTooLarge, difference <= Self.longestGap { gap = difference }
        }
        elapsed = elapsed.saturatingSum(UInt64(gap))
      }
      hadEpoch = true
      lastTime = time ?? lastTime.map { min($0, .max - Self.usualGap) + Self.usualGap }
      if count > 0 { handOut(count, body) }
    }
    ends.list.removeAll(keepingCapacity: true)
  }

  private mutating func handOut(_ count: Int, _ body: (UInt64, [UInt8]) -> Void) {
    body(elapsed, Array(open.prefix(count)))
    open.removeFirst(count)
    openOffset += UInt64(count)
  }
}
