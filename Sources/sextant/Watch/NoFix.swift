import ReceiverStream

/// Why a receiver that was watched gave no fix, as far as what came from it tells, and what helps.
struct NoFix {
  /// What came from the device.
  var bytes: UInt64
  var counters: StreamCounters
  /// Epochs that came; none of them had a position.
  var epochs: Int

  var text: String { "no fix was received: \(cause)" }

  private var cause: String {
    if epochs > 0 {
      return "the receiver has no position yet; check the antenna and its view of the sky"
    }
    if bytes == 0 {
      return "not one byte came; check the receiver's supply, and that its TX is wired to this port's RX"
    }
    if counters.frames == 0 {
      return counters.withoutChecksum > 0
        ? "its sentences have no checksum, and are not believed; have the receiver add it"
        : "of \(bytes) bytes nothing was understood; check the wiring and the baud rate"
    }
    if counters.nmeaFrames + counters.ubxFrames == 0 {
      return "it sends \(counters.rtcm3Frames > 0 ? "RTCM 3" : "SPARTN") alone, as a source of corrections does;"
        + " have it write NMEA or UBX too"
    }
    return "of \(counters.frames) messages none says a time or a place; have the receiver write RMC and GGA, or NAV-PVT"
  }
}
