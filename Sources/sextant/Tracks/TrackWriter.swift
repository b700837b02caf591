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
  /// The last report of the open epoch: a point, or sentences.
  private var point: TrackPoint?
  private var sentences: [UInt8] = []
  private var time: UTCTime?

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
      // An update is ignored if other fixes were written after its epoch.
      let isOther = report.fix.time != time
      if isLive || isOther { return addSatellites(report, sky, &text) }
    } else {
      flush(&text)
    }
    time = report.fix.time
    guard range.contains(time) else { return }
    switch content {
    case .points: point = report.fix.hasPosition ? TrackPoint(report.fix, sky) : nil
    case .sentences: sentences = FixSentences.text(of: report.fix, sky, Self.geometry(report, sky), isUpdate: false)
    }
    if report.fix.hasPosition, !report.isUpdate { positions += 1 }
    if isLive { flush(&text) }
  }

  /// Handles a fix from the receiver's memory.
  package mutating func add(stored fix: Fix, _ text: inout JSONLine) {
    guard fix.hasPosition, range.contains(fix.time) else { return }
    positions += 1
    switch content {
    case .points: write(TrackPoint(fix), &text)
    case .sentences: write(FixSentences.text(of: fix, Sky(), nil, isUpdate: false), &text)
    }
  }

  /// Writes the rest of the file.
  package mutating func finish(_ text: inout JSONLine) {
    flush(&text)
    if case .points(var file) = content { file.finish(&text) }
  }

  private mutating func flush(_ text: inout JSONLine) {
    if let point { write(point, &text) }
    point = nil
    write(sentences, &text)
    sentences.removeAll(keepingCapacity: true)
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
    write(FixSentences.text(of: report.fix, sky, Self.geometry(report, sky), isUpdate: true), &text)
  }

  private static func geometry(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky
  ) -> Dilutions? {
    report.fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
  }
}
