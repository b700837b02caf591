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

/// A closed range of times; an end that is nil is open.
package struct TimeRange: Equatable, Sendable {
  package var from: UTCTime?
  package var to: UTCTime?

  package init(from: UTCTime? = nil, to: UTCTime? = nil) {
    self.from = from
    self.to = to
  }

  package var isOpen: Bool { from == nil && to == nil }

  /// Whether a time is in the range. An unknown time is only in the open range.
  package func contains(_ time: UTCTime?) -> Bool {
    guard let time else { return isOpen }
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

/// GPX 1.1 (schema `http://www.topografix.com/GPX/1/1`): one track with a segment for each uninterrupted part.
///
/// The elements of a point are in the order of the schema's `wptType`. Speed and course, which GPX 1.1 lacks, are in
/// Garmin's TrackPointExtension v2; accuracies and satellites are in an extension of this program.
struct GPXFile: TrackFile {
  private var steps = TrackSteps()
  private var isOpen = false

  func begin(_ text: inout JSONLine) {
    text.put(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="sextant" xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:sextant="urn:sextant:gpx:1">

      """)
  }

  mutating func add(_ point: TrackPoint, _ text: inout JSONLine) {
    let step = steps.step(to: point.fix.time)
    if step == .late { return }
    if step == .begin {
      text.put(isOpen ? "</trkseg>\n<trkseg>\n" : "<trk>\n<trkseg>\n")
      isOpen = true
    }
    let fix = point.fix
    text.put("<trkpt lat=\"")
    text.number(fix.latitudeDegrees ?? 0, digits: 9)
    text.put("\" lon=\"")
    // The schema's longitudes are below 180.
    let longitude = fix.longitudeDegrees ?? 0
    text.number(longitude > 179.999_999_999_4 ? -180 : longitude, digits: 9)
    text.put("\">")
    text.element("ele", fix.heightAboveSeaLevelMetres, digits: 3)
    text.element("time", fix.time)
    // The schema's degrees are in 0 ≤ degrees < 360.
    text.element("magvar", fix.magneticVariationDegrees.map { $0 < 0 ? $0 + 360 : $0 }, digits: 1)
    text.element("geoidheight", fix.geoidSeparationMetres, digits: 3)
    text.element("fix", Self.kind(fix))
    text.element("sat", point.satellitesUsed)
    text.element("hdop", point.hdop, digits: 2)
    text.element("vdop", point.vdop, digits: 2)
    text.element("pdop", point.pdop, digits: 2)
    text.element("ageofdgpsdata", fix.differentialAgeSeconds, digits: 1)
    if let station = fix.differentialStation, (0...1023).contains(station) { text.element("dgpsid", station) }
    extensions(point, &text)
    text.put("</trkpt>\n")
  }

  mutating func finish(_ text: inout JSONLine) {
    text.put(isOpen ? "</trkseg>\n</trk>\n</gpx>\n" : "</gpx>\n")
  }

  /// The schema's `fixType`.
  private static func kind(_ fix: Fix) -> StaticString {
    switch fix.quality {
    case .differential, .rtkFloat, .rtkFixed: "dgps"
    case .preciseService: "pps"
    default: fix.kind == .twoD ? "2d" : "3d"
    }
  }

  private func extensions(_ point: TrackPoint, _ text: inout JSONLine) {
    let fix = point.fix
    let hasMotion = fix.speedMetresPerSecond != nil || fix.courseDegrees != nil
    let hasAccuracy = point.horizontalAccuracyMetres != nil || fix.speedAccuracyMetresPerSecond != nil
    guard hasMotion || hasAccuracy || point.satellites != nil else { return }
    text.put("<extensions>")
    if hasMotion {
      text.put("<gpxtpx:TrackPointExtension>")
      text.element("gpxtpx:speed", fix.speedMetresPerSecond, digits: 3)
      text.element("gpxtpx:course", fix.courseDegrees.map { $0 >= 360 ? $0 - 360 : $0 }, digits: 2)
      text.put("</gpxtpx:TrackPointExtension>")
    }
    text.element("sextant:horizontalAccuracyMetres", point.horizontalAccuracyMetres, digits: 3)
    text.element("sextant:verticalAccuracyMetres", point.verticalAccuracyMetres, digits: 3)
    text.element("sextant:speedAccuracyMetresPerSecond", fix.speedAccuracyMetresPerSecond, digits: 3)
    text.element("sextant:heightAboveEllipsoidMetres", fix.heightAboveEllipsoidMetres, digits: 3)
    if let satellites = point.satellites {
      text.element("sextant:satellitesInView", satellites.inView)
      text.element("sextant:satellitesUsed", satellites.used)
      text.element("sextant:usedSignalDecibelHertz", satellites.usedSignalDecibelHertz, digits: 1)
    }
    text.put("</extensions>")
  }
}

/// KML 2.2 (OGC 07-147r2) with Google's extension `gx:Track` (KML 2.3, OGC 12-007r2, names the same elements).
///
/// Each part of a segment is a folder with two places: the path as a `LineString`, which every program reads, and the
/// track with the time, accuracy, speed and satellites of each point. Heights are above sea level, as in KML; a part in
/// which a point has no height is clamped to the ground.
struct KMLFile: TrackFile {
  private var part = TrackPart()

  func begin(_ text: inout JSONLine) {
    text.put(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
      <Document><name>sextant</name>
      <Style id="track"><LineStyle><color>ff2060e0</color><width>3</width></LineStyle></Style>
      <Schema id="point">
      <gx:SimpleArrayField name="horizontalAccuracyMetres" type="float"/>
      <gx:SimpleArrayField name="verticalAccuracyMetres" type="float"/>
      <gx:SimpleArrayField name="speedMetresPerSecond" type="float"/>
      <gx:SimpleArrayField name="satellitesUsed" type="int"/>
      </Schema>

      """)
  }

  mutating func add(_ point: TrackPoint, _ text: inout JSONLine) {
    if let points = part.add(point) { Self.writeRuns(points, &text) }
  }

  mutating func finish(_ text: inout JSONLine) {
    if let points = part.open { Self.writeRuns(points, &text) }
    text.put("</Document>\n</kml>\n")
  }

  /// Points with a time and those without, such as the first ones of a recording, are different folders.
  private static func writeRuns(_ points: [TrackPoint], _ text: inout JSONLine) {
    var rest = points[...]
    while let first = rest.first {
      let hasTimes = first.fix.time != nil
      let run = rest.prefix { ($0.fix.time != nil) == hasTimes }
      write(Array(run), hasTimes: hasTimes, &text)
      rest = rest.dropFirst(run.count)
    }
  }

  private static func write(_ points: [TrackPoint], hasTimes: Bool, _ text: inout JSONLine) {
    let hasHeights = points.allSatisfy { $0.fix.heightAboveSeaLevelMetres != nil }
    text.put("<Folder>")
    text.element("name", points[0].fix.time)
    text.put("<Placemark><name>path</name>")
    if hasTimes {
      text.begin("TimeSpan")
      text.element("begin", points[0].fix.time)
      text.element("end", points[points.count - 1].fix.time)
      text.end("TimeSpan")
    }
    text.put("<styleUrl>#track</styleUrl>")
    text.put(points.count == 1 ? "<Point>" : "<LineString><tessellate>1</tessellate>")
    mode(hasHeights, &text)
    text.put("<coordinates>")
    for (index, point) in points.enumerated() {
      if index > 0 { text.put(" ") }
      text.coordinates(
        point.fix, height: hasHeights ? point.fix.heightAboveSeaLevelMetres : nil, separator: ",")
    }
    text.put("</coordinates>")
    text.put(points.count == 1 ? "</Point>" : "</LineString>")
    text.put("</Placemark>\n")
    if hasTimes { track(points, hasHeights, &text) }
    text.put("</Folder>\n")
  }

  private static func mode(_ hasHeights: Bool, _ text: inout JSONLine) {
    text.element("altitudeMode", hasHeights ? "absolute" : "clampToGround")
  }

  private static func track(_ points: [TrackPoint], _ hasHeights: Bool, _ text: inout JSONLine) {
    text.put("<Placemark><name>track</name><styleUrl>#track</styleUrl><gx:Track>")
    mode(hasHeights, &text)
    for point in points { text.element("when", point.fix.time) }
    for point in points {
      text.put("<gx:coord>")
      text.coordinates(
        point.fix, height: hasHeights ? point.fix.heightAboveSeaLevelMetres : 0, separator: " ")
      text.put("</gx:coord>")
    }
    text.put("<ExtendedData><SchemaData schemaUrl=\"#point\">")
    values("horizontalAccuracyMetres", points, digits: 3, \.horizontalAccuracyMetres, &text)
    values("verticalAccuracyMetres", points, digits: 3, \.verticalAccuracyMetres, &text)
    values("speedMetresPerSecond", points, digits: 3, \.fix.speedMetresPerSecond, &text)
    values("satellitesUsed", points, digits: 0, \.knownSatellites, &text)
    text.put("</SchemaData></ExtendedData></gx:Track></Placemark>\n")
  }

  private static func values(
    _ name: StaticString, _ points: [TrackPoint], digits: Int, _ value: (TrackPoint) -> Double?,
    _ text: inout JSONLine
  ) {
    text.put("<gx:SimpleArrayData name=\"")
    text.put(name)
    text.put("\">")
    // An unknown value is written as an empty element.
    for point in points {
      text.put("<gx:value>")
      if let value = value(point) { text.number(value, digits: digits) }
      text.put("</gx:value>")
    }
    text.put("</gx:SimpleArrayData>")
  }
}

extension TrackPoint {
  var knownSatellites: Double? { satellitesUsed.map { Double($0) } }
}

/// GeoJSON (RFC 7946): a FeatureCollection with a LineString for each part of a segment, or a Point for a part with one
/// fix.
///
/// Heights are above the ellipsoid (section 4). Properties are lists with a value for each position. A line that crosses the
/// antimeridian is split there (section 3.1.9); the values at a cut are null, because no fix was there.
struct GeoJSONFile: TrackFile {
  private var part = TrackPart()
  private var hasFeatures = false

  func begin(_ text: inout JSONLine) { text.put("{\"type\":\"FeatureCollection\",\"features\":[") }

  mutating func add(_ point: TrackPoint, _ text: inout JSONLine) {
    if let points = part.add(point) { write(points, &text) }
  }

  mutating func finish(_ text: inout JSONLine) {
    if let points = part.open { write(points, &text) }
    text.put(hasFeatures ? "\n]}\n" : "]}\n")
  }

  /// A position: a fix, or the place where a line was cut.
  private struct Position {
    var longitude: Double
    var latitude: Double
    var height: Double?
    var point: TrackPoint?

    init(_ point: TrackPoint) {
      longitude = point.fix.longitudeDegrees ?? 0
      latitude = point.fix.latitudeDegrees ?? 0
      height = point.fix.heightAboveEllipsoidMetres
      self.point = point
    }

    /// The place where the shorter path from `a` to `b` crosses the antimeridian, on the side of `a`.
    init(between a: Position, and b: Position) {
      let side = a.longitude < 0 ? -180.0 : 180.0
      let way = b.longitude + 2 * side - a.longitude
      let share = way == 0 ? 0 : (side - a.longitude) / way
      longitude = side
      latitude = a.latitude + share * (b.latitude - a.latitude)
      if let low = a.height, let high = b.height { height = low + share * (high - low) }
    }
  }

  private mutating func write(_ points: [TrackPoint], _ text: inout JSONLine) {
    var line: [Position] = []
    for point in points {
      let position = Position(point)
      if let last = line.last, abs(position.longitude - last.longitude) > 180 {
        line.append(Position(between: last, and: position))
        feature(line, &text)
        line = [Position(between: position, and: last)]
      }
      line.append(position)
    }
    feature(line, &text)
  }

  private mutating func feature(_ line: [Position], _ text: inout JSONLine) {
    text.put(hasFeatures ? ",\n" : "\n")
    hasFeatures = true
    let isPoint = line.count == 1
    text.put("{\"type\":\"Feature\",\"geometry\":{\"type\":\"")
    text.put(isPoint ? "Point\",\"coordinates\":" : "LineString\",\"coordinates\":[")
    for (index, position) in line.enumerated() {
      text.put(index > 0 ? ",[" : "[")
      text.number(position.longitude, digits: 8)
      text.put(",")
      text.number(position.latitude, digits: 8)
      if let height = position.height, text.isWritable(height) {
        text.put(",")
        text.number(height, digits: 3)
      }
      text.put("]")
    }
    text.put(isPoint ? "},\"properties\":{" : "]},\"properties\":{")
    list("\"time\":[", line, &text) { point, text in
      guard let time = point.fix.time else { return false }
      text.put("\"")
      text.timestamp(time)
      text.put("\"")
      return true
    }
    values(",\"horizontalAccuracyMetres\":[", line, digits: 3, &text, \.horizontalAccuracyMetres)
    values(",\"verticalAccuracyMetres\":[", line, digits: 3, &text, \.verticalAccuracyMetres)
    values(",\"speedMetresPerSecond\":[", line, digits: 3, &text, \.fix.speedMetresPerSecond)
    values(",\"courseDegrees\":[", line, digits: 2, &text, \.fix.courseDegrees)
    values(",\"satellitesUsed\":[", line, digits: 0, &text, \.knownSatellites)
    text.put("}}")
  }

  private func values(
    _ name: StaticString, _ line: [Position], digits: Int, _ text: inout JSONLine, _ value: (TrackPoint) -> Double?
  ) {
    list(name, line, &text) { point, text in
      guard let value = value(point), text.isWritable(value) else { return false }
      text.number(value, digits: digits)
      return true
    }
  }

  /// Writes a list with a value for each position. `value` returns false for an unknown value, which is written as
  /// null.
  private func list(
    _ name: StaticString, _ line: [Position], _ text: inout JSONLine, _ value: (TrackPoint, inout JSONLine) -> Bool
  ) {
    text.put(name)
    for (index, position) in line.enumerated() {
      if index > 0 { text.put(",") }
      guard let point = position.point, value(point, &text) else {
        text.put("null")
        continue
      }
    }
    text.put("]")
  }
}
