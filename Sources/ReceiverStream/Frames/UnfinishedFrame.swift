// SPDX-License-Identifier: Apache-2.0

/// Times the incomplete frame at the end of a live stream. A frame that is still incomplete after a second, while whole
/// frames follow its beginning, is a false start: bytes that look like a header.
///
///     stream.receive(bytes) { … }
///     stream.skipFalseStarts(if: &unfinished, at: now) { … }
///
/// In a recording the bytes after a false start are found at its end, without timing.
public struct UnfinishedFrame: Sendable {
  /// The age in nanoseconds at which a frame counts as a false start.
  public static var longestNanoseconds: UInt64 { 1_000_000_000 }

  /// The number of bytes of the stream before the frame, and when it was first seen.
  private var begun: (offset: UInt64, nanoseconds: UInt64)?

  public init() {}

  /// Times the incomplete frame at the end of a stream. Returns whether it is older than a second.
  ///
  /// - Parameters:
  ///   - stream: the stream after its last bytes.
  ///   - nanoseconds: the current time of a monotonic clock.
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
  /// Drops an incomplete frame of a live line that is older than a second and contains whole frames. Called after
  /// `receive`; `body` receives the frames after the false start.
  ///
  /// - Parameters:
  ///   - unfinished: the age of the frame.
  ///   - nanoseconds: the current time of a monotonic clock.
  ///   - body: receives each frame that the false start delayed.
  public mutating func skipFalseStarts(
    if unfinished: inout UnfinishedFrame, at nanoseconds: UInt64, _ body: (borrowing Frame) -> Void
  ) {
    if unfinished.update(by: self, at: nanoseconds) { skipFalseStarts(body) }
  }
}
