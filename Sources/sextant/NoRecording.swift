// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// Why bytes are not a recording of a receiver.
enum NoRecording {
  /// Nil if they are one.
  static func reason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    counters.frames == 0 ? problem(counters, bytes: bytes) : nil
  }

  /// The reason why bytes cannot be replayed, which sentences without a checksum can be. SPARTN has short checksums, which
  /// occur in text and in noise: frames of SPARTN alone count only if they are half of the bytes.
  static func replayReason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    let receiverFrames = counters.frames - counters.spartnFrames
    let isSPARTN = counters.spartnFrames > 0 && counters.skippedBytes < bytes / 2
    if receiverFrames > 0 || isSPARTN || isWithoutChecksums(counters, bytes: bytes) { return nil }
    return problem(counters, bytes: bytes)
  }

  /// Whether the bytes are sentences without a checksum, and not noise in which a few of them occur. A sentence has at
  /// most 82 bytes (NMEA 0183, 5.3); half of the bytes suffices.
  static func isWithoutChecksums(_ counters: StreamCounters, bytes: UInt64) -> Bool {
    counters.withoutChecksum > 0 && counters.withoutChecksum * 82 * 2 >= bytes
  }

  private static func problem(_ counters: StreamCounters, bytes: UInt64) -> String {
    if bytes == 0 { return "is empty" }
    return isWithoutChecksums(counters, bytes: bytes)
      ? "\(counters.withoutChecksum) sentences have no checksum and are ignored; enable the checksum in the receiver"
      : "no frame of NMEA, UBX or RTCM 3 in \(bytes) bytes; name a recording of a receiver"
  }
}
