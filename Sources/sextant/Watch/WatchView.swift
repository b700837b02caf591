// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import WireBytes

/// The output of `sextant watch`: JSON lines, text lines, a screen, or a file of another program's format.
struct WatchView: ~Copyable {
  enum Kind {
    case json, lines, screen
    /// A format of other programs, with the columns of a table.
    case track(TrackWriter.Format, [CSVColumn])
    /// The bytes of the receiver as they arrive.
    case raw
  }

  /// The number of epochs with a position.
  private(set) var fixes = 0

  private let kind: Kind
  private var device = ""
  private var track: TrackWriter?
  /// The number of epochs with a position after which nothing more is shown; nil for no limit.
  private let limit: Int?
  private var line = JSONLine()
  private var screen: Screen
  /// Finds the messages for the screen.
  private var frames: FrameStream?
  private var unfinished = UnfinishedFrame()
  private let terminal: TerminalControl?
  private var decoder = KeyDecoder()
  private var place = Place.hidden
  /// Whether the user has requested the end by a key.
  private(set) var isEndRequested = false
  /// Received bytes that are not yet written.
  private var received: [UInt8] = []
  private var isClosed = false
  private var isDirty = false
  /// Whether there is a message that is not drawn yet.
  private var hasMessages = false
  private var drawn: Instant

  /// Where the screen is.
  private enum Place {
    /// Not on the terminal yet, or not at the moment: another job has the terminal.
    case hidden
    case shown
    /// It was on the terminal and has left it permanently.
    case ended
  }

  /// - Parameters:
  ///   - limit: the number of epochs with a position after which nothing more is shown; nil for no limit.
  ///   - capabilities: what the terminal of a screen can show.
  ///   - terminal: the terminal of a screen; nil if its keys are not read.
  init(
    _ kind: Kind, limit: Int? = nil, now: Instant, _ capabilities: ScreenCapabilities = .all,
    _ terminal: TerminalControl? = nil
  ) {
    self.kind = kind
    self.limit = limit
    drawn = now
    screen = Screen(now, capabilities)
    if case .screen = kind { frames = FrameStream() }
    self.terminal = terminal
    if case .track(let format, let columns) = kind {
      var writer = TrackWriter(format, columns: columns, isLive: true)
      writer.begin(&line)
      track = consume writer
    }
  }

  var isScreen: Bool { if case .screen = kind { true } else { false } }

  /// Prepares for the near end of an epoch: writes it without output, which fills the caches of the processor. Between
  /// epochs other programs use the caches, and refilling them takes most of the time from the last byte to the line.
  mutating func warmUp(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    guard case .json = kind, line.bytes.byteCount == 0 else { return }
    line.report(report, sky, device: device)
    line.removeAll()
  }

  /// When the screen is drawn again without an event, because it shows the duration of a silence.
  var deadline: Instant? { isScreen ? drawn + Self.interval(hasMessages) : nil }

  /// The time between two drawings without an epoch: messages come several times a second.
  private static func interval(_ hasMessages: Bool) -> Milliseconds { Milliseconds(hasMessages ? 200 : 1000) }

  /// Notes that a port was opened.
  mutating func open(_ path: String, baud: UInt32?, _ source: Source) {
    let name = if case .simulator(let name) = source { "simulator: \(name)" } else { path }
    device = PrintedText.escaped(name)
    screen.open(name, baud: baud)
    isDirty = true
  }

  mutating func set(baud: UInt32) { screen.set(baud: baud) }

  /// Shows received bytes.
  mutating func show(bytes: RawSpan, at now: Instant) {
    if case .raw = kind { received += [UInt8](copying: bytes) }
    var messages: [MessageLog.Entry] = []
    frames?.receive(bytes) { messages.append(MessageLog.Entry($0)) }
    frames?.skipFalseStarts(if: &unfinished, at: now.nanoseconds) { messages.append(MessageLog.Entry($0)) }
    for message in messages { screen.add(message) }
    if !messages.isEmpty, screen.isShowingMessages, !screen.isPaused { hasMessages = true }
  }

  mutating func set(bytes: UInt64) { screen.set(bytes: bytes) }

  /// Shows a report.
  mutating func show(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ now: Instant) {
    // A read may have more epochs than requested.
    if let limit, fixes >= limit { return }
    if !report.isUpdate, report.fix.hasPosition { fixes += 1 }
    switch kind {
    case .json: line.report(report, sky, device: device)
    case .lines: if !report.isUpdate { line.plain(report.fix) }
    case .raw: break
    case .track: track?.add(report, sky, &line)
    case .screen:
      screen.take(report, sky, now)
      isDirty = true
    }
  }

