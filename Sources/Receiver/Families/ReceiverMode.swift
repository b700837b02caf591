// SPDX-License-Identifier: Apache-2.0

/// Whether a receiver of another maker is a rover or a base station, in the words of its family's commands: the mode of an LG290P and
/// the fields of its survey, or Unicore's MODE.
public struct ReceiverMode: Sendable, Hashable {
  var words: [String]
  /// The messages whose rates change with the mode: as they were found, or those of a base.
  var messages: [SentenceRate] = []

  /// Returns a mode of words that a receiver sent; nil if a word cannot be one of a command.
  static func received(_ words: [String], _ messages: [SentenceRate] = []) -> ReceiverMode? {
    let isPlain = words.allSatisfy { word in
      !word.isEmpty && word.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || $0 == 0x2D || $0 == 0x2E }
    }
    return isPlain && !words.isEmpty ? ReceiverMode(words: words, messages: messages) : nil
  }

  /// Whether the receiver has the mode `wanted`, whatever its messages are. It can report more words: the result of a survey, defaults.
  func hasWords(of wanted: ReceiverMode) -> Bool {
    words.count >= wanted.words.count
      && zip(words, wanted.words).allSatisfy { there, word in
        if there == word { return true }
        guard let there = Double(there), let number = Double(word) else { return false }
        return abs(there - number) < 0.000_05
      }
  }
}
