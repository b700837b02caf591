// SPDX-License-Identifier: Apache-2.0

import GPSD
import ReceiverStream

/// A format that is written point by point.
protocol TrackFile: Sendable {
  mutating func begin(_ text: inout JSONLine)
  mutating func add(_ point: TrackPoint, _ text: inout JSONLine)
  mutating func finish(_ text: inout JSONLine)
}

/// Writes the fixes of a stream in a format for other programs. The memory that it needs does not depend on the length
/// of the stream.
///
/// For a recording the last report of each epoch is written, which is the most complete; for a live stream the first
/// report, at once.
package struct TrackWriter: ~Copyable {
  package enum Format: String, CaseIterable, Sendable {
    case gpx, kml, csv, geojson, nmea
  }

  /// The number of fixes with a position so far, within the range.
  package private(set) var positions: UInt64 = 0

  private enum Content {
    case points(any TrackFile)
    case sentences
  }
  private var content: Content
  private let range: TimeRange
  private let isLive: Bool
  /// The last report of the open epoch, and what it is written as if its time is in the range: a point, or sentences.
  private var open: Fix?
  private var point: TrackPoint?
  private var sentences: [UInt8] = []

  /// - Parameters:
  ///   - columns: of a table.
  ///   - range: the times of the fixes to write.
  package init(
    _ format: Format, columns: [CSVColumn] = CSVColumn.usual, range: TimeRange = TimeRange(), isLive: Bool = false
  ) {
    content =
      switch format {
      case .gpx: .points(GPXFile())
      case .kml: .points(KMLFile())
      case .csv: .points(CSVFile(columns: columns))
      case .geojson: .points(GeoJSONFile())
      case .nmea: .sentences
      }
    self.range = range
    self.isLive = isLive
  }

  /// Writes what precedes the first fix.
  package mutating func begin(_ text: inout JSONLine) {
    if case .points(var file) = content {
      file.begin(&text)
      content = .points(file)
    }
  }

  /// Handles a report of the assembler.
  package mutating func add(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ text: inout JSONLine
  ) {
    if report.isUpdate {
      // Other fixes may have been written after the epoch of the update.
      let isOfOpen = if let open { open.isUpdated(by: report.fix) } else { false }
      if isLive || !isOfOpen { return addSatellites(report, sky, &text) }
    } else {
      flush(&text)
    }
    open = report.fix
    (point, sentences) = (nil, [])
    // The time of an update may be another one, in the range or not.
    guard range.contains(report.fix.time) else { return }
    switch content {
    case .points: point = report.fix.hasPosition ? TrackPoint(report.fix, sky) : nil
    case .sentences: sentences = FixSentences.text(of: report.fix, sky, Self.geometry(report, sky), .epoch)
    }
    if isLive { flush(&text) }
  }

  /// Handles a fix from the receiver's memory. It follows the epochs that precede it in the stream.
  package mutating func add(stored fix: Fix, _ text: inout JSONLine) {
    flush(&text)
    guard fix.hasPosition, range.contains(fix.time) else { return }
    positions += 1
    switch content {
    case .points: write(TrackPoint(fix), &text)
    case .sentences: write(FixSentences.text(of: fix, Sky(), nil, .epoch), &text)
    }
  }

  /// Writes the rest of the file.
  package mutating func finish(_ text: inout JSONLine) {
    flush(&text)
    if case .points(var file) = content { file.finish(&text) }
  }

  private mutating func flush(_ text: inout JSONLine) {
    if let open, open.hasPosition, range.contains(open.time) { positions += 1 }
    if let point { write(point, &text) }
    write(sentences, &text)
    (open, point, sentences) = (nil, nil, [])
  }

  private mutating func write(_ point: TrackPoint, _ text: inout JSONLine) {
    guard case .points(var file) = content else { return }
    file.add(point, &text)
    content = .points(file)
  }

  private func write(_ sentences: [UInt8], _ text: inout JSONLine) {
    for byte in sentences { text.put(raw: byte) }
  }

  /// Writes the sentences of satellites that follow their fix.
  private func addSatellites(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ text: inout JSONLine
  ) {
    guard case .sentences = content, report.skyChanged, range.contains(report.fix.time) else { return }
    write(
      FixSentences.text(
        of: report.fix, sky, Self.geometry(report, sky), .update(satellites: true, errors: false)), &text)
  }

  private static func geometry(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky
  ) -> Dilutions? {
    report.fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
  }
}

/// A closed range of times, to the millisecond as they are printed; an end that is nil is open.
package struct TimeRange: Equatable, Sendable {
  package let from: UTCTime?
  package let to: UTCTime?

  package init(from: UTCTime? = nil, to: UTCTime? = nil) {
    self.from = from?.roundedToMilliseconds
    self.to = to?.roundedToMilliseconds
  }

  package var isOpen: Bool { from == nil && to == nil }

  /// Whether a time is in the range. An unknown time is only in the open range.
  package func contains(_ time: UTCTime?) -> Bool {
    guard let time = time?.roundedToMilliseconds else { return isOpen }
    return from.map { $0 <= time } ?? true && to.map { time <= $0 } ?? true
  }
}

extension UTCTime {
  /// Reads a time in ISO 8601, UTC: `2026-11-24`, `2026-11-24T12:30Z`, `2026-11-24T12:30:05.25Z`; the Z may be omitted.
  /// Nil for any other text.
  package init?(iso8601 text: String) {
    var parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let date = parts.removeFirst().split(separator: "-", omittingEmptySubsequences: false)
    guard date.count == 3, let year = Self.digits(date[0], 4), let month = Self.digits(date[1], 2),
      let ofMonth = Self.digits(date[2], 2), let day = Day(year: year, month: month, day: ofMonth)
    else { return nil }
    guard let time = parts.first else {
      self.init(day: day, nanosecondsOfDay: 0)
      return
    }
    let clock = (time.hasSuffix("Z") ? time.dropLast() : time).split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 2 || clock.count == 3, let hour = Self.digits(clock[0], 2), hour < 24,
      let minute = Self.digits(clock[1], 2), minute < 60
    else { return nil }
    var nanoseconds = Int64(hour * 60 + minute) * 60_000_000_000
    if clock.count == 3 {
      let second = clock[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard let whole = Self.digits(second[0], 2), whole <= 60 else { return nil }
      nanoseconds += Int64(whole) * 1_000_000_000
      if second.count == 2 {
        guard (1...9).contains(second[1].utf8.count), var part = Self.digits(second[1], second[1].utf8.count) else {
          return nil
        }
        for _ in second[1].utf8.count..<9 { part *= 10 }
        nanoseconds += Int64(part)
      }
    }
    self.init(day: day, nanosecondsOfDay: nanoseconds)
  }

  private static func digits(_ text: Substring, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int(text)
  }
}

extension TrackPoint {
  var knownSatellites: Double? { satellitesUsed.map { Double($0) } }
}
