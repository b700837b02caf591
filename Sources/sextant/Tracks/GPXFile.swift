// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

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
    if let kind = Self.kind(fix) { text.element("fix", kind) }
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

  /// The schema's `fixType`, which has no value for positions of other origin than satellites.
  private static func kind(_ fix: Fix) -> StaticString? {
    switch SolutionKind(fix) {
    case .none, .timeOnly, .outsideLimits: "none"
    case .simulated, .surveyed, .deadReckoning: nil
    case .twoD: "2d"
    case .threeD: "3d"
    case .differential, .rtkFloat, .rtkFixed: "dgps"
    case .preciseService: "pps"
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
