// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import WireBytes

/// Sentences of a fix, for clients of NMEA whose receiver sends UBX: RMC, VTG, GGA, GSA, GSV, GST and ZDA in the form of
/// NMEA 0183 4.10, as a u-blox receiver of that version writes them (interface description of u-blox M10, chapter 2).
///
/// Positions and heights have the digits of the fix: at least those of that receiver, and at most those of its high precision mode. With
/// the latter a sentence may be longer than the 82 characters of the standard, as in that mode: no value is rounded for its length.
package enum FixSentences {
  /// A system with its talker, its number in GSA, and the number of its first satellite less one.
  private struct Row {
    var system: Satellite.System
    var talker: Talker
    var systemID: Int32
    var offset: Int32
  }

  /// SBAS counts as GPS: its satellites 120 to 158 are 33 to 64 and 152 to 158.
  private static let rows = [
    Row(system: .gps, talker: .gps, systemID: 1, offset: 0),
    Row(system: .glonass, talker: .glonass, systemID: 2, offset: 64),
    Row(system: .galileo, talker: .galileo, systemID: 3, offset: 0),
    Row(system: .beiDou, talker: .beiDou, systemID: 4, offset: 0),
    Row(system: .qzss, talker: .qzss, systemID: 5, offset: 0),
    Row(system: .navIC, talker: .navIC, systemID: 6, offset: 0),
  ]

  /// The number of satellites in a GSA.
  private static let placesOfGSA = 12

  /// The sentences of a report.
  package enum Part: Equatable, Sendable {
    /// All: it is the first one of its epoch.
    case epoch
    /// The epoch was written before: what is new.
    case update(satellites: Bool, errors: Bool)

    fileprivate var hasSatellites: Bool { if case .update(let satellites, _) = self { satellites } else { true } }
    fileprivate var hasErrors: Bool { if case .update(_, let errors) = self { errors } else { true } }
  }

  /// Returns the sentences.
  ///
  /// - Parameters:
  ///   - geometry: the dilutions computed from the satellites, if the receiver sends none.
  ///   - part: what is written.
  package static func text(of fix: Fix, _ sky: borrowing Sky, _ geometry: Dilutions?, _ part: Part) -> [UInt8] {
    var text: [UInt8] = []
    let groups = groups(of: sky)
    let talker = talker(of: groups)
    if part == .epoch {
      put(rmc(fix), talker, &text)
      put(vtg(fix), talker, &text)
      put(gga(fix, geometry), talker, &text)
    }
    if part.hasSatellites {
      for content in gsa(fix, groups, geometry) { put(content, talker, &text) }
      for group in groups { for content in gsv(group.satellites) { put(content, group.row.talker, &text) } }
    }
    if part.hasErrors, let content = gst(fix, geometry) { put(content, talker, &text) }
    if part == .epoch, let content = zda(fix) { put(content, talker, &text) }
    return text
  }

  private static func put(_ content: some SentenceContent, _ talker: Talker, _ text: inout [UInt8]) {
    var bytes = [UInt8](repeating: 0, count: longestSentence)
    var span = bytes.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var output = unsafe span.mutableBytes
    let count = content.encode(talker: talker, into: &output)
    text += bytes[..<count]
  }

  // MARK: Satellites

  private struct Group {
    var row: Row
    var satellites: [(id: Int32, satellite: Satellite)]
  }

  private static func groups(of sky: borrowing Sky) -> [Group] {
    var groups = rows.map { Group(row: $0, satellites: []) }
    let satellites = sky.satellites
    for index in satellites.indices {
      let satellite = satellites[index]
      let number = Int32(satellite.number)
      let system = satellite.system == .sbas ? .gps : satellite.system
      guard number > 0, let place = groups.firstIndex(where: { $0.row.system == system }) else { continue }
      let isSBAS = satellite.system == .sbas
      let id = isSBAS ? number < 152 ? number - 87 : number : number + groups[place].row.offset
      groups[place].satellites.append((id, satellite))
    }
    return groups.filter { !$0.satellites.isEmpty }
  }

  /// The talker of a position: the talker of the only system, or the one for several.
  private static func talker(of groups: [Group]) -> Talker {
    let used = groups.filter { $0.satellites.contains { $0.satellite.isUsed } }
    return used.count == 1 ? used[0].row.talker : .combined
  }

  private static func gsa(_ fix: Fix, _ groups: [Group], _ geometry: Dilutions?) -> [GSA] {
    // If there are no satellites, one sentence has the kind of fix.
    let used = groups.map { group in (group.row.systemID, group.satellites.filter(\.satellite.isUsed).map(\.id)) }
    return (used.isEmpty ? [(1, [])] : used).map { id, numbers in
      var content = GSA()
      content.operationMode = UInt8(ascii: "A")
      content.fixMode = isValid(fix) ? fix.kind == .twoD ? 2 : 3 : 1
      for (place, number) in numbers.prefix(placesOfGSA).enumerated() { content.satellites[place] = number }
      content.pdop = fixed(fix.pdop ?? geometry?.pdop, 2)
      content.hdop = fixed(fix.hdop ?? geometry?.hdop, 2)
      content.vdop = fixed(fix.vdop ?? geometry?.vdop, 2)
      content.systemID = id
      return content
    }
  }

  private static func gsv(_ satellites: [(id: Int32, satellite: Satellite)]) -> [GSV] {
    let pages = (satellites.count + 3) / 4
    return (0..<pages).map { page in
      var content = GSV()
      content.sentences = Int32(pages)
      content.number = Int32(page + 1)
      content.satellitesInView = Int32(satellites.count)
      for (place, entry) in satellites.dropFirst(4 * page).prefix(4).enumerated() {
        let satellite = entry.satellite
        content.satellites[place].id = entry.id
        if satellite.elevationDegrees != Satellite.unknownAngle {
          content.satellites[place].elevation = Int32(satellite.elevationDegrees)
        }
        if satellite.azimuthDegrees >= 0 { content.satellites[place].azimuth = Int32(satellite.azimuthDegrees) }
        if satellite.signalDecibelHertz > 0 {
          content.satellites[place].signal = Int32(satellite.signalDecibelHertz)
        }
        content.satelliteCount = place + 1
      }
      // All signals.
      content.signalID = 0
      return content
    }
  }

  // MARK: The fix

  private static func rmc(_ fix: Fix) -> RMC {
    var content = RMC()
    content.time = time(fix)
    content.status = UInt8(ascii: isValid(fix) ? "A" : "V")
    (content.latitude, content.longitude) = place(fix)
    if fix.hasPosition {
      content.speedKnots = knots(fix)
      content.course = fixed(fix.courseDegrees, 2)
    }
    if let date = fix.time?.roundedToMilliseconds.day.components {
      content.date = ShortDate(day: UInt8(date.day), month: UInt8(date.month), year: UInt8(date.year % 100))
    }
    if let variation = fix.magneticVariationDegrees {
      content.magneticVariation = fixed(abs(variation), 1)
      content.variationDirection = UInt8(ascii: variation < 0 ? "W" : "E")
    }
    content.positionMode = mode(fix)
    content.navigationalStatus = UInt8(ascii: "V")
    return content
  }

  private static func vtg(_ fix: Fix) -> VTG {
    var content = VTG()
    if fix.hasPosition {
      content.courseTrue = fixed(fix.courseDegrees, 2)
      content.speedKnots = knots(fix)
      content.speedKilometresPerHour = fixed(fix.speedMetresPerSecond.map { $0 * 3.6 }, 3)
    }
    content.positionMode = mode(fix)
    return content
  }

  private static func gga(_ fix: Fix, _ geometry: Dilutions?) -> GGA {
    var content = GGA()
    content.time = time(fix)
    (content.latitude, content.longitude) = place(fix)
    content.quality = quality(fix)
    content.satellitesUsed = fix.satellitesUsed.map { Int32(min($0, 99)) }
    content.hdop = fixed(fix.hdop ?? geometry?.hdop, 2)
    if fix.hasPosition {
      content.altitude = fixed(fix.heightAboveSeaLevelMetres, 3)?.shortened(to: 1)
      content.geoidSeparation = fixed(fix.geoidSeparationMetres, 3)?.shortened(to: 1)
    }
    content.differentialAge = fixed(fix.differentialAgeSeconds, 1)
    content.differentialStation = fix.differentialStation.map { Int32($0) }
    return content
  }

  /// Without the ratio of east to north the horizontal accuracy is divided evenly.
  private static func gst(_ fix: Fix, _ geometry: Dilutions?) -> GST? {
    let even = fix.horizontalAccuracyMetres.map { $0 * 0.5.squareRoot() }
    guard fix.hasPosition, fix.accuracySource == .receiver,
      let accuracy = fix.eastNorthAccuracyMetres(geometry) ?? even.map({ (east: $0, north: $0) })
    else { return nil }
    var content = GST()
    content.time = time(fix)
    content.latitudeDeviation = fixed(accuracy.north, 3)
    content.longitudeDeviation = fixed(accuracy.east, 3)
    content.altitudeDeviation = fixed(fix.verticalAccuracyMetres, 3)
    return content
  }

  private static func zda(_ fix: Fix) -> ZDA? {
    guard let date = fix.time?.roundedToMilliseconds.day.components else { return nil }
    var content = ZDA()
    content.time = time(fix)
    (content.day, content.month, content.year) = (Int32(date.day), Int32(date.month), Int32(date.year))
    (content.zoneHours, content.zoneMinutes) = (0, 0)
    return content
  }

  // MARK: Fields

  private static func fixed(_ value: Double?, _ digits: UInt8) -> FixedPoint? {
    value.flatMap { FixedPoint(rounding: $0, fractionDigits: digits) }
  }

  private static func knots(_ fix: Fix) -> FixedPoint? {
    fixed(fix.speedMetresPerSecond.map { $0 * 3600 / 1852 }, 3)
  }

  /// Both coordinates have the same number of digits.
  private static func place(_ fix: Fix) -> (latitude: Coordinate?, longitude: Coordinate?) {
    guard fix.hasPosition else { return (nil, nil) }
    func coordinates(_ digits: UInt8) -> (latitude: Coordinate?, longitude: Coordinate?) {
      (
        fix.latitudeDegrees.flatMap { Coordinate(latitudeDegrees: $0, fractionDigits: digits) },
        fix.longitudeDegrees.flatMap { Coordinate(longitudeDegrees: $0, fractionDigits: digits) }
      )
    }
    let all = coordinates(7)
    return coordinates(
      [all.latitude, all.longitude].compactMap { $0?.minutes.shortened(to: 5).fractionDigits }.max() ?? 5)
  }

  private static func time(_ fix: Fix) -> TimeOfDay? { fix.time.map { TimeOfDay($0) } }

  /// Whether a client may use the position. One beyond the receiver's limits is written and marked in each sentence, as a u-blox receiver
  /// marks it: a client may read only one of them.
  private static func isValid(_ fix: Fix) -> Bool { fix.hasPosition && fix.isWithinLimits }

  private static func quality(_ fix: Fix) -> Int32 {
    guard isValid(fix) else { return 0 }
    return fix.kind == .deadReckoning ? Fix.Quality.estimated.ofGGA : fix.quality.ofGGA
  }

  private static func mode(_ fix: Fix) -> UInt8 {
    guard isValid(fix) else { return UInt8(ascii: "N") }
    if fix.kind == .deadReckoning { return UInt8(ascii: "E") }
    return switch fix.quality {
    case .unknown, .autonomous: UInt8(ascii: "A")
    case .differential: UInt8(ascii: "D")
    case .preciseService: UInt8(ascii: "P")
    case .rtkFixed: UInt8(ascii: "R")
    case .rtkFloat: UInt8(ascii: "F")
    case .estimated: UInt8(ascii: "E")
    case .manual: UInt8(ascii: "M")
    case .simulated: UInt8(ascii: "S")
    }
  }
}

extension FixedPoint {
  /// The same value with fewer digits: zeros at its end are left out, but for some digits.
  fileprivate func shortened(to least: UInt8) -> FixedPoint {
    guard fractionDigits > least, mantissa % 10 == 0 else { return self }
    return FixedPoint(mantissa / 10, fractionDigits: fractionDigits &- 1).shortened(to: least)
  }
}
