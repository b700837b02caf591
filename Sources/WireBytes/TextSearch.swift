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
#endif
