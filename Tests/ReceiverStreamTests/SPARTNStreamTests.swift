// SPDX-License-Identifier: Apache-2.0
import GPSD
import RTCM3
import ReceiverStream
import TestSupport
import Testing

@Suite("SPARTN in a stream")
struct SPARTNStreamTests {
  /// A broadcast message of areas, from the tests of u-blox' ubxlib.
  private let areas = hex(
    "73 04 07 E4 05 0A F0 6C 25 48 24 44 BC CF 80 36 4D E8 31 B7 5F 94 4B BF C8 BF A0 D7")

  private func frames(
    _ bytes: [UInt8], _ protocols: Frame.Protocols = .ofReceiversAndSPARTN
  ) -> (found: [FoundFrame], counters: StreamCounters) {
    var stream = FrameStream(protocols: protocols)
    var found: [FoundFrame] = []
    stream.receive(bytes.raw) { found.append(FoundFrame($0)) }
    stream.finish { found.append(FoundFrame($0)) }
    return (found, stream.counters)
  }

  private func spartn(_ random: inout SeededRandomNumberGenerator) -> [UInt8] {
    let header = SPARTNHeader(
      messageType: random.element(of: [0, 1, 2, 3, 4, 120]), subtype: UInt8(random.int(0...15)),
      check: random.element(of: MessageCheck.allCases), time: .since2010(UInt32(random.int(0...0xFFFF_FFFF))))
    let payload = random.bytes(random.int(0...1023))
    return written(room: SPARTNFrame.longest) { encodeFrame(header, payload: payload.raw, into: &$0) }
  }

  @Test("A frame is found among other protocols, if it is enabled")
  func asked() {
    let gga = Wire.nmea("GPGGA,1,2,3")
    let all = frames(gga + areas + gga)
    #expect(all.found.map(\.kind) == [.nmea, .spartn, .nmea])
    #expect(all.found.map(\.offset) == [0, UInt64(gga.count), UInt64(gga.count + areas.count)])
    #expect(all.counters.spartnFrames == 1)
    #expect(all.counters.frames == 3)
    #expect(all.counters.skippedBytes == 0)
  }

  @Test("Otherwise it is skipped, byte by byte")
  func notAsked() {
    let gga = Wire.nmea("GPGGA,1,2,3")
    let receivers = frames(gga + areas + gga, .ofReceivers)
    #expect(receivers.found.map(\.kind) == [.nmea, .nmea])
    #expect(receivers.counters.spartnFrames == 0)
    #expect(receivers.counters.skippedBytes == UInt64(areas.count))
    #expect(receivers.counters.badChecksums == 0)
  }

  @Test("How the stream is cut changes nothing", arguments: 1...8 as ClosedRange<UInt64>)
  func splitInvariance(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var mixed = MixedStream(frames: 10, &random)
    for _ in 0..<20 {
      mixed.append(spartn(&random))
      mixed.append(MixedStream.frame(&random))
    }
    let bytes = mixed.damaged(share: seed % 2 == 0 ? 0.001 : 0, &random).bytes
    let whole = frames(bytes)
    for most in [1, 7, 400] {
      var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
      var found: [FoundFrame] = []
      var at = 0
      while at < bytes.count {
        let end = min(bytes.count, at + random.int(1...most))
        stream.receive(bytes.raw.extracting(at..<end)) { found.append(FoundFrame($0)) }
        at = end
      }
      stream.finish { found.append(FoundFrame($0)) }
      #expect(found == whole.found)
      #expect(stream.counters == whole.counters)
    }
  }

  @Test("A damaged frame hides none behind it, and is not delivered", arguments: 1...8 as ClosedRange<UInt64>)
  func damage(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var mixed = MixedStream(frames: 1, &random)
    for _ in 0..<40 {
      mixed.append(spartn(&random))
      mixed.append(MixedStream.frame(&random))
    }
    let (bytes, intact) = mixed.damaged(share: 0.0005, &random)
    let found = frames(bytes).found
    for piece in intact {
      #expect(found.contains { $0.offset == UInt64(piece.offset) && $0.bytes == piece.bytes })
    }
    for frame in found where frame.kind == .spartn {
      #expect(SPARTNFrame.scan(frame.bytes.raw) == .frame(frame.bytes.count))
    }
  }

  @Test("Text with the character s loses no sentence, and no sentence waits for later bytes")
  func textWithPreamble() {
    let text = ascii("sssss passes s\r\nless is s") + [0x73]
    var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
    var sentences = 0
    for number in 0..<500 {
      let line = Wire.nmea("GPTXT,01,01,02,sss message \(number) ss")
      stream.receive((text + line).raw) { if $0.kind == .nmea { sentences += 1 } }
      #expect(sentences == number + 1)
    }
    #expect(stream.counters.badChecksums == 0)
    #expect(stream.counters.spartnFrames == 0)
    #expect(stream.counters.skippedBytes == UInt64(500 * text.count))
  }

  @Test("As a message it has a name and its bytes")
  func line() {
    var line = JSONLine()
    var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
    stream.receive(areas.raw) { line.message($0) }
    #expect(
      String(decoding: array(line.bytes), as: UTF8.self)
        == #"{"protocol":"SPARTN","name":"SPARTN-2-0","offset":0,"length":28,"#
        + #""raw":"730407e4050af06c25482444bccf80364de831b75f944bbfc8bfa0d7"}"# + "\n")
  }
}
