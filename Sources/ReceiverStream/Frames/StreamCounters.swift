/// What a stream consisted of, and why bytes were skipped.
public struct StreamCounters: Equatable, Sendable {
  /// Frames by protocol.
  public var nmeaFrames: UInt64 = 0
  public var ubxFrames: UInt64 = 0
  public var rtcm3Frames: UInt64 = 0
  public var spartnFrames: UInt64 = 0
  /// Bytes that belong to no frame.
  public var skippedBytes: UInt64 = 0
  /// What looked like a frame and had a wrong checksum.
  public var badChecksums: UInt64 = 0
  /// What looked like a frame and was longer than its protocol allows.
  public var tooLong: UInt64 = 0
  /// Sentences that were cut by a control character, a new `$` or a byte that is not ASCII.
  public var brokenSentences: UInt64 = 0
  /// Lines that look like a sentence and have no checksum.
  public var withoutChecksum: UInt64 = 0
  /// Frames that were not whole when the stream ended or stalled.
  public var cutFrames: UInt64 = 0

  @inlinable public init() {}

  /// Frames of all protocols.
  @inlinable public var frames: UInt64 { nmeaFrames + ubxFrames + rtcm3Frames + spartnFrames }
}
