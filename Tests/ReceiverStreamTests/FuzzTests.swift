// SPDX-License-Identifier: Apache-2.0
import GPSD
import NMEA
import ReceiverStream
import TestSupport
import Testing
import UBX

/// Inputs that no receiver sends. After each input every byte is in a frame or counted as skipped, every fix is
/// within its bounds, and the next epochs of a working receiver give its position.
@Suite("No input causes harm")
struct FuzzTests {
  /// The complete decoder: stream, assembler, lines.
  private struct Pipeline: ~Copyable {
    private var stream = FrameStream()
    private var assembler = EpochAssembler(reference: UTCTime(2025, 12, 9))
    private var line = JSONLine()
    private(set) var reports = 0
    /// The first implausible fix.
    private(set) var complaint: String?
    private var lastFix = Fix()
    private var streamBytes: UInt64 = 0
    private var frameBytes: UInt64 = 0

    mutating func receive(_ bytes: [UInt8]) {
      var stream = FrameStream()
      swap(&stream, &self.stream)
      stream.receive(bytes.raw) {
        frameBytes += UInt64($0.bytes.byteCount)
        receive($0)
      }
      swap(&stream, &self.stream)
      streamBytes += UInt64(bytes.count)
    }

    /// Receives a known frame without a stream.
    mutating func receive(frame bytes: [UInt8]) {
      var cursor = FrameCursor(bytes.raw)
      while let frame = cursor.next() { receive(frame) }
    }

    private mutating func receive(_ frame: borrowing Frame) {
      var complaint: String?
      var count = 0
      var last: Fix?
      assembler.receive(frame) { report, sky in
        line.tpv(report.fix)
        line.sky(sky, report.fix)
        count += 1
        last = report.fix
        complaint = complaint ?? report.fix.complaint
      }
      line.removeAll()
      reports += count
      lastFix = last ?? lastFix
      self.complaint = self.complaint ?? complaint
    }

    /// Checks the invariants, after some epochs of a working receiver.
    mutating func check() {
      for second in 20...25 { receive(navPVT(second) + navEOE(second)) }
      var stream = FrameStream()
      swap(&stream, &self.stream)
      stream.finish {
        frameBytes += UInt64($0.bytes.byteCount)
        receive($0)
      }
      #expect(frameBytes + stream.counters.skippedBytes == streamBytes)
      #expect(complaint == nil)
      #expect(reports > 100)
      #expect(lastFix.latitudeDegrees == 47.2852395 && lastFix.longitudeDegrees == 8.5652537, "\(lastFix)")
    }
  }

  @Test("Mutated recordings of all protocols", arguments: 1...4 as ClosedRange<UInt64>)
  func mutated(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pipeline = Pipeline()
    let scenes = Self.scenes
    for _ in 0..<12_500 {
      var bytes = random.element(of: scenes)
      for _ in 0..<random.int(0...3) { bytes[random.int(0...bytes.count - 1)] = random.byte() }
      if random.oneIn(8) { bytes.removeSubrange(0..<random.int(0...bytes.count)) }
      pipeline.receive(bytes)
    }
    pipeline.check()
  }

  @Test("Sentences with right checksums and wild fields", arguments: 1...4 as ClosedRange<UInt64>)
  func sentences(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pipeline = Pipeline()
    for _ in 0..<20_000 { pipeline.receive(frame: Wire.nmea(Self.wildSentence(&random))) }
    pipeline.check()
  }

  @Test("Messages with right checksums and wild payloads", arguments: 1...4 as ClosedRange<UInt64>)
  func messages(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pipeline = Pipeline()
    let identities = MessageLayout.all.map(\.identity).filter { $0.messageClass == 1 || $0.messageClass == 0x28 }
    for _ in 0..<20_000 {
      let identity = random.element(of: identities)
      pipeline.receive(frame: Wire.ubx(identity.messageClass, identity.messageID, Self.wildPayload(&random)))
    }
    pipeline.check()
  }

  /// Messages and sentences of a working receiver.
  private static var scenes: [[UInt8]] {
    let sentences = [rmc("101112.00"), gga("101112.00"), gll("101112"), zda("101113"), gsa3D, vtg] + gsv
    return sentences.map { Wire.nmea($0) } + [navPVT(12), navEOE(12), navPVT(13), Wire.rtcm3([0x3E, 0xD0, 1, 2])]
  }

  private static func wildSentence(_ random: inout SeededRandomNumberGenerator) -> String {
    let names = [
      "GPGGA", "GNRMC", "GNGNS", "GPGLL", "GPVTG", "GNGSA", "GPGST", "GLGSV", "GPZDA", "PGRME", "PGRMV", "PGRMF",
      "PSTI",
    ]
    let values = [
      "", "A", "V", "N", "S", "E", "W", "D", "0", "1", "3", "-1", "99999999", "1e5", "235960.999", "000000",
      "101112.00",
      "310125", "4717.11437", "9000.0", "00833.9", "18000.0", "0.0", "-0", "360", "030", "ANRF", "FFFFFFFF", " ",
    ]
    var text = random.element(of: names)
    for _ in 0..<random.int(0...20) { text += "," + random.element(of: values) }
    return text
  }

  private static func wildPayload(_ random: inout SeededRandomNumberGenerator) -> [UInt8] {
    let lengths = [0, 4, 8, 16, 18, 20, 28, 36, 40, 44, 52, 60, 64, 72, 84, 92, 100, 200]
    var payload = random.bytes(random.element(of: lengths))
    // Values at the ends of their ranges make arithmetic overflow.
    let ends: [UInt8] = [0, 1, 3, 0x7F, 0x80, 0xFF]
    for index in payload.indices where random.oneIn(2) { payload[index] = random.element(of: ends) }
    return payload
  }
}

extension Fix {
  /// Returns the value that violates the assembler's bounds; nil if there is none.
  var complaint: String? {
    if abs(latitudeDegrees ?? 0) > 90 || abs(longitudeDegrees ?? 0) > 180 { return "position of \(self)" }
    for angle in [courseDegrees, headingDegrees, magneticHeadingDegrees] where !(0...360).contains(angle ?? 0) {
      return "course of \(self)"
    }
    if !(0..<10_000).contains(speedMetresPerSecond ?? 0) { return "speed of \(self)" }
    for accuracy in [horizontalAccuracyMetres, verticalAccuracyMetres, speedAccuracyMetresPerSecond] {
      if !(0...).contains(accuracy ?? 0) { return "accuracy of \(self)" }
    }
    return hasPosition && accuracySource == .none ? "no accuracy of \(self)" : nil
  }
}
