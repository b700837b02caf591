// SPDX-License-Identifier: Apache-2.0

/// Text on a terminal or in a log.
///
/// Text from outside, such as the version of a receiver, the status line of a caster, the name of a program or a path,
/// may contain control characters that move the cursor, change the title of a window or forge a log line.
package enum PrintedText {
  /// Returns a text with control characters in the notation of JSON (`\u001b`): C0, DEL and C1 (ECMA-48, 5.2 and 5.3), line
  /// and paragraph separators, and those that change the direction of the text (Unicode UAX #9, 2).
  ///
  /// - Parameters:
  ///   - text: a text, any part of which may come from outside.
  ///   - keepsLines: whether line feeds and tabs are kept.
  package static func escaped(_ text: String, keepsLines: Bool = false) -> String {
    func isKept(_ value: UInt32) -> Bool { keepsLines && (value == 0x0A || value == 0x09) }
    if text.utf8.allSatisfy({ 0x20...0x7E ~= $0 || isKept(UInt32($0)) }) { return text }
    var printed = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard isControl(scalar.value), !isKept(scalar.value) else {
        printed.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      printed.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).unicodeScalars)
    }
    return String(printed)
  }

  private static func isControl(_ value: UInt32) -> Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
