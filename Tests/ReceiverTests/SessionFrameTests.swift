// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import Receiver
import ReceiverStream
import TestSupport
import Testing

@Suite("The frames of a session")
struct SessionFrameTests {
  private static let epoch = [UInt8](
    """
    $GNRMC,120001.00,A,4807.0380,N,01131.0000,E,0.0,0.0,231125,,,A*46\r
    $GNGGA,120001.00,4807.0380,N,01131.0000,E,1,08,1.0,545.4,M,46.9,M,,*70\r

    """.utf8)
  private static let next = [UInt8]("$GNRMC,120002.00,A,4807.0380,N,01131.0000,E,0.0,0.0,231125,,,A*45\r\n".utf8)

  @Test("The tap gets each frame once, before the report of its epoch, however the bytes are divided")
  func order() {
    for size in [1, 7, 40, 1000] {
      var events: [String] = []
      var now = Instant.zero + Milliseconds(1000)
      var session = ReceiverSession(
        SessionSettings(intent: .readOnly, line: .usb), lineRate: nil, reference: nil, now: now)
      let bytes = Self.epoch + Self.next
      for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = Array(bytes[start..<min(start + size, bytes.count)])
        session.receive(
          piece.raw, at: now,
          frames: {
            if let sentence = $0.nmea { events.append(sentence.formatter == Formatter("RMC") ? "RMC" : "GGA") }
          }
        ) { _, _ in events.append("epoch") }
        now = now + Milliseconds(1)
      }
      // The next epoch ends this one.
      #expect(events == ["RMC", "GGA", "RMC", "epoch"], "\(size)")
    }
  }

  @Test("A frame that silence completes comes to the tap of the wake-up")
  func silence() {
    var now = Instant.zero + Milliseconds(1000)
    var session = ReceiverSession(
      SessionSettings(intent: .readOnly, line: .usb), lineRate: nil, reference: nil, now: now)
    var tapped = 0
    // A whole sentence behind the beginning of a long frame of UBX, which stays incomplete.
    let bytes: [UInt8] = [0xb5, 0x62, 0x01, 0x07, 0xff, 0x00] + Self.next
    session.receive(bytes.raw, at: now, frames: { _ in tapped += 1 }) { _, _ in }
    #expect(tapped == 0)
    for _ in 0..<100 where tapped == 0 {
      now = max(now, session.deadline ?? now + Milliseconds(100))
      session.wake(at: now, frames: { _ in tapped += 1 }) { _, _ in }
    }
    #expect(tapped == 1)
  }
}
