// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import ReceiverStream

/// The lines above and below the view: position, fix and line, in the order of their importance for the size of the screen.
struct ScreenFrame {
  let size: ScreenSize
  let capabilities: ScreenCapabilities
  private let content: ScreenContent
  private let isPaused: Bool
  private let hasKeys: Bool
  private let now: Instant

  init(
    _ size: ScreenSize, _ content: ScreenContent, isPaused: Bool, hasKeys: Bool, _ capabilities: ScreenCapabilities,
    _ now: Instant
  ) {
    self.size = size
    self.content = content
    self.isPaused = isPaused
    self.hasKeys = hasKeys
    self.capabilities = capabilities
    self.now = content.pausedAt ?? now
  }

  /// An empty line.
  func line() -> ScreenLine { ScreenLine(width: size.columns, isUTF8: capabilities.isUTF8) }

  /// Without room for the labels of the lines they are not indented.
  var isNarrow: Bool { size.columns < 44 }

  // MARK: Above the view

  /// The lines above the view: the position, and below it as much as there is room for.
  ///
  /// - Parameter isViewChosen: whether the view takes precedence on a small screen, because the user has chosen it.
  func above(isViewChosen: Bool) -> [ScreenLine] {
    let positions = positionLines()
    // The most important lines first.
    let details: [(order: Int, line: () -> ScreenLine)] = [(3, fix), (0, altitude), (2, time), (1, motion), (4, rate)]
    let room =
      size.rows - positions.count - (size.rows >= 3 ? 1 : 0) - (content.message == nil || size.rows < 2 ? 0 : 1)
    let most = isViewChosen && size.rows < 16 ? 1 : details.count
    let chosen = details.prefix(max(0, min(room, most))).sorted { $0.order < $1.order }
    return positions + chosen.map { $0.line() }
  }

  private func positionLines() -> [ScreenLine] {
    var first = label("Position")
    guard content.fix.hasPosition, let latitude = content.fix.latitudeDegrees,
      let longitude = content.fix.longitudeDegrees
    else {
      let text =
        content.epochs == 0 ? "listening" : content.isOutdated ? "no valid message any more" : "no fix yet"
      var line = isNarrow ? self.line() : first
      line.putCut(text, .yellow)
      return [line]
    }
    func both(_ digits: Int) -> String {
      FixText.latitude(latitude, digits: digits) + "  " + FixText.longitude(longitude, digits: digits)
    }
    func accuracy(_ line: inout ScreenLine) {
      line.put("   ± ", content.fix.horizontalAccuracyMetres, digits: 1, " m")
      let isGuess = content.fix.accuracySource == .estimated || content.fix.accuracySource == .assumed
      if isGuess { line.put(" (estimated)") }
    }
    if !isNarrow {
      first.put(both(7), .bold)
      accuracy(&first)
      return [first]
    }
    // Two lines before less than a tenth of a metre; one line before less than a kilometre.
    for digits in size.rows >= 2 ? [7, 6] : [7, 6, 5, 4, 3, 2] where width(both(digits)) <= size.columns {
      var line = line()
      line.put(both(digits), .bold)
      accuracy(&line)
      return [line]
    }
    let north = fitted { FixText.latitude(latitude, digits: $0) }
    return size.rows >= 2 ? [north, fitted { FixText.longitude(longitude, digits: $0) }] : [north]
  }

  private func width(_ text: String) -> Int {
    ScreenText.cells(capabilities.isUTF8 ? text : ScreenText.ascii(text))
  }

  /// A coordinate with as many digits as fit.
  private func fitted(_ text: (_ digits: Int) -> String) -> ScreenLine {
    var line = line()
    let digits = (0...7).last { width(text($0)) <= size.columns } ?? 0
    line.putCut(text(digits), .bold)
    return line
  }

  private func label(_ text: String) -> ScreenLine {
    var line = line()
    if isNarrow {
      line.put(text + " ", .faint)
    } else {
      line.put("  " + text, .faint)
      line.pad(to: 13)
    }
    return line
  }

  private func altitude() -> ScreenLine {
    var line = label("Altitude")
    let fix = content.fix
    if isNarrow, let height = fix.heightAboveSeaLevelMetres ?? fix.heightAboveEllipsoidMetres {
      line.put("", height, digits: 1, fix.heightAboveSeaLevelMetres == nil ? " m (ellipsoid)" : " m")
      return line
    }
    line.put("", fix.heightAboveSeaLevelMetres, digits: 1, " m above sea level   ")
    line.put("", fix.heightAboveEllipsoidMetres, digits: 1, " m above the ellipsoid")
    line.put("   ± ", fix.verticalAccuracyMetres, digits: 1, " m")
    return line
  }

