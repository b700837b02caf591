// SPDX-License-Identifier: Apache-2.0

// The fields of NMEA sentences. The input is the sentence's content; it gets a correct checksum, so that every input reaches the
// field readers. It has one line end, so that there is one frame at most: from its `$`, or from a `!` in it.
import NMEA

func fuzzSentences(_ input: [UInt8]) {
  let bytes = sentence(input.prefix(longestSentence - 6))
  let lengths = printMessages(bytes)
  guard lengths.count <= 1, lengths.allSatisfy({ $0 <= bytes.count }) else {
    fatalError("\(bytes.count) bytes became \(lengths)")
  }
}
