import NMEA
import UBX

// The one place of the module where arrays are lent to functions that take raw spans. Called unsafe because some types have
// padding or invalid bit patterns; bytes have neither.

/// Makes frames in memory that is kept.
struct FrameWriter: Sendable {
  private var room = [UInt8](repeating: 0, count: 1024)

  /// A sentence.
  mutating func sentence(_ content: some SentenceContent, _ talker: Talker) -> [UInt8] {
    frame(longestSentence) { content.encode(talker: talker, into: &$0) }
  }

  /// A sentence with characters that its fields point to.
  mutating func sentence(_ content: some SentenceContent, _ talker: Talker, texts: [UInt8]) -> [UInt8] {
    frame(longestSentence) { content.encode(talker: talker, texts: texts.raw, into: &$0) }
  }

  /// What `body` writes into the room it is given; it returns how many bytes it used.
  mutating func frame(_ most: Int, _ body: (inout MutableRawSpan) -> Int) -> [UInt8] {
    if room.count < most { room += [UInt8](repeating: 0, count: most - room.count) }
    var used = 0
    do {
      var whole = room.mutableSpan
      var bytes = unsafe whole.mutableBytes
      used = body(&bytes)
    }
    return Array(room[..<used])
  }
}

extension [UInt8] {
  /// The bytes as they lie in memory.
  var raw: RawSpan {
    @_lifetime(borrow self) get { unsafe span.bytes }
  }
}

/// A UBX frame around a payload.
func encoded(_ identity: MessageIdentity, _ payload: [UInt8]) -> [UInt8] {
  var frame = [UInt8](repeating: 0, count: payload.count + UBXFrame.overhead)
  do {
    var elements = frame.mutableSpan
    var span = unsafe elements.mutableBytes
    _ = encodeFrame(identity, payload: payload.raw, into: &span)
  }
  return frame
}
