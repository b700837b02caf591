// SPDX-License-Identifier: Apache-2.0

/// The attributes of text on the screen.
struct ScreenStyle: OptionSet {
  let rawValue: UInt8
  static let bold = ScreenStyle(rawValue: 1)
  static let faint = ScreenStyle(rawValue: 2)
  static let reverse = ScreenStyle(rawValue: 4)
  static let green = ScreenStyle(rawValue: 8)
  static let yellow = ScreenStyle(rawValue: 16)
  static let red = ScreenStyle(rawValue: 32)
  static let colours: ScreenStyle = [.green, .yellow, .red]
}

/// A line of the screen. It is never wider than the screen.
struct ScreenLine: Equatable {
  struct Span: Equatable {
    var text: String
    var style: ScreenStyle
  }

  let width: Int
  private(set) var spans: [Span] = []
  /// The used cells.
  private(set) var cells = 0
  /// Whether something was left out. Later text is left out as well, so that no value is shown without
  /// the values before it.
  private(set) var isCut = false
  private let isUTF8: Bool

  init(width: Int, isUTF8: Bool) { (self.width, self.isUTF8) = (width, isUTF8) }

  var text: String { spans.map(\.text).joined() }

  /// Adds text that is left out if it does not fit: a part of a number would be another number.
  mutating func put(_ text: String, _ style: ScreenStyle = []) {
    let text = isUTF8 ? text : ScreenText.ascii(text)
    let count = ScreenText.cells(text)
    guard !isCut, cells + count <= width else {
      isCut = true
      return
    }
    append(text, count, style)
  }

  /// Adds a number between two texts; nothing if it is nil.
  mutating func put(_ before: String, _ value: Double?, digits: Int, _ after: String, _ style: ScreenStyle = []) {
    guard let value, abs(value) < 1e9 else { return }
    put(before + ScreenText.number(value, digits: digits) + after, style)
  }

  /// Adds text that is cut, with a mark at its end, if it has more than `most` cells or does not fit.
  mutating func putCut(_ text: String, most: Int = .max, _ style: ScreenStyle = []) {
    let text = isUTF8 ? text : ScreenText.ascii(text)
    let (count, rest) = (ScreenText.cells(text), width - cells)
    let room = min(most, rest)
    guard !isCut, room > 0 else {
      isCut = isCut || count > 0
      return
    }
    if count <= room { return append(text, count, style) }
    let kept = ScreenText.prefix(text, cells: room - 1) + (isUTF8 ? "…" : ">")
    append(kept, ScreenText.cells(kept), style)
    isCut = room == rest
  }

  /// Adds spaces up to a column.
  mutating func pad(to column: Int) {
    let count = min(column, width) - cells
    if count > 0, !isCut { append(String(repeating: " ", count: count), count, []) }
  }

  private mutating func append(_ text: String, _ count: Int, _ style: ScreenStyle) {
    guard count > 0 else { return }
    cells += count
    if let last = spans.last, last.style == style {
      spans[spans.count - 1].text += text
    } else {
      spans.append(Span(text: text, style: style))
    }
  }
}