  mutating func update(_ counters: StreamCounters, rejected: Int, _ now: Instant) {
    guard isScreen, !isClosed, place != .ended else { return }
    screen.set(counters, rejected: rejected)
    guard isDirty || now >= drawn + Self.interval(hasMessages) else { return }
    drawn = now
    if place == .hidden {
      if terminal?.isInBackground == true { return }
      terminal?.enter()
      screen.hasKeys = hasKeys
    }
    line.removeAll()
    if place == .hidden { line.put(ScreenDrawing.begin) }
    screen.draw(into: &line, terminalSize(), now)
    place = .shown
    isDirty = false
    hasMessages = false
  }

  mutating func resize() { isDirty = true }

  /// Shows a line for the user, on the screen or on standard error.
  mutating func show(notice text: String) {
    if isScreen, place == .shown {
      screen.show(notice: text)
      isDirty = true
    } else {
      printNotice(text)
    }
  }

  // MARK: Terminal

  /// The descriptor of the keys, once the screen is shown.
  var keys: Int32 { TerminalControl.keys }
  var hasKeys: Bool { terminal?.hasKeys ?? false }

  /// Reads keys. Returns false at the end of the terminal.
  mutating func readKeys(at now: Instant) -> Bool {
    // In the background the keys belong to another job.
    guard hasKeys else { return true }
    guard let bytes = TerminalControl.read() else { return false }
    press(bytes, at: now)
    return true
  }

  /// Takes the bytes of keys.
  mutating func press(_ bytes: [UInt8], at now: Instant) {
    for key in decoder.receive(bytes) {
      switch screen.press(key, now) {
      case .none: break
      case .redraw: isDirty = true
      case .quit: isEndRequested = true
      }
    }
  }

  /// Takes the screen from the terminal, until it is drawn again.
  mutating func leaveScreen() {
    guard place == .shown else { return }
    place = .hidden
    terminal?.leave()
    line.removeAll()
    line.put(ScreenDrawing.end)
    try? flush()
  }

  /// Shows the screen again after a stop: the shell has changed the terminal meanwhile.
  mutating func resume() {
    if place == .shown {
      place = .hidden
      terminal?.leave()
    }
    isDirty = true
  }

  /// Takes the screen from the terminal permanently.
  mutating func endScreen() {
    guard isScreen, place == .shown else { return }
    leaveScreen()
    place = .ended
  }

  /// The text that is not yet written.
  var pending: String { line.text }

  mutating func flush() throws {
    if !received.isEmpty {
      try Output.write(received)
      received.removeAll(keepingCapacity: true)
    }
    guard line.bytes.byteCount > 0 else { return }
    try Output.write(line.bytes)
    discard()
  }

  /// Discards the text that is not yet written.
  mutating func discard() { line.removeAll() }

  /// Restores the terminal, and leaves a summary on it. Completes a file.
  mutating func close(at now: Instant) {
    if isClosed { return }
    isClosed = true
    if track != nil {
      track?.finish(&line)
      try? flush()
    }
    endScreen()
    guard place == .ended else { return }
    line.removeAll()
    line.plainLines(screen.summary(now))
    try? flush()
  }
}

extension JSONLine {
  /// Writes a fix as a line of text.
  mutating func plain(_ fix: Fix) {
    if let time = fix.time { timestamp(time) } else { put("no time yet") }
    if let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees, fix.hasPosition {
      put("  ")
      decimal(latitude, digits: 7)
      put(" ")
      decimal(longitude, digits: 7)
      labelled("  ± ", fix.horizontalAccuracyMetres, digits: 1, " m")
      labelled("  altitude ", fix.heightAboveSeaLevelMetres, digits: 1, " m")
      labelled("  speed ", fix.speedMetresPerSecond, digits: 2, " m/s")
      switch SolutionKind(fix) {
      case .outsideLimits: put("  outside the receiver's limits")
      case .simulated: put("  simulated")
      case .deadReckoning: put("  dead reckoning")
      default: break
      }
    } else {
      put("  no fix")
    }
    endLine()
  }

  /// Writes a number between two texts; nothing if it is nil.
  mutating func labelled(_ before: StaticString, _ value: Double?, digits: Int, _ after: StaticString) {
    guard let value, abs(value) < 1e9 else { return }
    put(before)
    decimal(value, digits: digits)
    put(after)
  }

  /// Writes text for a terminal without control characters.
  mutating func plainText(_ text: String) {
    for byte in text.utf8 where byte >= 0x20 && byte != 0x7F { put(raw: byte) }
  }

  /// Writes lines of text for a terminal without other control characters.
  mutating func plainLines(_ text: String) {
    for part in text.split(separator: "\n") {
      plainText(String(part))
      put("\n")
    }
  }
}
