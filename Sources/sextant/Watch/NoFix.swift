// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import ReceiverStream

/// Why a watched receiver gave no fix, derived from its bytes, with the next step.
struct NoFix {
  /// The number of bytes from the device.
  var bytes: UInt64
  var counters: StreamCounters
  /// The number of epochs. None had a position.
  var epochs: Int
  /// The receiver's last error or warning.
  var warning: String?
  /// Whether the bytes come from a recording: replayed, or on standard input.
  var isReplay = false

  var text: String { "no fix was received: \(cause)" }

  private var cause: String {
    if let warning { return "the receiver warns: \(warning)" }
    if epochs > 0 {
      return "the receiver has no position yet; check the antenna and its view of the sky"
    }
    if bytes == 0, isReplay { return "the input has no frame of NMEA, UBX or RTCM 3; name a recording of a receiver" }
    if bytes == 0 {
      return "no byte arrived; check the receiver's supply, and that its TX is wired to this port's RX"
    }
    if counters.frames == 0 {
      return NoRecording.fault(counters, bytes: bytes)
        ?? "no valid frame in \(bytes) bytes; check the wiring and the baud rate"
    }
    if counters.nmeaFrames + counters.ubxFrames == 0 {
      return "it sends only \(counters.rtcm3Frames > 0 ? "RTCM 3" : "SPARTN"), as a source of corrections does;"
        + " enable NMEA or UBX in the receiver"
    }
    return
      "none of \(counters.frames) messages has a time or a position; enable RMC and GGA, or NAV-PVT, in the receiver"
  }
}
