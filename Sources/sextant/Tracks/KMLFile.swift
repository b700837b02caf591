// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

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
