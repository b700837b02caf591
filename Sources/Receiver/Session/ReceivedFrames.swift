import MonotonicTime
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// What the frames of a piece say, collected while the listener has them.
struct ReceivedFrames {
  var evidence: VendorEvidence
  var watch: ConfigurationWatch?
  var request: RequestInFlight?
  var outcome: Outcome?
  var frames = 0
  var isLost = false
  var sawBootText = false
  /// MON-VER that no question waits for any more.
  var version: [UInt8]?
  /// LOG-BATCH payloads.
  var batch: [[UInt8]] = []
  let looks: Bool

  init(evidence: VendorEvidence, watch: ConfigurationWatch?, request: RequestInFlight?, looks: Bool) {
    self.evidence = evidence
    self.watch = watch
    self.request = request
    self.looks = looks
  }

  mutating func receive(_ frame: borrowing Frame, at now: Instant, _ bitRate: UInt32?) {
    // What the host has asked comes back on a line with an echo: it is not heard of a receiver.
    if let ubx = frame.ubx, ubx.payload.byteCount == 0 { return }
    frames += 1
    if looks { evidence.receive(frame) }
    if watch != nil, watch!.receive(frame, at: now) { isLost = true }
    switch frame.kind {
    case .ubx:
      guard let ubx = frame.ubx else { return }
      if ubx.identity == .logBATCH { batch.append([UInt8](copying: ubx.payload)) }
      if request == nil, ubx.identity == .monVER, ubx.payload.byteCount > 0 {
        version = [UInt8](copying: ubx.payload)
      }
      if request != nil, outcome == nil { outcome = request!.receive(ubx, at: now, bitRate: bitRate) }
    case .nmea:
      if let sentence = frame.nmea, sentence.formatter == Formatter("TXT") { sawBootText = true }
    case .rtcm3, .spartn: break
    }
  }
}
