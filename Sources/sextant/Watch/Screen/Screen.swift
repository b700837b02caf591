// SPDX-License-Identifier: Apache-2.0

import GPSD
import MonotonicTime
import ReceiverStream
import WireBytes

/// The screen of `sextant watch`: reports, messages and keys in, lines out.
///
/// The position is in the first line at any size. `q` ends; the other keys are in `ScreenHelp`.
struct Screen {
  /// The content of the screen below the fix.
  enum View: Equatable {
    /// The list of satellites, from this row on.
    case satellites(first: Int)
    case sky
    /// The messages, with this number of newer ones below the screen.
    case messages(newer: Int)
    /// The keys, from this row on; then the former view.
    indirect case help(first: Int, View)
  }

  /// The effect of a key.
  enum Action: Equatable {
    case none, redraw, quit
  }

  /// The content to show. While the screen is paused, `frozen` is shown and `live` is still updated.
  private var live: ScreenContent
  private var frozen: ScreenContent?
  private(set) var view = View.satellites(first: 0)
  /// The rows of the view when it was last drawn: the distance that a page key moves.
  private var page = 1
  private let capabilities: ScreenCapabilities
  /// Whether the keys of the terminal are read.
  var hasKeys = false

  init(_ now: Instant, _ capabilities: ScreenCapabilities = .all) {
    live = ScreenContent(now)
    self.capabilities = capabilities
  }

  var isPaused: Bool { frozen != nil }
  var isShowingMessages: Bool { if case .messages = view { true } else { false } }

  // MARK: Input

  /// Takes what the line is: a port was opened, or its rate was found.
  mutating func open(_ device: String, baud: UInt32?) {
    live.device = ScreenText.foreign(device)
    live.baud = baud
    live.message = nil
  }

  mutating func set(baud: UInt32) { live.baud = baud }
  mutating func set(bytes: UInt64) { live.bytes = bytes }

  mutating func set(_ counters: StreamCounters, rejected: Int) {
    live.counters = counters
    live.rejected = rejected
  }

  /// Takes a message to the user, which is shown until the next port is opened.
  mutating func show(notice text: String) { live.message = ScreenText.foreign(text) }

  /// Takes a report.
  mutating func take(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ now: Instant) {
    live.take(report, sky, now)
  }

  /// Takes a message of the receiver.
  mutating func add(_ message: MessageLog.Entry) {
    live.log.add(message)
    // The rows that a reader has scrolled to stay.
    if frozen == nil, case .messages(let newer) = view, newer > 0 { view = .messages(newer: newer + 1) }
  }

  /// Takes a key.
  mutating func press(_ key: ScreenKey, _ now: Instant) -> Action {
    if key == .character("q") || key == .character("Q") { return .quit }
    if case .help(_, let former) = view, Self.steps(key, page) == nil {
      view = former
      return .redraw
    }
    switch key {
    case .character("?"), .character("h"): view = .help(first: 0, view)
    case .character("l"), .escape: view = .satellites(first: 0)
    case .character("s"): view = .sky
    case .character("m"): view = .messages(newer: 0)
    case .tab: nextView()
    case .character("p"), .character(" "): pause(now)
    default:
      guard let steps = Self.steps(key, page) else { return .none }
      scroll(by: steps)
    }
    return .redraw
  }

  /// The rows that a key moves the view by; nil for other keys.
  private static func steps(_ key: ScreenKey, _ page: Int) -> Int? {
    switch key {
    case .up, .character("k"): -1
    case .down, .character("j"): 1
    case .pageUp: -page
    case .pageDown: page
    case .home: -100_000
    case .end: 100_000
    default: nil
    }
  }

  private mutating func nextView() {
    view =
      switch view {
      case .satellites: .sky
      case .sky: .messages(newer: 0)
      case .messages, .help: .satellites(first: 0)
      }
  }

  private mutating func scroll(by steps: Int) {
    switch view {
    case .satellites(let first): view = .satellites(first: max(0, first + steps))
    case .sky: break
    case .messages(let newer): view = .messages(newer: max(0, newer - steps))
    case .help(let first, let former): view = .help(first: max(0, first + steps), former)
    }
  }

  private mutating func pause(_ now: Instant) {
    if frozen == nil {
      live.discardOutdated(now)
      frozen = live
      frozen?.pausedAt = now
    } else {
      frozen = nil
      if case .messages = view { view = .messages(newer: 0) }
    }
  }

  // MARK: Output

  /// Writes the screen for a terminal of this size.
  mutating func draw(into output: inout JSONLine, _ size: (columns: Int, rows: Int), _ now: Instant) {
    let size = ScreenSize(columns: size.columns, rows: size.rows)
    let lines = lines(size, now)
    ScreenDrawing.draw(lines, size, hasColour: capabilities.hasColour, into: &output)
  }

  /// Returns the lines of the screen, from its first row: one for each row, none wider than the screen.
  mutating func lines(_ size: ScreenSize, _ now: Instant) -> [ScreenLine] {
    live.discardOutdated(now)
    let content = frozen ?? live
    let layout = ScreenFrame(size, content, isPaused: isPaused, hasKeys: hasKeys, capabilities, now)
    let above = layout.above(isViewChosen: view != .satellites(first: 0))
    let below = layout.below(rows: size.rows - above.count)
    let room = size.rows - above.count - below.count
    var lines = above
    if room > 0 {
      let lists = ScreenViews(layout, content)
      lines += shown(lists, rows: room)
    }
    let blank = layout.line()
    while lines.count + below.count < size.rows { lines.append(blank) }
    return Array((lines + below).prefix(size.rows))
  }

