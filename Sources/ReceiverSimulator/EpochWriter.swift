import NMEA
import UBX

/// Collects the frames of an epoch.
struct EpochWriter {
  private(set) var bytes: [UInt8] = []

  /// Adds a sentence.
  mutating func write(_ content: some SentenceContent, _ talker: Talker) {
    append(room: longestSentence) { content.encode(talker: talker, into: &$0) }
  }

  /// Adds what `body` writes into the room it is given; it returns how many bytes it used.
  mutating func append(room: Int, _ body: (inout MutableRawSpan) -> Int) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: room))
    var used = 0
    do {
      var whole = bytes.mutableSpan
      // Called unsafe because some types have invalid bit patterns; bytes have none.
      var end = unsafe whole.mutableBytes
      var free = end._mutatingExtracting(start..<start + room)
      used = body(&free)
    }
    bytes.removeLast(room - used)
  }
}