  private func motion() -> ScreenLine {
    var line = label("Motion")
    line.put("", content.fix.speedMetresPerSecond, digits: 2, " m/s")
    line.put("   course ", content.fix.courseDegrees, digits: 1, "°")
    line.put("   climb ", content.fix.climbMetresPerSecond, digits: 2, " m/s")
    return line
  }

  private func time() -> ScreenLine {
    var line = label("Time")
    if let time = content.fix.time {
      line.put(ScreenText.written { $0.timestamp(time) })
      line.put("   ± ", content.fix.timeAccuracySeconds.map { $0 * 1e9 }, digits: 0, " ns")
    } else {
      line.put("not known yet")
    }
    return line
  }

  private func fix() -> ScreenLine {
    var line = label("Fix")
    let fix = content.fix
    line.put(FixText.kind(fix), fix.hasPosition ? .green : .yellow)
    if !fix.isWithinLimits, fix.hasPosition { line.put(", outside the receiver's own limits", .yellow) }
    if let used = fix.satellitesUsed { line.put("   \(used) satellites used") }
    line.put("   HDOP ", fix.hdop, digits: 2, "")
    line.put("   PDOP ", fix.pdop, digits: 2, "")
    return line
  }

  private func rate() -> ScreenLine {
    var line = label("Rate")
    if let interval = content.interval, interval > 0 {
      line.put("", 1000 / Double(interval), digits: 1, " epochs/s   ")
    }
    let seconds = max(1, now.milliseconds(since: content.start) / 1000)
    line.put("\(content.bytes / seconds) bytes/s")
    if let lastEpoch = content.lastEpoch, case let silence = now.milliseconds(since: lastEpoch) / 1000, silence >= 3 {
      line.put("   ")
      line.put("no epoch for \(silence) s", [.bold, .yellow])
    }
    return line
  }

  // MARK: Below the view

  /// The lines below the view, in this number of rows: frames and errors where they leave half of them to the view, the
  /// message, and the line with device and keys.
  func below(rows: Int) -> [ScreenLine] {
    guard rows > 0 else { return [] }
    let status = size.rows >= 3 ? [statusLine()] : []
    let message = messageLines(most: min(rows - status.count, size.rows >= 12 ? 3 : 1))
    let counts = rows - status.count - message.count >= 8 ? [line(), frames(), errors()] : []
    return counts + message + status
  }

  private func frames() -> ScreenLine {
    var line = label("Frames")
    line.put("NMEA \(content.counters.nmeaFrames)")
    line.put("  UBX \(content.counters.ubxFrames)")
    line.put("  RTCM3 \(content.counters.rtcm3Frames)")
    return line
  }

  private func errors() -> ScreenLine {
    var line = label("Errors")
    line.put("\(content.counters.badChecksums) checksums")
    line.put("  \(content.counters.skippedBytes) bytes skipped")
    line.put("  \(content.rejected) fields rejected")
    return line
  }

  private func messageLines(most: Int) -> [ScreenLine] {
    guard most > 0, let message = content.message else { return [] }
    let indent = isNarrow ? 0 : 2
    return ScreenText.wrapped(message, cells: size.columns - indent, lines: most).map {
      var line = line()
      line.pad(to: indent)
      line.putCut($0)
      return line
    }
  }

  /// The device and its rate at the left, the keys at the right.
  private func statusLine() -> ScreenLine {
    var line = line()
    let hint = hasKeys ? "q ends  ? keys" : "^C ends"
    if isPaused {
      line.put(" paused ", .reverse)
      line.put(" ")
    }
    let room = size.columns - line.cells - hint.utf8.count - (isNarrow ? 1 : 4)
    if room >= 6 {
      if !isNarrow { line.put("  ") }
      line.putCut(content.device, most: room)
      if let baud = content.baud, case let text = "  \(baud) baud",
        line.cells + text.utf8.count + hint.utf8.count < size.columns
      {
        line.put(text)
      }
    }
    line.pad(to: size.columns - hint.utf8.count - (isNarrow ? 0 : 2))
    line.put(hint, .faint)
    return line
  }
}
