// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO

/// Text whose width in character cells is the same on every terminal.
enum ScreenText {
  /// Returns text of the outside without control characters (`PrintedText`) and without characters that terminals show with
  /// different widths: combining marks, unassigned and private ones, pictographs. They are in the notation of JSON, beyond
  /// U+FFFF in the notation of C (`\U0001f6f0`).
  static func foreign(_ text: String) -> String {
    let text = PrintedText.escaped(text)
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return text.unicodeScalars.reduce(into: "") { printed, scalar in
      if hasKnownWidth(scalar) { printed.unicodeScalars.append(scalar) } else { printed += escape(scalar) }
    }
  }

  /// Returns the text in ASCII: the symbols of the screen in other characters, and all others as in `foreign`.
  static func ascii(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return text.unicodeScalars.reduce(into: "") { printed, scalar in
      switch scalar {
      case "°": break
      case "±": printed += "+-"
      case "–": printed += "-"
      case "·": printed += "."
      case "…": printed += ">"
      case "█", "▊": printed += "#"
      case "▌", "▎": printed += "-"
      case _ where scalar.isASCII: printed.unicodeScalars.append(scalar)
      default: printed += escape(scalar)
      }
    }
  }

  /// The width of a text in character cells.
  static func cells(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + cells($1) }
  }

  /// The width of a character in cells: 2 for wide ones, otherwise 1.
  static func cells(_ scalar: Unicode.Scalar) -> Int { isWide(scalar.value) ? 2 : 1 }

  /// Returns the beginning of a text that has at most this width.
  static func prefix(_ text: String, cells most: Int) -> String {
    var (printed, used) = (String.UnicodeScalarView(), 0)
    for scalar in text.unicodeScalars {
      used += cells(scalar)
      if used > most { break }
      printed.append(scalar)
    }
    return String(printed)
  }

  /// Returns lines of at most this width, broken at spaces where there are some; the last one is longer if `most` lines do not
  /// suffice.
  static func wrapped(_ text: String, cells width: Int, lines most: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if cells(line) + 1 + cells(String(word)) <= width || lines.count == most {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// Returns text that `body` writes.
  static func written(_ body: (inout JSONLine) -> Void) -> String {
    var line = JSONLine()
    body(&line)
    return line.text
  }

  /// Returns a number with a fixed count of fraction digits; "–" beyond what can be written.
  static func number(_ value: Double, digits: Int) -> String {
    guard abs(value) < 1e9 else { return "–" }
    return written { $0.decimal(value, digits: digits) }
  }

  /// Returns a number at the right of a column.
  static func padded(_ number: Int?, width: Int) -> String {
    let text = number.map(String.init) ?? "–"
    return String(repeating: " ", count: max(0, width - text.unicodeScalars.count)) + text
  }

  private static func hasKnownWidth(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII || (0x20000...0x3FFFF).contains(scalar.value) { return true }
    // Hangul vowels and finals are drawn into the cell of the first consonant.
    if scalar.value > 0xFFFF || (0x1160...0x11FF).contains(scalar.value) { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark, .format, .control, .unassigned, .privateUse, .surrogate,
      .lineSeparator, .paragraphSeparator:
      return false
    default: return !scalar.properties.isEmojiPresentation
    }
  }

  /// Unicode's East Asian Width W and F in the Basic Multilingual Plane, without pictographs, and the ideographs beyond it (UAX
  /// #11).
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFF:
      true
    default: false
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    let isLong = scalar.value > 0xFFFF
    return (isLong ? "\\U" : "\\u") + String(repeating: "0", count: (isLong ? 8 : 4) - digits.utf8.count) + digits
  }
}
