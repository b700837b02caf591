// SPDX-License-Identifier: Apache-2.0

/// Times the incomplete frame at the end of a live stream. A frame that has begun and is not complete after a second, while whole
/// frames lie behind its beginning, is a false start: bytes that look like a header.
///
///     stream.receive(bytes) { … }
///     stream.skipFalseStarts(if: &unfinished, at: now) { … }
///
/// In a recording the bytes behind a false start are found at its end, and nothing is timed.
public struct UnfinishedFrame: Sendable {
  /// The age in nanoseconds at which a frame is refuted.
  public static var longestNanoseconds: UInt64 { 1_000_000_000 }

  /// The number of bytes of the stream before the frame, and when it was first seen.
  private var begun: (offset: UInt64, nanoseconds: UInt64)?

  public init() {}

  /// Times the incomplete frame at the end of a stream. Returns whether it is older than a second.
  ///
  /// - Parameters:
  ///   - stream: the stream after its last bytes.
  ///   - nanoseconds: the present time of a monotonic clock.
  mutating func update(by stream: borrowing FrameStream, at nanoseconds: UInt64) -> Bool {
    guard stream.isInsideFrame else {
      begun = nil
      return false
    }
    guard let begun, begun.offset == stream.offset else {
      begun = (stream.offset, nanoseconds)
      return false
    }
    return nanoseconds >= begun.nanoseconds && nanoseconds - begun.nanoseconds >= Self.longestNanoseconds
  }
}

extension FrameStream {
  /// Gives up an incomplete frame of a live line that is older than a second and holds whole ones. Called after `receive`; `body`
  /// receives the frames behind the false start.
  ///
  /// - Parameters:
  ///   - unfinished: the age of the frame.
  ///   - nanoseconds: the present time of a monotonic clock.
  ///   - body: gets each frame that the beginning held back.
  public mutating func skipFalseStarts(
    if unfinished: inout UnfinishedFrame, at nanoseconds: UInt64, _ body: (borrowing Frame) -> Void
  ) {
    if unfinished.update(by: self, at: nanoseconds) { skipFalseStarts(body) }
  }
}
