import ReceiverStream
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

  @Test("Bytes without valid frames: wiring and rate")
  func noise() {
    #expect(text(bytes: 4711) { $0.skippedBytes = 4711 }.contains("no valid frame in 4711 bytes"))
    #expect(text(bytes: 400) { $0.withoutChecksum = 7 }.contains("no checksum"))
  }

  @Test("A source of corrections is recognised")
  func base() {
    #expect(text(bytes: 9000) { $0.rtcm3Frames = 12 }.contains("it sends only RTCM 3"))
    #expect(text(bytes: 9000) { $0.spartnFrames = 12 }.contains("it sends only SPARTN"))
  }

  @Test("Messages without time and position: the messages to enable")
  func otherMessages() {
    let text = text(bytes: 9000) {
      $0.rtcm3Frames = 3
      $0.nmeaFrames = 9
    }
    #expect(text.contains("none of 12 messages has a time or a position"))
  }

  @Test("Epochs without a position: the antenna")
  func noPosition() { #expect(text(bytes: 9000, epochs: 30) { $0.nmeaFrames = 90 }.contains("view of the sky")) }
}
