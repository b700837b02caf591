// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import ReceiverStream
import TestSupport
import Testing

@testable import sextant

@Suite("The reason of a watch without a fix")
struct NoFixTests {
  private func text(bytes: UInt64, epochs: Int = 0, _ set: (inout StreamCounters) -> Void = { _ in }) -> String {
    var counters = StreamCounters()
    set(&counters)
    return NoFix(bytes: bytes, counters: counters, epochs: epochs).text
  }

  @Test("A silent line: supply and wiring")
  func silent() { #expect(text(bytes: 0).contains("no byte arrived")) }

  @Test("A silent network source: its server or sender, and no wiring")
  func silentNetwork() throws {
    for name in ["gpsd://localhost", "tcp://localhost:2000", "udp://:10110"] {
      var noFix = NoFix(bytes: 0, counters: StreamCounters(), epochs: 0)
      let advice = try #require(try LineAddress(name).networkSource?.adviceOnSilence)
      noFix.networkAdvice = advice
      #expect(noFix.text.hasSuffix("no byte arrived; \(advice)"))
      noFix.bytes = 30
      #expect(noFix.text.hasSuffix("no valid frame in 30 bytes; \(advice)"))
      #expect(Source.adviceOnSilence(of: name) == advice)
    }
    #expect(Source.adviceOnSilence(of: "/dev/ttyACM0").contains("wiring"))
  }

  @Test("Bytes without valid frames: wiring and rate")
  func noise() {
    #expect(text(bytes: 4711) { $0.skippedBytes = 4711 }.contains("no valid frame in 4711 bytes"))
    #expect(text(bytes: 400) { $0.withoutChecksum = 7 }.contains("no checksum"))
    #expect(text(bytes: 100_000) { $0.withoutChecksum = 7 }.contains("no valid frame in 100000 bytes"))
  }

  @Test("A file is refused for a replay unless it has frames of a receiver, or consists of SPARTN or bare sentences")
  func replays() {
    func reason(bytes: UInt64, _ set: (inout StreamCounters) -> Void) -> String? {
      var counters = StreamCounters()
      set(&counters)
      return RecordingFault.replayReason(counters, bytes: bytes)
    }
    #expect(reason(bytes: 0) { _ in } == "is empty")
    let text = reason(bytes: 4000) { ($0.spartnFrames, $0.skippedBytes) = (1, 3500) }
    #expect(text?.contains("no frame of NMEA, UBX or RTCM 3 in 4000 bytes") == true)
    #expect(reason(bytes: 4000) { ($0.withoutChecksum, $0.skippedBytes) = (2, 4000) } != nil)
    #expect(reason(bytes: 4000) { ($0.withoutChecksum, $0.skippedBytes) = (60, 4000) } == nil)
    #expect(reason(bytes: 4000) { ($0.spartnFrames, $0.skippedBytes) = (20, 0) } == nil)
    #expect(reason(bytes: 400_000) { ($0.nmeaFrames, $0.skippedBytes) = (1, 399_930) } == nil)
  }

  @Test("A source of corrections is recognised")
  func base() {
    #expect(text(bytes: 9000) { $0.rtcm3Frames = 12 }.contains("it sends only RTCM 3"))
    #expect(text(bytes: 9000) { $0.spartnFrames = 12 }.contains("it sends only SPARTN"))
  }

  @Test("A receiver that replies and sends binary messages of its own: the sentences to enable")
  func binary() {
    var noFix = NoFix(bytes: 4000, counters: StreamCounters(), epochs: 0)
    noFix.identified = "SkyTraq receiver"
    #expect(noFix.text.contains("SkyTraq receiver replies, and sends no sentence"))
  }

  @Test("Messages without time and position: the messages to enable")
  func otherMessages() {
    let text = text(bytes: 9000) {
      $0.rtcm3Frames = 3
      $0.nmeaFrames = 9
    }
    #expect(text.contains("none of 12 messages has a time or a position"))
  }

  @Test("A recording without fixes of a live receiver: the command that prints stored ones")
  func storedFixes() {
    var counters = StreamCounters()
    counters.ubxFrames = 64
    var noFix = NoFix(bytes: 9000, counters: counters, epochs: 0)
    noFix.isReplay = true
    #expect(noFix.text.contains("none of 64 messages") && noFix.text.contains("`sextant decode` prints"))
    #expect(!noFix.text.contains("enable"))
  }

  @Test("Epochs without a position: the antenna")
  func noPosition() { #expect(text(bytes: 9000, epochs: 30) { $0.nmeaFrames = 90 }.contains("view of the sky")) }

  @Test("Proprietary sentences other than PUBX,00 have no position")
  func proprietary() {
    func hasOthers(_ sentences: [String]) -> Bool {
      var noFix = NoFix(bytes: 9000, counters: StreamCounters(), epochs: 30)
      var stream = FrameStream()
      let bytes = sentences.flatMap { Wire.nmea($0) }
      unsafe stream.receive(bytes.span.bytes) { noFix.receive($0) }
      return noFix.hasOthers
    }
    let own = ["GPGSV,1,1,01,05,40,083,46", "GPGSA,A,3,05,07,08,,,,,,,,,,1.8,1.0,1.5"]
    #expect(!hasOthers(own + ["PMTK705,AXN_2.51_3339_19071200,5632,PA6H,1.0", "PMTK001,314,3", "PAIR001,051,0"]))
    #expect(hasOthers(own + ["GPGLL,4800.0000,N,01100.0000,E,120000.000,A,A"]))
    let position = "PUBX,00,120000.00,4800.0000,N,01100.0000,E,500.0,G3,2.1,2.0,0.0,0.0,0.0,,1.0,1.0,1.0,8,0,0"
    #expect(hasOthers(own + [position]))
  }

  @Test("Epochs of sentences without a position: the sentences to enable")
  func withoutPositions() {
    var noFix = NoFix(bytes: 9000, counters: StreamCounters(), epochs: 30)
    noFix.sentences = ["GSV", "GSA"]
    #expect(noFix.text.contains("it sends GSA, GSV and no sentence with a position; enable RMC and GGA"))
    noFix.hasOthers = true
    #expect(noFix.text.contains("view of the sky"))
  }
}
