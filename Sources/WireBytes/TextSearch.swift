// SPDX-License-Identifier: Apache-2.0
// The functions of the standard library for this are in its module of regular expressions, which adds over a megabyte to a
// statically linked program (docs/reference/size.md).
#if !hasFeature(Embedded)
  extension Collection where Element == UInt8 {
    /// The index of the first occurrence of a sequence of bytes; nil if it does not occur.
    package func occurrence(of wanted: some Collection<UInt8>) -> Range<Index>? {
      var start = startIndex
      while !self[start...].starts(with: wanted) {
        guard start < endIndex else { return nil }
        start = index(after: start)
      }
      return start..<index(start, offsetBy: wanted.count)
    }
  }

  extension StringProtocol {
    /// Whether a text occurs, compared byte by byte in UTF-8.
    package func includes(_ text: String) -> Bool { utf8.occurrence(of: text.utf8) != nil }
  }

  // Text from outside is divided and compared by its bytes. For the standard library a separator and a combining mark after it, or a
  // prepended character before it (U+0600), are one Character, and do not separate; and two texts are equal if they are canonically
  // equivalent, such as é and e with U+0301, which name two files.
  extension StringProtocol where SubSequence == Substring {
    private var bytes: Substring.UTF8View { self[...].utf8 }

    /// The parts between the separators.
    ///
    /// - Parameter separator: an ASCII character.
    package func parts(
      at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [Substring] {
      bytes.split(separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty)
        .map { self[$0.startIndex..<$0.endIndex] }
    }

    /// The words between spaces and tabs.
    package var words: [Substring] {
      utf8.split { $0 == 0x20 || $0 == 0x09 }.map { self[$0.startIndex..<$0.endIndex] }
    }

    /// The lines, which end with LF, CR or CR LF, with the empty ones.
    package var lines: [Substring] {
      var lines: [Substring] = []
      var begin = startIndex
      var isAfterCR = false
      for index in bytes.indices {
        let byte = bytes[index]
        let next = bytes.index(after: index)
        if byte == 0x0A, isAfterCR {
          begin = next
        } else if byte == 0x0A || byte == 0x0D {
          lines.append(self[begin..<index])
          begin = next
        }
        isAfterCR = byte == 0x0D
      }
      return isAfterCR ? lines : lines + [self[begin...]]
    }

    /// The text before the first occurrence of an ASCII character; the whole text if it does not occur.
    package func before(_ character: Unicode.Scalar) -> Substring { self[..<(position(of: character) ?? endIndex)] }

    /// The text after a beginning; nil if it begins with another text.
    package func after(_ beginning: String) -> Substring? {
      begins(with: beginning) ? self[bytes.index(startIndex, offsetBy: beginning.utf8.count)...] : nil
    }

    /// The position of the first occurrence of an ASCII character; nil if it does not occur.
    package func position(of character: Unicode.Scalar) -> Index? { bytes.firstIndex(of: UInt8(ascii: character)) }

    /// The position of the last occurrence of an ASCII character; nil if it does not occur.
    package func lastPosition(of character: Unicode.Scalar) -> Index? { bytes.lastIndex(of: UInt8(ascii: character)) }

    package func begins(with text: String) -> Bool { bytes.starts(with: text.utf8) }

    package func ends(with text: String) -> Bool { bytes.reversed().starts(with: text.utf8.reversed()) }
  }

  /// A name or a path from outside the program. It is equal only to the same bytes.
  package struct ExactText: Hashable, Comparable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package let text: String

    package init(_ text: some StringProtocol) { self.text = String(text) }
    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
      for byte in text.utf8 { hasher.combine(byte) }
      hasher.combine(text.utf8.count)
    }
  }
#endif
