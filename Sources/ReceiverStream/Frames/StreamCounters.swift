// SPDX-License-Identifier: Apache-2.0

/// Counts of the frames of a stream, and the reasons of skipped bytes.
public struct StreamCounters: Equatable, Sendable {
  /// Frames by protocol.
  public var nmeaFrames: UInt64 = 0
  public var ubxFrames: UInt64 = 0
  public var rtcm3Frames: UInt64 = 0
  public var spartnFrames: UInt64 = 0
  /// Bytes outside of frames.
  public var skippedBytes: UInt64 = 0
  /// Frames with a wrong checksum.
  public var badChecksums: UInt64 = 0
  /// Frames longer than their protocol allows.
  public var tooLong: UInt64 = 0
  /// Sentences that are broken off by a control character, a new `$` or a byte that is not ASCII.
  public var brokenSentences: UInt64 = 0
  /// Sentences without a checksum.
  public var withoutChecksum: UInt64 = 0
  /// Frames that were incomplete when the stream ended or stalled.
  public var cutFrames: UInt64 = 0

  @inlinable public init() {}

  /// Frames of all protocols.
  @inlinable public var frames: UInt64 { nmeaFrames + ubxFrames + rtcm3Frames + spartnFrames }
}
