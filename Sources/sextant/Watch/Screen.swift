// SPDX-License-Identifier: Apache-2.0
import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverStream

/// The screen of `sextant watch`: a state and its drawing. The drawing overwrites itself once an epoch.
struct Screen: ~Copyable {
  var device = ""
  var baud: UInt32?
  var bytes: UInt64 = 0
  var counters = StreamCounters()
  var rejected = 0
  /// A message to the user, until the next port is opened.
  var message: String?

  private var fix = Fix()
  private var sky = Sky()
  private var epochs = 0
  private var lastEpoch: Instant?
  private var interval: UInt64?
  /// Whether the last epoch is too old to be shown.
  private var isOutdated = false
  private let start: Instant

  /// Switches to the alternate screen of the terminal, without a cursor.
  static let begin: StaticString = "\u{1B}[?1049h\u{1B}[?25l"
  /// Restores the terminal.
  static let end: StaticString = "\u{1B}[?25h\u{1B}[?1049l"

  init(_ now: Instant) { start = now }

  /// The least age from which an epoch is not shown any more, and the number of its intervals.
  private static let (outdatedMilliseconds, outdatedIntervals) = (5000 as UInt64, 3 as UInt64)

  /// Takes a report.
  mutating func take(_ report: borrowing EpochAssembler.Report, _ newSky: borrowing Sky, _ now: Instant) {
    fix = report.fix
    isOutdated = false
    if report.skyChanged { sky = Sky(newSky) }
    guard !report.isUpdate else { return }
    epochs += 1
    if let lastEpoch { interval = now.milliseconds(since: lastEpoch) }
    lastEpoch = now
  }

  /// Discards the last epoch when it is outdated: at a wrong rate, or of a silent receiver, it would stay for ever.
  private mutating func discardOutdated(_ now: Instant) {
    guard !isOutdated, let lastEpoch, now.milliseconds(since: lastEpoch) >= Self.outdatedMilliseconds,
      now.milliseconds(since: lastEpoch) >= Self.outdatedIntervals * (interval ?? 0)
    else { return }
    (fix, interval, isOutdated) = (Fix(), nil, true)
    sky = Sky()
  }

  /// Draws the state for a terminal of this size.
  mutating func draw(into line: inout JSONLine, _ size: (columns: Int, rows: Int), _ now: Instant) {
    discardOutdated(now)
    line.put("\u{1B}[H")
    head(&line)
    place(&line)
    motion(&line)
    quality(&line, now)
    let room = size.rows - 14
    satellites(&line, columns: size.columns, rows: max(0, room))
    foot(&line, now)
    line.put("\u{1B}[J")
  }

  // MARK: Rows

  private func row(_ line: inout JSONLine) { line.put("\u{1B}[K\r\n") }

  private func label(_ line: inout JSONLine, _ text: StaticString) {
    line.put("\u{1B}[2m  ")
    line.put(text)
    for _ in text.utf8CodeUnitCount..<11 { line.put(" ") }
    line.put("\u{1B}[0m")
  }

  private func head(_ line: inout JSONLine) {
    line.put("\u{1B}[1m  Sextant\u{1B}[0m  ")
    line.plainText(device)
    if let baud {
      line.put("  ")
      line.integer(Int64(baud))
      line.put(" baud")
    }
    line.put("\u{1B}[2m   ^C ends\u{1B}[0m")
    row(&line)
    row(&line)
  }

  private func place(_ line: inout JSONLine) {
    label(&line, "Position")
    if fix.hasPosition, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees {
      line.decimal(abs(latitude), digits: 7)
      line.put(latitude < 0 ? "° S  " : "° N  ")
      line.decimal(abs(longitude), digits: 7)
      line.put(longitude < 0 ? "° W" : "° E")
      line.labelled("   ± ", fix.horizontalAccuracyMetres, digits: 1, " m")
      if fix.accuracySource == .estimated || fix.accuracySource == .assumed { line.put(" (estimated)") }
    } else {
      line.put(epochs == 0 ? "listening" : isOutdated ? "no valid message any more" : "no fix yet")
    }
    row(&line)
    label(&line, "Altitude")
    line.labelled("", fix.heightAboveSeaLevelMetres, digits: 1, " m above sea level")
    line.labelled("   ", fix.heightAboveEllipsoidMetres, digits: 1, " m above the ellipsoid")
    line.labelled("   ± ", fix.verticalAccuracyMetres, digits: 1, " m")
    row(&line)
  }

  private func motion(_ line: inout JSONLine) {
    label(&line, "Motion")
    line.labelled("", fix.speedMetresPerSecond, digits: 2, " m/s")
    line.labelled("   course ", fix.courseDegrees, digits: 1, "°")
    line.labelled("   climb ", fix.climbMetresPerSecond, digits: 2, " m/s")
    row(&line)
    label(&line, "Time")
    if let time = fix.time {
      line.timestamp(time)
      line.labelled("   ± ", fix.timeAccuracySeconds.map { $0 * 1e9 }, digits: 0, " ns")
    } else {
      line.put("not known yet")
    }
    row(&line)
  }

  private func quality(_ line: inout JSONLine, _ now: Instant) {
    label(&line, "Fix")
    line.put(kindName)
    line.put(qualityName)
    if !fix.isWithinLimits, fix.hasPosition { line.put(", outside the receiver's own limits") }
    if let used = fix.satellitesUsed {
      line.put("   ")
      line.integer(Int64(used))
      line.put(" satellites used")
    }
    line.labelled("   HDOP ", fix.hdop, digits: 2, "")
    line.labelled("   PDOP ", fix.pdop, digits: 2, "")
    row(&line)
    label(&line, "Rate")
    if let interval, interval > 0 { line.labelled("", 1000 / Double(interval), digits: 1, " epochs/s   ") }
    let seconds = max(1, now.milliseconds(since: start) / 1000)
    line.integer(Int64(bytes / seconds))
    line.put(" bytes/s")
    if let lastEpoch, case let silence = now.milliseconds(since: lastEpoch) / 1000, silence >= 3 {
      line.put("   \u{1B}[1mno epoch for ")
      line.integer(Int64(silence))
      line.put(" s\u{1B}[0m")
    }
    row(&line)
    row(&line)
  }

