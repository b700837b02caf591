// SPDX-License-Identifier: Apache-2.0
import NMEA
import UBX

// The only file of the module that lends arrays to functions with raw spans. This is marked unsafe because some types
// have padding or invalid bit patterns; bytes have neither.

/// Encodes frames in a buffer that is reused.
struct FrameWriter: Sendable {
  private var room = [UInt8](repeating: 0, count: 1024)

  /// Encodes a sentence.
  mutating func sentence(_ content: some SentenceContent, _ talker: Talker) -> [UInt8] {
    frame(longestSentence) { content.encode(talker: talker, into: &$0) }
  }

  /// Encodes a sentence whose fields point to these characters.
  mutating func sentence(_ content: some SentenceContent, _ talker: Talker, texts: [UInt8]) -> [UInt8] {
    frame(longestSentence) { content.encode(talker: talker, texts: texts.raw, into: &$0) }
  }

  /// Returns the bytes that `body` writes into its buffer; `body` returns their number.
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
  /// The bytes of a value in memory.
  var raw: RawSpan {
    @_lifetime(borrow self) get { unsafe span.bytes }
  }
}
