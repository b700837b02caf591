import GPSDJSON
import NMEA
import ReceiverStream
import TestSupport
import Testing
import UBX

/// Inputs nobody would write: what counts is that no one of them ends the process, and that what comes out of the
/// assembler is within its bounds.
@Suite("No input does harm")
struct FuzzTests {
  /// Bytes through the whole way: stream, assembler, lines.
  private struct Pipeline: ~Copyable {
    private var stream = FrameStream()
    private var assembler = EpochAssembler(reference: UTCTime(2025, 12, 9))
    private var line = JSONLine()
    private(set) var reports = 0
    /// What the first implausible fix was.
    private(set) var complaint: String?

    mutating func hear(_ bytes: [UInt8]) {
      var stream = FrameStream()
      swap(&stream, &self.stream)
      stream.receive(bytes.raw) { receive($0) }
      swap(&stream, &self.stream)
    }

    /// A frame that is known to be one, without a stream around it.
    mutating func hear(frame bytes: [UInt8]) {
      var cursor = FrameCursor(bytes.raw)
      while let frame = cursor.next() { receive(frame) }
    }

    private mutating func receive(_ frame: borrowing Frame) {
      var complaint: String?
      var heard = 0
      assembler.receive(frame) { report, sky in
        line.tpv(report.fix)
        line.sky(sky, report.fix)
        heard += 1
        complaint = complaint ?? report.fix.complaint
      }
      line.removeAll()
      reports += heard
      self.complaint = self.complaint ?? complaint
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
      pipeline.hear(bytes)
    }
    #expect(pipeline.complaint == nil)
    #expect(pipeline.reports > 100)
  }

  @Test("Sentences with right checksums and wild fields", arguments: 1...4 as ClosedRange<UInt64>)
  func sentences(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pipeline = Pipeline()
    for _ in 0..<20_000 { pipeline.hear(frame: Wire.nmea(Self.wildSentence(&random))) }
    #expect(pipeline.complaint == nil)
    #expect(pipeline.reports > 100)
  }

  @Test("Messages with right checksums and wild payloads", arguments: 1...4 as ClosedRange<UInt64>)
  func messages(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var pipeline = Pipeline()
    let identities = MessageLayout.all.map(\.identity).filter { $0.messageClass == 1 || $0.messageClass == 0x28 }
    for _ in 0..<20_000 {
      let identity = random.element(of: identities)
      pipeline.hear(frame: Wire.ubx(identity.messageClass, identity.messageID, Self.wildPayload(&random)))
    }
    #expect(pipeline.complaint == nil)
    #expect(pipeline.reports > 100)
  }

  /// Messages and sentences of a receiver that works.
  private static var scenes: [[UInt8]] {
    let sentences = [rmc("101112.00"), gga("101112.00"), gll("101112"), zda("101113"), gsa3D, vtg] + gsv
    return sentences.map { Wire.nmea($0) } + [navPVT(12), navEOE(12), navPVT(13), Wire.rtcm3([0x3E, 0xD0, 1, 2])]
  }

  private static func wildSentence(_ random: inout SeededRandomNumberGenerator) -> String {
    let names = [
      "GPGGA", "GNRMC", "GNGNS", "GPGLL", "GPVTG", "GNGSA", "GPGST", "GLGSV", "GPZDA", "PGRME", "PGRMV", "PSTI",
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
    // Bytes at the ends of their ranges are what arithmetic stumbles over.
    let ends: [UInt8] = [0, 1, 3, 0x7F, 0x80, 0xFF]
    for index in payload.indices where random.oneIn(2) { payload[index] = random.element(of: ends) }
    return payload
  }
}

extension Fix {
  /// Which value is not what the assembler promises; nil when all are.
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
