import ReceiverStream

/// Why bytes are not a recording of a receiver.
enum NoRecording {
  /// Nil if they are one.
  static func reason(_ counters: StreamCounters, bytes: UInt64) -> String? {
    guard counters.frames == 0 else { return nil }
    if bytes == 0 { return "is empty" }
    return counters.withoutChecksum > 0
      ? "\(counters.withoutChecksum) sentences have no checksum and are ignored; enable the checksum in the receiver"
      : "no frame of NMEA, UBX or RTCM 3 in \(bytes) bytes; name a recording of a receiver"
  }
}
