// SPDX-License-Identifier: Apache-2.0
import EventLoop
import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverStream
import TrackFormats
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
  private var track: TrackWriter?
  /// The number of epochs with a position after which nothing more is shown; nil for no limit.
  private let limit: Int?
  private var line = JSONLine()
  private var screen: Screen
  private var isDrawn = false
  /// Received bytes that are not yet written.
  private var received: [UInt8] = []
  private var isClosed = false
  private var isDirty = false
  private var drawn: Instant

  init(_ kind: Kind, limit: Int? = nil, now: Instant) {
    self.kind = kind
    self.limit = limit
    drawn = now
    screen = Screen(now)
    if case .track(let format, let columns) = kind {
      var writer = TrackWriter(format, columns: columns, isLive: true)
      writer.begin(&line)
      track = consume writer
    }
  }

  private var isScreen: Bool { if case .screen = kind { true } else { false } }

  /// Prepares for the near end of an epoch: writes it without output, which fills the caches of the processor. Between
  /// epochs other programs use the caches, and refilling them takes most of the time from the last byte to the line.
  mutating func warmUp(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    guard case .json = kind, line.bytes.byteCount == 0 else { return }
    line.report(report, sky, device: screen.device)
    line.removeAll()
  }

  /// When the screen is drawn again without an event, because it shows the duration of a silence.
  var deadline: Instant? { isScreen ? drawn + Milliseconds(1000) : nil }

  /// Notes that a port was opened.
  mutating func open(_ path: String, baud: UInt32?, _ source: Source) {
    screen.device = if case .simulator(let name) = source { "simulator: \(name)" } else { path }
    screen.device = PrintedText.escaped(screen.device)
    screen.baud = baud
    screen.message = nil
    isDirty = true
  }

  mutating func set(baud: UInt32) { screen.baud = baud }

  /// Shows received bytes.
  mutating func show(bytes: RawSpan) {
    if case .raw = kind { received += [UInt8](copying: bytes) }
  }

  mutating func set(bytes: UInt64) { screen.bytes = bytes }

  /// Shows a report.
  mutating func show(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ now: Instant) {
    // A read may have more epochs than requested.
    if let limit, fixes >= limit { return }
    if !report.isUpdate, report.fix.hasPosition { fixes += 1 }
    switch kind {
    case .json: line.report(report, sky, device: screen.device)
    case .lines: if !report.isUpdate { line.plain(report.fix) }
    case .raw: break
    case .track: track?.add(report, sky, &line)
    case .screen:
      screen.take(report, sky, now)
      isDirty = true
    }
  }

  mutating func update(_ counters: StreamCounters, rejected: Int, _ now: Instant) {
    guard isScreen, !isClosed else { return }
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

  /// Shows a line for the user, on the screen or on standard error.
  mutating func show(notice text: String) {
    if isScreen, isDrawn {
      screen.message = PrintedText.escaped(text)
      isDirty = true
    } else {
      printNotice(text)
    }
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

  /// Restores the terminal, and leaves the last state on it. Completes a file.
  mutating func close() {
    if !isClosed, track != nil {
      track?.finish(&line)
      try? flush()
    }
    isClosed = true
    guard isDrawn else { return }
    isDrawn = false
    line.removeAll()
    line.put(Screen.end)
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
}