  private var kindName: StaticString {
    switch fix.kind {
    case .none: "none"
    case .timeOnly: "time only"
    case .twoD: "2D"
    case .threeD: "3D"
    case .deadReckoning: "dead reckoning"
    case .combined: "3D with sensors"
    case .surveyed: "surveyed place"
    }
  }

  private var qualityName: StaticString {
    guard fix.hasPosition else { return "" }
    switch fix.quality {
    case .differential: return ", differential"
    case .preciseService: return ", precise"
    case .rtkFloat: return ", RTK float"
    case .rtkFixed: return ", RTK fixed"
    case .estimated: return ", estimated"
    case .manual: return ", manual"
    case .simulated: return ", simulated"
    case .unknown, .autonomous: return ""
    }
  }

  // MARK: Satellites

  /// Draws the satellites with their signals as bars in as many columns as fit.
  private func satellites(_ line: inout JSONLine, columns: Int, rows: Int) {
    let order = byStrength()
    let width = 38
    let across = max(1, (columns - 2) / width)
    let shown = min(order.count, rows * across)
    let high = (shown + across - 1) / across
    let all = sky.satellites
    for place in 0..<high {
      line.put("  ")
      for column in 0..<across where column * high + place < shown {
        satellite(&line, all[order[column * high + place]])
      }
      row(&line)
    }
    if order.count > shown {
      line.put("  and ")
      line.integer(Int64(order.count - shown))
      line.put(" more")
      row(&line)
    }
  }

  private func byStrength() -> [Int] {
    let all = sky.satellites
    var order = Array(0..<sky.count)
    // A stable order by system and number avoids flicker. Satellites without a signal come last.
    order.sort { a, b in
      let (x, y) = (all[a], all[b])
      if (x.signalDecibelHertz > 0) != (y.signalDecibelHertz > 0) { return x.signalDecibelHertz > 0 }
      return (x.system.rawValue, x.number) < (y.system.rawValue, y.number)
    }
    return order
  }

  /// Draws one satellite in 38 columns.
  private func satellite(_ line: inout JSONLine, _ satellite: Satellite) {
    line.put(satellite.isUsed ? "\u{1B}[1m" : "\u{1B}[2m")
    line.put(Self.code(satellite.system))
    line.magnitude(UInt64(satellite.number), width: 2)
    line.put(satellite.number < 100 ? "  " : " ")
    padded(&line, satellite.signalDecibelHertz > 0 ? Int64(satellite.signalDecibelHertz) : nil, width: 2)
    line.put(" ")
    bar(&line, Int(satellite.signalDecibelHertz))
    line.put(" ")
    padded(
      &line, satellite.elevationDegrees == Satellite.unknownAngle ? nil : Int64(satellite.elevationDegrees), width: 3)
    line.put("°")
    padded(&line, satellite.azimuthDegrees < 0 ? nil : Int64(satellite.azimuthDegrees), width: 4)
    line.put("°")
    line.put("\u{1B}[0m   ")
  }

  private func padded(_ line: inout JSONLine, _ value: Int64?, width: Int) {
    var length = 1
    if let value {
      var rest = value.magnitude
      length = value < 0 ? 2 : 1
      while rest >= 10 {
        rest /= 10
        length += 1
      }
    }
    for _ in 0..<max(0, width - length) { line.put(" ") }
    if let value { line.integer(value) } else { line.put("–") }
  }

  /// Draws 14 columns for 0 to 56 dBHz, in eighths.
  private func bar(_ line: inout JSONLine, _ signal: Int) {
    let eighths = min(signal, 56) * 2
    for column in 0..<14 {
      switch eighths - column * 8 {
      case 8...: line.put("█")
      case 6...7: line.put("▊")
      case 4...5: line.put("▌")
      case 2...3: line.put("▎")
      default: line.put(" ")
      }
    }
  }

  /// The codes of the systems in RINEX.
  private static func code(_ system: Satellite.System) -> StaticString {
    switch system {
    case .gps: "G"
    case .sbas: "S"
    case .galileo: "E"
    case .beiDou: "C"
    case .imes: "M"
    case .qzss: "J"
    case .glonass: "R"
    case .navIC: "I"
    case .unknown: "?"
    }
  }

  private func foot(_ line: inout JSONLine, _ now: Instant) {
    row(&line)
    label(&line, "Frames")
    line.put("NMEA ")
    line.integer(Int64(counters.nmeaFrames))
    line.put("  UBX ")
    line.integer(Int64(counters.ubxFrames))
    line.put("  RTCM3 ")
    line.integer(Int64(counters.rtcm3Frames))
    row(&line)
    label(&line, "Errors")
    line.integer(Int64(counters.badChecksums))
    line.put(" checksums  ")
    line.integer(Int64(counters.skippedBytes))
    line.put(" bytes skipped  ")
    line.integer(Int64(rejected))
    line.put(" fields rejected")
    row(&line)
    if let message {
      line.put("  ")
      line.plainText(message)
      row(&line)
    }
  }
}

extension JSONLine {
  /// Writes text for a terminal without control characters.
  mutating func plainText(_ text: String) {
    for byte in text.utf8 where byte >= 0x20 && byte != 0x7F { put(raw: byte) }
  }
}
