// SPDX-License-Identifier: Apache-2.0
import FileSystem
import ReceiverStream
import Recording

/// Why bytes are not a recording of a receiver.
package enum NoRecording {
  /// A file without a frame in so many bytes is not a recording. A sparse file may have any size.
  package static let longestSearch: UInt64 = 1 << 30

  /// Nil if they are one.
  package static func reason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    counters.frames == 0 ? problem(counters, bytes: bytes) : nil
  }

  /// The reason why a file is not a recording of a receiver; nil if it is one. It is read up to its first frame.
  ///
  /// - Throws: `FileError` or `RecordingError` for a file that cannot be read.
  package static func reason(ofFile path: String) throws -> String? {
    // The opening of a FIFO would wait for its writer.
    guard FileLookup.isRegularFile(path) || !FileLookup.exists(path) else { return nil }
    var file = try InputFile(opening: path)
    var recorded = RecordedBytes()
    var stream = FrameStream()
    while stream.counters.frames == 0, recorded.count < longestSearch, let piece = try file.next() {
      try recorded.receive(piece) { bytes in stream.receive(bytes) { _ in } }
    }
    _ = try recorded.finish { bytes in stream.receive(bytes) { _ in } }
    stream.finish { _ in }
    return reason(stream.counters, bytes: recorded.count)
  }

  /// The reason why bytes cannot be replayed, which sentences without a checksum can be. SPARTN has short checksums, which
  /// occur in text and in noise: frames of SPARTN alone count only if they are half of the bytes.
  package static func replayReason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    let receiverFrames = counters.frames - counters.spartnFrames
    let isSPARTN = counters.spartnFrames > 0 && counters.skippedBytes < bytes / 2
    if receiverFrames > 0 || isSPARTN || isWithoutChecksums(counters, bytes: bytes) { return nil }
    return problem(counters, bytes: bytes)
  }

  /// Whether the bytes are sentences without a checksum, and not noise in which a few of them occur. A sentence has at
  /// most 82 bytes (NMEA 0183, 5.3); half of the bytes suffices.
  package static func isWithoutChecksums(_ counters: StreamCounters, bytes: UInt64) -> Bool {
    counters.withoutChecksum > 0 && counters.withoutChecksum * 82 * 2 >= bytes
  }

  private static func problem(_ counters: StreamCounters, bytes: UInt64) -> String {
    if bytes == 0 { return "is empty" }
    return isWithoutChecksums(counters, bytes: bytes)
      ? "\(counters.withoutChecksum) sentences have no checksum and are ignored; enable the checksum in the receiver"
      : "no frame of NMEA, UBX or RTCM 3 in \(bytes) byte\(bytes == 1 ? "" : "s"); name a recording of a receiver"
  }
}
