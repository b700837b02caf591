import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverStream

/// What `sextant watch` shows: JSON lines, plain lines, or a screen that is drawn anew.
struct WatchView: ~Copyable {
  enum Kind {
    case json, lines, screen
  }

  /// Epochs with a position so far.
  private(set) var fixes = 0

  private let kind: Kind
  /// Epochs with a position after which nothing more is shown.
  private let limit: Int?
  private var line = JSONLine()
  private var screen: Screen
  private var isDrawn = false
  private var isDirty = false
  private var drawn: Instant

  init(_ kind: Kind, limit: Int? = nil, now: Instant) {
    self.kind = kind
    self.limit = limit
    drawn = now
    screen = Screen(now)
  }

  /// The end of an epoch is near: what writing it takes is brought near the processor, so that the epoch does not wait for it.
  /// Between epochs others have had the processor's caches, and most of the time from the last byte to the line is spent on
  /// having them filled again.
  mutating func rehearse(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    guard kind == .json, line.bytes.byteCount == 0 else { return }
    line.report(report, sky, device: screen.device)
    line.removeAll()
  }

  /// When the screen is drawn next even if nothing comes: its clock of silence runs.
  var deadline: Instant? { kind == .screen ? drawn + Milliseconds(1000) : nil }

  /// A port was opened.
  mutating func open(_ path: String, baud: UInt32?, _ source: Source) {
    screen.device = if case .simulator(let name) = source { "simulator: \(name)" } else { path }
    screen.baud = baud
    screen.message = nil
    isDirty = true
  }

  mutating func set(baud: UInt32) { screen.baud = baud }

  mutating func set(bytes: UInt64) { screen.bytes = bytes }

  /// Shows a report.
  mutating func show(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ now: Instant) {
    // A read may bring more epochs than were asked for.
    if let limit, fixes >= limit { return }
    if !report.isUpdate, report.fix.hasPosition { fixes += 1 }
    switch kind {
    case .json: line.report(report, sky, device: screen.device)
    case .lines: if !report.isUpdate { line.plain(report.fix) }
    case .screen:
      screen.take(report, sky, now)
      isDirty = true
    }
  }

  mutating func update(_ counters: StreamCounters, rejected: Int, _ now: Instant) {
    guard kind == .screen else { return }
    screen.counters = counters
    screen.rejected = rejected
    if isDirty || now >= drawn + Milliseconds(1000) {
      line.removeAll()
      if !isDrawn { line.put(Screen.begin) }
      screen.draw(into: &line, terminalSize(), now)
      isDrawn = true
      isDirty = false
      drawn = now
    }
  }

  mutating func resize() { isDirty = true }

  /// A line for people, on the screen or on standard error.
  mutating func tell(_ text: String) {
    if kind == .screen, isDrawn {
      screen.message = text
      isDirty = true
    } else {
      printNotice(text)
    }
  }

  /// What is shown and not yet written.
  var pending: String { line.text }

  mutating func flush() throws {
    guard line.bytes.byteCount > 0 else { return }
    try Output.write(line.bytes)
    discard()
  }

  /// What is shown and not yet written is written elsewhere.
  mutating func discard() { line.removeAll() }

  /// Gives the terminal back as it was, and leaves the last state on it.
  mutating func close() {
    guard isDrawn else { return }
    line.removeAll()
    line.put(Screen.end)
    try? flush()
  }
}

extension JSONLine {
  /// A fix for people who read lines.
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
    } else {
      put("  no fix")
    }
    endLine()
  }

  /// A number between two texts; nothing when it is nil.
  mutating func labelled(_ before: StaticString, _ value: Double?, digits: Int, _ after: StaticString) {
    guard let value, abs(value) < 1e9 else { return }
    put(before)
    decimal(value, digits: digits)
    put(after)
  }
}
