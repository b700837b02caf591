import ReceiverStream
import Testing

@testable import sextant

@Suite("Why watch saw no fix")
struct NoFixTests {
  private func text(bytes: UInt64, epochs: Int = 0, _ set: (inout StreamCounters) -> Void = { _ in }) -> String {
    var counters = StreamCounters()
    set(&counters)
    return NoFix(bytes: bytes, counters: counters, epochs: epochs).text
  }

  @Test("A silent line: supply and wiring")
  func silent() { #expect(text(bytes: 0).contains("not one byte came")) }

  @Test("Bytes that are no messages: wiring and rate")
  func noise() {
    #expect(text(bytes: 4711) { $0.skippedBytes = 4711 }.contains("of 4711 bytes nothing was understood"))
    #expect(text(bytes: 400) { $0.withoutChecksum = 7 }.contains("no checksum"))
  }

  @Test("A source of corrections is told to be one")
  func base() {
    #expect(text(bytes: 9000) { $0.rtcm3Frames = 12 }.contains("it sends RTCM 3 alone"))
    #expect(text(bytes: 9000) { $0.spartnFrames = 12 }.contains("it sends SPARTN alone"))
  }

  @Test("Messages without a time or a place: which to switch on")
  func otherMessages() {
    let text = text(bytes: 9000) {
      $0.rtcm3Frames = 3
      $0.nmeaFrames = 9
    }
    #expect(text.contains("of 12 messages none says a time or a place"))
  }

  @Test("Epochs without a position: the antenna")
  func noPosition() { #expect(text(bytes: 9000, epochs: 30) { $0.nmeaFrames = 90 }.contains("view of the sky")) }
}
