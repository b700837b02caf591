// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import ReceiverStream
import WireBytes

/// The views of the screen: the list of satellites, the sky, the messages and the keys. Each has at most the rows that it is
/// given; the first one is its title if there are two.
struct ScreenViews {
  private let layout: ScreenFrame
  private let content: ScreenContent

  init(_ layout: ScreenFrame, _ content: ScreenContent) { (self.layout, self.content) = (layout, content) }

  private var columns: Int { layout.size.columns }
  private var indent: Int { layout.isNarrow ? 0 : 2 }

  // MARK: Satellites

  /// The satellites with their signals as bars, in as many columns as fit.
  func satellites(rows: Int, first: Int) -> (lines: [ScreenLine], first: Int) {
    let order = Self.ordered(content.satellites)
    let across =
      layout.isNarrow ? 1 : max(1, (columns - 2 + SatelliteText.gap) / (SatelliteText.widest + SatelliteText.gap))
    let high = (order.count + across - 1) / across
    let width = across == 1 ? columns - indent : SatelliteText.widest
    var heads = layout.line()
    for column in 0..<(order.isEmpty ? 0 : across) where column * high < order.count {
      heads.pad(to: indent + column * (SatelliteText.widest + SatelliteText.gap))
      SatelliteText.putHeads(into: &heads, width: width)
    }
    return list(
      rows: rows, first: first, count: high, title: "Satellites \(order.count)", details(order),
      heads: order.isEmpty ? nil : heads
    ) { row in
      var line = layout.line()
      line.pad(to: indent)
      for column in 0..<across where column * high + row < order.count {
        line.pad(to: indent + column * (SatelliteText.widest + SatelliteText.gap))
        SatelliteText.put(order[column * high + row], into: &line, width: width)
      }
      return line
    }
  }

  private func details(_ satellites: [Satellite]) -> String {
    ", \(satellites.count(where: { $0.signalDecibelHertz > 0 })) received, "
      + "\(satellites.count(where: \.isUsed)) used"
  }

  /// A stable order by system and number avoids flicker. Satellites without a signal come last.
  private static func ordered(_ satellites: [Satellite]) -> [Satellite] {
    satellites.sorted { a, b in
      if (a.signalDecibelHertz > 0) != (b.signalDecibelHertz > 0) { return a.signalDecibelHertz > 0 }
      return (a.system.rawValue, a.number) < (b.system.rawValue, b.number)
    }
  }

  // MARK: Sky

  /// The sky, north up, and the satellites beside it where there is room.
  func sky(rows: Int) -> [ScreenLine] {
    let order = Self.ordered(content.satellites)
    let without = order.count(where: { !SkyPlot.hasDirection($0) })
    var lines = [titleLine("Sky: \(order.count) satellites" + (without > 0 ? ", \(without) without a direction" : ""))]
    guard let plot = SkyPlot(rows: rows - 1, columns: columns - indent, order) else {
      var line = layout.line()
      line.putCut("the window is too small for the sky; l lists the satellites")
      return Array((lines + [line]).prefix(rows))
    }
    let left = indent + plot.columns + 3
    if columns - left >= SatelliteText.narrowest, !order.isEmpty, lines[0].cells < left {
      lines[0].pad(to: left)
      SatelliteText.putHeads(into: &lines[0], width: columns - left)
    }
    for row in 0..<plot.rows {
      var line = layout.line()
      line.pad(to: indent)
      plot.put(row: row, into: &line)
      if columns - left >= SatelliteText.narrowest, row < order.count {
        line.pad(to: left)
        SatelliteText.put(order[row], into: &line, width: columns - left)
      }
      lines.append(line)
    }
    return lines
  }

  // MARK: Messages

  /// The last messages, the newest one in the last row.
  func messages(rows: Int, newer: Int) -> (lines: [ScreenLine], newer: Int) {
    let entries = content.log.entries
    let visible = max(1, rows - 1)
    let newer = min(newer, max(0, entries.count - visible))
    let end = entries.count - newer
    let position = newer > 0 ? ", \(newer) newer ones below" : ""
    let lines = entries[max(0, end - visible)..<end].map { entry in
      var line = layout.line()
      line.pad(to: indent)
      line.putCut(entry.text)
      return line
    }
    return (rows > 1 ? [titleLine("Messages \(content.log.total)\(position)")] + lines : lines, newer)
  }

  // MARK: Keys

  func help(rows: Int, first: Int) -> (lines: [ScreenLine], first: Int) {
    list(rows: rows, first: first, count: ScreenHelp.keys.count, title: "Keys", "; any other key returns") { row in
      let (keys, meaning) = ScreenHelp.keys[row]
      var line = layout.line()
      line.pad(to: indent)
      line.put(keys, .bold)
      line.pad(to: indent + (layout.isNarrow ? 8 : 24))
      line.put(layout.isNarrow ? " " : "")
      line.putCut(meaning)
      return line
    }
  }

  // MARK: Lists

  private func titleLine(_ text: String) -> ScreenLine {
    var line = layout.line()
    line.pad(to: indent)
    line.putCut(text, .faint)
    return line
  }

  /// The rows of a list from `first` on, below its title. Returns `first` limited to the list.
  private func list(
    rows: Int, first: Int, count: Int, title: String, _ details: String, heads: ScreenLine? = nil,
    _ row: (Int) -> ScreenLine
  ) -> (lines: [ScreenLine], first: Int) {
    let heads = rows > 2 ? heads.map { [$0] } ?? [] : []
    let visible = max(1, rows - 1 - heads.count)
    let first = min(first, max(0, count - visible))
    let end = min(count, first + visible)
    let position = count > visible ? ": rows \(first + 1)-\(end) of \(count)" : ""
    let lines = (first..<end).map(row)
    return (rows > 1 ? [titleLine(title + position + details)] + heads + lines : lines, first)
  }
}

/// The control sequences of the screen (ECMA-48; xterm's private modes).
enum ScreenDrawing {
  /// The alternate screen without a cursor. Lines are not wrapped there: a window that becomes narrower while it is drawn keeps
  /// its rows.
  static let begin: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  /// Restores the terminal.
  static let end: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Writes the lines over the lines of the previous drawing.
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