  /// Returns the lines of the view, and limits how far it is scrolled.
  private mutating func shown(_ lists: ScreenViews, rows: Int) -> [ScreenLine] {
    page = max(1, rows - 2)
    switch view {
    case .satellites(let first):
      let (lines, first) = lists.satellites(rows: rows, first: first)
      view = .satellites(first: first)
      return lines
    case .sky: return lists.sky(rows: rows)
    case .messages(let newer):
      let (lines, newer) = lists.messages(rows: rows, newer: newer)
      view = .messages(newer: newer)
      return lines
    case .help(let first, let former):
      let (lines, first) = lists.help(rows: rows, first: first)
      view = .help(first: first, former)
      return lines
    }
  }

  /// Returns what a reader keeps after the end: epochs, the last position, bytes and errors.
  func summary(_ now: Instant) -> String {
    let text = live.summary(now)
    return capabilities.isUTF8 ? text : ScreenText.ascii(text)
  }
}

/// The capabilities of the terminal, according to the environment.
struct ScreenCapabilities: Equatable {
  /// Whether characters beyond ASCII are shown.
  var isUTF8 = true
  var hasColour = true

  /// Everything.
  static let all = ScreenCapabilities()

  init(isUTF8: Bool = true, hasColour: Bool = true) { (self.isUTF8, self.hasColour) = (isUTF8, hasColour) }

  /// The capabilities of the terminal that the environment names.
  ///
  /// - Parameter environment: returns a variable. The first of LC_ALL, LC_CTYPE and LANG that is set is the locale
  ///   (locale(7)); without one the characters are ASCII. NO_COLOR, when it is not empty, forbids colours
  ///   (no-color.org); terminals of the series VT, and those with the suffix `-m` for monochrome (terminfo(5)), have none.
  init(_ environment: (String) -> String?) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
    isUTF8 = locale.includes("utf-8") || locale.includes("utf8")
    let kind = value("TERM") ?? ""
    hasColour = value("NO_COLOR") == nil && !kind.hasPrefix("vt") && !kind.hasSuffix("-m")
  }
}

/// The size of a terminal in character cells, at least one each.
struct ScreenSize: Equatable {
  let columns: Int
  let rows: Int

  init(columns: Int, rows: Int) { (self.columns, self.rows) = (max(1, columns), max(1, rows)) }
}

/// A key of the terminal.
enum ScreenKey: Equatable {
  case character(Character)
  case tab, escape, up, down, pageUp, pageDown, home, end
}

/// Finds keys in the bytes of a terminal, which arrive in pieces of any size.
struct KeyDecoder {
  private enum State {
    case none
    /// After ESC.
    case escape
    /// In a control sequence (ECMA-48, 5.4), with the number that it has so far.
    case sequence(Int)
    /// After ESC O, which precedes one character (xterm's application keys).
    case application
  }
  private var state = State.none

  /// Returns the keys that are complete with these bytes. Unknown sequences and bytes beyond ASCII are not keys.
  mutating func receive(_ bytes: some Sequence<UInt8>) -> [ScreenKey] { bytes.compactMap { receive($0) } }

  private mutating func receive(_ byte: UInt8) -> ScreenKey? {
    switch state {
    case .none:
      return first(byte)
    case .escape:
      switch byte {
      case UInt8(ascii: "["): state = .sequence(0)
      case UInt8(ascii: "O"): state = .application
      case 0x1B: return .escape
      default:
        // The key Escape, and another one.
        state = .none
        return first(byte)
      }
      return nil
    case .application:
      state = .none
      return Self.named(byte)
    case .sequence(let number):
      switch byte {
      case 0x30...0x39: state = .sequence(min(number * 10 + Int(byte - 0x30), 1000))
      case 0x20...0x3F: state = .sequence(number)
      default:
        state = .none
        return byte == UInt8(ascii: "~") ? Self.numbered(number) : Self.named(byte)
      }
      return nil
    }
  }

  private mutating func first(_ byte: UInt8) -> ScreenKey? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case 0x09: return .tab
    case 0x20...0x7E: return .character(Character(Unicode.Scalar(byte)))
    default: return nil
    }
  }

  private static func named(_ byte: UInt8) -> ScreenKey? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    default: nil
    }
  }

  private static func numbered(_ number: Int) -> ScreenKey? {
    switch number {
    case 1, 7: .home
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    default: nil
    }
  }
}

/// The keys of the screen.
enum ScreenHelp {
  static let keys: [(keys: String, meaning: String)] = [
    ("q", "end, with a summary"),
    ("l", "list of satellites"),
    ("s", "sky, north up"),
    ("m", "messages of the receiver as they arrive"),
    ("Tab", "next view"),
    ("p", "pause and go on; meanwhile the receiver is read"),
    ("Up Down", "scroll by a row (also k and j)"),
    ("PgUp PgDn", "scroll by a page"),
    ("Home End", "first and last row"),
    ("^Z", "stop; `fg` goes on"),
    ("^C", "end"),
  ]
}
