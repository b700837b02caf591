// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import ReceiverStream
import WireBytes

/// The reason why bytes are not a recording of a receiver.
package enum RecordingFault {
  /// A file without a frame in this number of bytes is not a recording. A sparse file may have any size.
  package static let longestSearch: UInt64 = 1 << 30

  /// Returns nil if they are a recording.
  ///
  /// - Parameter isUTF16: whether they begin with the byte order mark of UTF-16.
  package static func reason(_ counters: StreamCounters, bytes: UInt64, isUTF16: Bool = false) -> String? {
    if counters.frames > 0 { return nil }
    return isUTF16
      ? "is text in UTF-16, in which no frame is found; convert it with `iconv -f UTF-16 -t US-ASCII`"
      : problem(counters, bytes: bytes)
  }

  /// Whether a file that begins with these bytes has the byte order mark of UTF-16, as a text editor or a shell writes it.
  package static func isUTF16(_ bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= 2 else { return false }
    let mark = bytes.littleEndian(0, as: UInt16.self)
    return mark == 0xFEFF || mark == 0xFFFE
  }

  /// The reason why a file is not a recording of a receiver; nil if it is one. It is read up to its first frame.
  ///
  /// - Throws: `FileError` or `RecordingError` for a file that cannot be read.
  package static func reason(ofFile path: String) throws -> String? {
    // Opening a FIFO would wait for its writer.
    guard FileLookup.isRegularFile(path) || !FileLookup.exists(path) else { return nil }
    var file = try InputFile(opening: path)
    var recorded = RecordedBytes()
    var stream = FrameStream()
    var isUTF16 = false
    while stream.counters.frames == 0, recorded.count < longestSearch, let piece = try file.next() {
      if recorded.count == 0 { isUTF16 = Self.isUTF16(piece) }
      try recorded.receive(piece) { bytes in stream.receive(bytes) { _ in } }
    }
    _ = try recorded.finish { bytes in stream.receive(bytes) { _ in } }
    stream.finish { _ in }
    return reason(stream.counters, bytes: recorded.count, isUTF16: isUTF16)
  }

  /// The reason why bytes cannot be replayed; sentences without a checksum can be replayed. SPARTN has short checksums,
  /// which occur in text and in noise: if there are only SPARTN frames, they count only if they are half of the bytes.
  package static func replayReason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    let receiverFrames = counters.frames - counters.spartnFrames
    let isSPARTN = counters.spartnFrames > 0 && counters.skippedBytes < bytes / 2
    if receiverFrames > 0 || isSPARTN || isWithoutChecksums(counters, bytes: bytes) { return nil }
    return problem(counters, bytes: bytes)
  }

  /// Whether the bytes are sentences without a checksum, and not noise in which a few of them occur. A sentence has at
  /// most 82 bytes (NMEA 0183, 5.3); half of the bytes is enough.
  package static func isWithoutChecksums(_ counters: StreamCounters, bytes: UInt64) -> Bool {
    counters.withoutChecksum > 0 && counters.withoutChecksum * 82 * 2 >= bytes
  }

  /// The diagnosis for a line without a valid frame, with the next step; nil if there are no bytes, or no diagnosis
  /// yet.
  package static func fault(_ counters: StreamCounters, bytes: UInt64) -> String? {
    if let fault = checksumFault(counters, bytes: bytes) { return fault }
    return counters.frames == 0 && bytes >= 48
      ? "no valid frame in \(bytes) bytes; the baud rate does not fit, or the device is not a receiver" : nil
  }

  /// The diagnosis from the checksums of a line without a valid frame; nil if there is none.
  package static func checksumFault(_ counters: StreamCounters, bytes: UInt64) -> String? {
    guard counters.frames == 0, bytes > 0 else { return nil }
    if isWithoutChecksums(counters, bytes: bytes) {
      return "its sentences have no checksum and are ignored; enable the checksum in the receiver"
    }
    return isWithWrongChecksums(counters, bytes: bytes)
      ? "the checksums of its frames are wrong, so bytes are lost or changed; check the cable and the baud rate" : nil
  }

  /// Whether the bytes are frames with wrong checksums, and not noise in which a few of them occur.
  private static func isWithWrongChecksums(_ counters: StreamCounters, bytes: UInt64) -> Bool {
    counters.badChecksums > 1 && counters.badChecksums * 82 * 2 >= bytes
  }

  private static func problem(_ counters: StreamCounters, bytes: UInt64) -> String {
    if bytes == 0 { return "is empty" }
    if isWithWrongChecksums(counters, bytes: bytes) {
      return
        "\(counters.badChecksums) frames have wrong checksums and are ignored; record them again over a line without faults"
    }
    return isWithoutChecksums(counters, bytes: bytes)
      ? "\(counters.withoutChecksum) sentences have no checksum and are ignored; enable the checksum in the receiver"
      : "no frame of NMEA, UBX or RTCM 3 in \(bytes) byte\(bytes == 1 ? "" : "s"); name a recording of a receiver"
  }
}
