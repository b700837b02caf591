import NMEA

/// Makes frames in memory that is kept.
struct FrameWriter: Sendable {
  private var room = [UInt8](repeating: 0, count: 1024)

  /// A sentence.
  mutating func sentence(_ content: some SentenceContent, _ talker: Talker) -> [UInt8] {
    frame(longestSentence) { content.encode(talker: talker, into: &$0) }
  }

  /// What `body` writes into the room it is given; it returns how many bytes it used.
  mutating func frame(_ most: Int, _ body: (inout MutableRawSpan) -> Int) -> [UInt8] {
    if room.count < most { room += [UInt8](repeating: 0, count: most - room.count) }
    var used = 0
    do {
      var whole = room.mutableSpan
      // Called unsafe because some types have invalid bit patterns; bytes have none.
      var bytes = unsafe whole.mutableBytes
      used = body(&bytes)
    }
    return Array(room[..<used])
  }
}
