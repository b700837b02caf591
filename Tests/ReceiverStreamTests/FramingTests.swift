// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// A frame from the stream.
struct FoundFrame: Equatable {
  var kind: Frame.Kind
  var offset: UInt64
  var bytes: [UInt8]

  init(_ frame: borrowing Frame) {
    kind = frame.kind
    offset = frame.offset
    bytes = array(frame.bytes)
  }
}

/// The complete output of a stream.
struct Outcome: Equatable {
  var frames: [FoundFrame] = []
  var counters = StreamCounters()
  var offset: UInt64 = 0

  /// Feeds the bytes in pieces with the lengths that `next` returns.
  init(_ bytes: [UInt8], pieces next: () -> Int) {
    var stream = FrameStream()
    var at = 0
    while at < bytes.count {
      let end = min(bytes.count, at + next())
      stream.receive(bytes.raw.extracting(at..<end)) { frames.append(FoundFrame($0)) }
      at = end
    }
    stream.finish { frames.append(FoundFrame($0)) }
    counters = stream.counters
    offset = stream.offset
  }

  /// Feeds the bytes at once.
  init(_ bytes: [UInt8]) { self.init(bytes) { bytes.count } }
}

@Suite("From bytes to frames")
struct FramingTests {
  @Test("Pieces in arrays give the frames of the same bytes in spans")
  func arrays() {
    let bytes = Array("$GPGLL,4717.115210,N,00833.912288,E,092725.00,A*12\r\n$GNTXT,01,01,02,x*00\r\n".utf8)
    for size in 1...bytes.count {
      var stream = FrameStream()
      var frames: [FoundFrame] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        stream.receive(Array(bytes[start..<min(bytes.count, start + size)])) { frames.append(FoundFrame($0)) }
      }
      stream.finish { frames.append(FoundFrame($0)) }
      let whole = Outcome(bytes)
      #expect(frames == whole.frames && stream.counters == whole.counters && stream.offset == whole.offset)
    }
  }

  @Test("How the stream is cut changes nothing", arguments: 1...12 as ClosedRange<UInt64>)
  func splitInvariance(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let stream = MixedStream(frames: 60, &random)
    let bytes = stream.damaged(share: seed % 3 == 0 ? 0.01 : 0, &random).bytes
    let whole = Outcome(bytes)
    #expect(Outcome(bytes) { 1 } == whole)
    #expect(Outcome(bytes) { random.int(1...7) } == whole)
    #expect(Outcome(bytes) { random.int(1...400) } == whole)
    #expect(Outcome(bytes) { random.oneIn(2) ? 1 : 3000 } == whole)
  }

  @Test(
    "Long frames too, with false starts in them, through pieces of any size", arguments: 1...4 as ClosedRange<UInt64>)
  func longFrames(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var stream = MixedStream(frames: 3, &random)
    for _ in 0..<3 {
      var payload = random.bytes(random.int(4000...8192))
      for _ in 0..<20 { payload[random.int(0...payload.count - 1)] = random.element(of: [0xB5, 0xD3, 0x24]) }
      stream.append(Wire.ubx(2, 0x15, payload))
      stream.append(MixedStream.frame(&random))
    }
    var bytes = stream.bytes
    if seed % 2 == 0 { bytes[stream.frames[3].offset + 100] ^= 1 }
    let whole = Outcome(bytes)
    #expect(Outcome(bytes) { random.int(1...60) } == whole)
    #expect(Outcome(bytes) { random.int(1...20_000) } == whole)
    #expect(seed % 2 == 0 || whole.frames.map(\.bytes) == stream.frames.map(\.bytes))
  }

  @Test("Every frame comes with its place, and the rest is counted", arguments: 1...8 as ClosedRange<UInt64>)
  func whole(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let stream = MixedStream(frames: 100, &random)
    let outcome = Outcome(stream.bytes)
    #expect(outcome.frames.map(\.bytes) == stream.frames.map(\.bytes))
    #expect(outcome.frames.map { Int($0.offset) } == stream.frames.map(\.offset))
    #expect(outcome.counters.frames == 100)
    let framed = stream.frames.reduce(0) { $0 + $1.bytes.count }
    #expect(outcome.counters.skippedBytes == UInt64(stream.bytes.count - framed))
    #expect(outcome.offset == UInt64(stream.bytes.count))
    #expect(outcome.counters.badChecksums == 0)
  }

  @Test(
    "Of a damaged stream every intact frame is delivered, and none with a wrong checksum",
    arguments: [0.0001, 0.001, 0.005, 0.01, 0.05], 1...4 as ClosedRange<UInt64>)
  func damaged(share: Double, seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let (bytes, intact) = MixedStream(frames: 300, &random).damaged(share: share, &random)
    let found = Outcome(bytes).frames
    let places = Dictionary(uniqueKeysWithValues: found.map { (Int($0.offset), $0.bytes) })
    for frame in intact { #expect(places[frame.offset] == frame.bytes, "the frame at \(frame.offset)") }
    for frame in found { #expect(Wire.isFrame(frame.bytes), "at \(frame.offset): \(frame.bytes)") }
    #expect(!intact.isEmpty)
  }

  @Test("Garbage alone is skipped and counted, byte for byte", arguments: 1...8 as ClosedRange<UInt64>)
  func garbage(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let alphabet: [UInt8] = [0xB5, 0x62, 0xD3, 0x00, 0x24, 0x47, 0x2A, 0x0D, 0xFF]
    let bytes = (0..<3000).map { _ in random.element(of: alphabet) }
    let outcome = Outcome(bytes)
    let framed = outcome.frames.reduce(0) { $0 + $1.bytes.count }
    #expect(outcome.counters.skippedBytes == UInt64(bytes.count - framed))
    #expect(outcome.frames.allSatisfy { Wire.isFrame($0.bytes) })
    #expect(Outcome(bytes) { random.int(1...50) } == outcome)
  }

  private let good = Wire.ubx(1, 0x61, [1, 2, 3, 4])
  private let sentence = Wire.nmea("GPGLL,4717.1,N,00833.9,E,101112.00,A,A")

  @Test("A header with an absurd length does not consume the bytes after it")
  func absurdLength() {
    let outcome = Outcome([0xB5, 0x62, 0x01, 0x07, 0xFF, 0xFF] + good + sentence)
    #expect(outcome.frames.map(\.bytes) == [good, sentence])
    #expect(outcome.counters.tooLong == 1)
  }

  @Test("A false header with a long length delays what is behind it, and loses nothing", arguments: [60, 1000, 8192])
  func falseHeader(length: Int) {
    let header: [UInt8] = [0xB5, 0x62, 0x02, 0x15, UInt8(length & 0xFF), UInt8(length >> 8)]
    var bytes = header
    for _ in 0..<100 { bytes += good + sentence }
    let outcome = Outcome(bytes)
    #expect(outcome.counters.frames == 200)
    #expect(outcome.counters.skippedBytes == 6)
    #expect(Outcome(bytes) { 17 } == outcome)
  }

  @Test("A $ inside a UBX payload starts no sentence, even before a complete one")
  func sentenceInPayload() {
    let frame = Wire.ubx(4, 2, sentence)
    #expect(Outcome(frame + frame).frames.map(\.bytes) == [frame, frame])
  }

  @Test("A sentence that is interrupted by another is dropped, the other is found")
  func brokenSentence() {
    let outcome = Outcome(sentence[..<20] + sentence)
    #expect(outcome.frames.map(\.bytes) == [sentence])
    #expect(outcome.counters.brokenSentences == 1)
  }

  @Test("Lines without a checksum and with a wrong one are distinguished")
  func counted() {
    let outcome = Outcome(ascii("$GPGLL,1,2\r\n$GPGLL,1,2*00\r\n") + sentence)
    #expect(outcome.counters.withoutChecksum == 1)
    #expect(outcome.counters.badChecksums == 1)
    #expect(outcome.counters.nmeaFrames == 1)
  }

  @Test("A half-written last frame is not a frame, and is counted", arguments: [3, 5, 9, 11])
  func halfWritten(count: Int) {
    let outcome = Outcome(good + good[..<count])
    #expect(outcome.frames.map(\.bytes) == [good])
    #expect(outcome.counters.cutFrames == 1)
    #expect(outcome.counters.skippedBytes == UInt64(count))
  }

  @Test("A last sentence may lack its CR LF")
  func lastSentence() {
    #expect(Outcome(good + sentence.dropLast(2)).counters.nmeaFrames == 1)
  }

  @Test("A frame that stalled does not consume the next one")
  func stalled() {
    var stream = FrameStream()
    var frames: [FoundFrame] = []
    stream.receive(Array(good[..<8]).raw) { frames.append(FoundFrame($0)) }
    #expect(stream.isInsideFrame == true)
    stream.finish { frames.append(FoundFrame($0)) }
    #expect(stream.isInsideFrame == false)
    stream.receive(good.raw) { frames.append(FoundFrame($0)) }
    #expect(frames.map(\.bytes) == [good])
    #expect(frames.map(\.offset) == [8])
    #expect(stream.counters.cutFrames == 1)
  }

  @Test("A stall releases the whole frames after the false start")
  func stalledFalseStart() {
    var stream = FrameStream()
    var frames: [FoundFrame] = []
    stream.receive(([0xB5, 0x62, 0x01, 0x07, 0x00, 0x10] + good + sentence).raw) { frames.append(FoundFrame($0)) }
    #expect(frames.isEmpty)
    stream.finish { frames.append(FoundFrame($0)) }
    #expect(frames.map(\.bytes) == [good, sentence])
  }

  @Test(
    "On a live line a false start is given up after a second, if whole frames lie behind it",
    arguments: [[0xB5, 0x62, 0x01, 0x35, 0xE8, 0x1F], [0xD3, 0x03, 0xFF], [0xB5, 0x62, 0x02, 0x15, 0xFF, 0x0F]])
  func liveFalseStart(header: [UInt8]) {
    var stream = FrameStream()
    var unfinished = UnfinishedFrame()
    var found: [(frame: [UInt8], milliseconds: UInt64)] = []
    for number in UInt64(0)..<8 {
      let now = 250 * number
      stream.receive(((number == 0 ? header : []) + sentence).raw) { found.append((array($0.bytes), now)) }
      stream.skipFalseStarts(if: &unfinished, at: 1_000_000 * now) { found.append((array($0.bytes), now)) }
    }
    stream.finish { found.append((array($0.bytes), 2000)) }
    #expect(found.map(\.frame) == [[UInt8]](repeating: sentence, count: 8))
    #expect(found.map(\.milliseconds) == [1000, 1000, 1000, 1000, 1000, 1250, 1500, 1750])
  }

  @Test("A frame that arrives slowly is not given up while it holds no whole frame")
  func slowFrame() {
    var stream = FrameStream()
    var unfinished = UnfinishedFrame()
    var frames: [[UInt8]] = []
    for (index, byte) in good.enumerated() {
      stream.receive([byte].raw) { frames.append(array($0.bytes)) }
      stream.skipFalseStarts(if: &unfinished, at: UInt64(index) * 900_000_000) { frames.append(array($0.bytes)) }
    }
    #expect(frames == [good] && stream.counters.skippedBytes == 0)
  }

  @Test("Discarding a partial frame keeps the offsets correct")
  func reset() {
    var stream = FrameStream()
    var frames: [FoundFrame] = []
    stream.receive(Array(good[..<8]).raw) { frames.append(FoundFrame($0)) }
    stream.reset()
    stream.receive(good.raw) { frames.append(FoundFrame($0)) }
    #expect(frames.map(\.offset) == [8])
    #expect(stream.counters.skippedBytes == 8)
  }

  @Test("Empty pieces have no effect")
  func empty() {
    var stream = FrameStream()
    stream.receive([UInt8]().raw) { _ in }
    stream.finish { _ in }
    #expect(stream.counters == StreamCounters())
    #expect(stream.offset == 0)
  }
}
