// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

@testable import RTCM3

@Suite("Frames of other makers")
struct FrameLayoutTests {
  /// Frames that receivers and their makers' programs sent: the configuration of the rate of an AT632 (CASIC), its request for
  /// MON-VER, a TAU1201's poll of its version, acknowledgement and CFG-TP (Allystar).
  private static let recorded: [(FrameLayout, UInt16, payload: String, frame: String)] = [
    (.casic, 0x0604, "E8030101", "BACE 0400 0604 E8030101 EC030705"),
    (.casic, 0x0601, "0A04FFFF", "BACE 0400 0601 0A04FFFF 0E040501"),
    (.allystar, 0x0A04, "", "F1D9 0A04 0000 0E34"),
    (.allystar, 0x0501, "0600", "F1D9 0501 0200 0600 0E37"),
    (.allystar, 0x0607, "40420F001202000010270000010D00", "F1D9 0607 0F00 40420F001202000010270000010D00 065F"),
  ]

  private func hex(_ digits: String) -> [UInt8] { [UInt8](hexadecimalDigits: digits.filter { $0 != " " })! }

  @Test("Recorded frames of CASIC and Allystar are read and written", arguments: recorded)
  func recordedFrames(layout: FrameLayout, identity: UInt16, payload: String, frame: String) {
    let bytes = hex(frame)
    #expect(layout.frame(identity, hex(payload)) == bytes)
    #expect(FrameLayout.scan(bytes[...]) == .frame(layout, identity, hex(payload), length: bytes.count))
    for count in 0..<bytes.count { #expect(FrameLayout.scan(bytes[..<count]) == .incomplete) }
    for index in bytes.indices {
      var wrong = bytes
      wrong[index] ^= 1
      if case .frame = FrameLayout.scan(wrong[...]) { Issue.record("byte \(index) is not checked") }
    }
  }

  @Test("A payload of CASIC is summed in words, the last one padded with zeros")
  func lastWord() {
    #expect(FrameLayout.casic.frame(0x0102, [1, 2, 3, 4, 5]) == hex("BACE 0500 0102 0102030405 0B020406"))
  }
}
