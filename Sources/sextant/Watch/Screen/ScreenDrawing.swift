// SPDX-License-Identifier: Apache-2.0
import GPSD

/// The control sequences of the screen (ECMA-48; xterm's private modes).
enum ScreenDrawing {
  /// The alternate screen without a cursor. Lines are not wrapped there: a window that becomes narrower while it is drawn keeps
  /// its rows.
  static let begin: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  /// Restores the terminal.
  static let end: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Writes the lines over those of the previous drawing.
  static func draw(_ lines: [ScreenLine], _ size: ScreenSize, hasColour: Bool, into output: inout JSONLine) {
    output.put("\u{1B}[H")
    for (row, line) in lines.prefix(size.rows).enumerated() {
      if row > 0 { output.put("\r\n") }
      for span in line.spans { put(span, hasColour: hasColour, &output) }
      // After a full line the cursor is still on its last cell, which this would erase.
      if line.cells < size.columns { output.put("\u{1B}[K") }
    }
    if lines.count < size.rows { output.put("\r\n\u{1B}[J") }
  }

  private static func put(_ span: ScreenLine.Span, hasColour: Bool, _ output: inout JSONLine) {
    let style = hasColour ? span.style : span.style.subtracting(.colours)
    if style.contains(.bold) { output.put("\u{1B}[1m") }
    if style.contains(.faint) { output.put("\u{1B}[2m") }
    if style.contains(.reverse) { output.put("\u{1B}[7m") }
    if style.contains(.green) { output.put("\u{1B}[32m") }
    if style.contains(.yellow) { output.put("\u{1B}[33m") }
    if style.contains(.red) { output.put("\u{1B}[31m") }
    output.plainText(span.text)
    if !style.isEmpty { output.put("\u{1B}[0m") }
  }
}
