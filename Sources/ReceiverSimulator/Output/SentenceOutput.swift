// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

extension SatelliteSystems {
  /// The talker of sentences about these systems together.
  var talker: Talker {
    switch self {
    case .gps: .gps
    case .galileo: .galileo
    case .glonass: .glonass
    case .beiDou: .beiDou
    default: .combined
    }
  }
}

/// Encodes a solution as sentences of the configured NMEA version.
struct SentenceOutput {
  let solution: Solution
  let version: UInt8
  let systems: SatelliteSystems

  /// Whether the sentences have the fields of NMEA 4.10 and later.
  private var hasSystemIDs: Bool { version >= 0x41 }
  private var hasFixMode: Bool { version != 0x21 }

  /// Writes the sentence with an id of class 0xF0 or 0xF1.
  func write(_ identity: UInt16, _ writer: inout FrameWriter, _ frames: inout [[UInt8]]) {
    switch identity {
    case 0xF000: frames.append(writer.sentence(gga(), talker))
    case 0xF001: frames.append(writer.sentence(gll(), talker))
    case 0xF002: writeGSA(&writer, &frames)
    case 0xF003: writeGSV(&writer, &frames)
    case 0xF004: frames.append(writer.sentence(rmc(), talker))
    case 0xF005: frames.append(writer.sentence(vtg(), talker))
    case 0xF007: frames.append(writer.sentence(gst(), talker))
    case 0xF008: frames.append(writer.sentence(zda(), talker))
    case 0xF00A: frames.append(writer.sentence(dtm(), talker))
    case 0xF00D: frames.append(writer.sentence(gns(), talker))
    case 0xF100: frames.append(writer.sentence(pubx00(), .proprietary))
    case 0xF103: frames.append(writer.sentence(pubx03(), .proprietary))
    case 0xF104: frames.append(writer.sentence(pubx04(), .proprietary))
    default: break
    }
  }

  private var talker: Talker { systems.talker }
  private var mode: UInt8? { hasFixMode ? UInt8(ascii: solution.hasFix ? "A" : "N") : nil }
  private var navigationalStatus: UInt8? { hasSystemIDs ? UInt8(ascii: "V") : nil }
  private var status: UInt8 { UInt8(ascii: solution.hasFix ? "A" : "V") }
  private var latitude: Coordinate? {
    solution.hasFix ? Coordinate(latitudeDegrees: solution.latitudeDegrees) : nil
  }
  private var longitude: Coordinate? {
    solution.hasFix ? Coordinate(longitudeDegrees: solution.longitudeDegrees) : nil
  }

  private var time: TimeOfDay? {
    guard solution.hasTime else { return nil }
    let civil = solution.civil
    return TimeOfDay(
      hour: UInt8(civil.hour), minute: UInt8(civil.minute), second: UInt8(civil.second),
      nanosecond: UInt32(solution.millisecond / 10) * 10_000_000)
  }

  private var date: ShortDate? {
    guard solution.hasTime else { return nil }
    let civil = solution.civil
    return ShortDate(day: UInt8(civil.day), month: UInt8(civil.month), year: UInt8(civil.year % 100))
  }

  /// The course. It is empty below walking speed, as receivers do.
  private var course: FixedPoint? {
    guard solution.hasFix, solution.speed > 0.3 else { return nil }
    return FixedPoint(rounding: degreesOfCourse(solution), fractionDigits: 2)
  }

  private func rmc() -> RMC {
    var content = RMC()
    content.time = time
    content.status = status
    content.latitude = latitude
    content.longitude = longitude
    content.date = date
    content.positionMode = mode
    content.navigationalStatus = navigationalStatus
    guard solution.hasFix else { return content }
    content.speedKnots = FixedPoint(rounding: solution.speed * 3600 / 1852, fractionDigits: 3)
    content.course = course
    return content
  }

  private func vtg() -> VTG {
    var content = VTG()
    content.positionMode = mode
    guard solution.hasFix else { return content }
    content.courseTrue = course
    content.speedKnots = FixedPoint(rounding: solution.speed * 3600 / 1852, fractionDigits: 3)
    content.speedKilometresPerHour = FixedPoint(rounding: solution.speed * 3.6, fractionDigits: 3)
    return content
  }

  private func gga() -> GGA {
    var content = GGA()
    content.time = time
    content.latitude = latitude
    content.longitude = longitude
    content.quality = solution.hasFix ? solution.differential.quality : 0
    content.satellitesUsed = Int32(solution.hasFix ? min(12, solution.used) : 0)
    content.hdop = FixedPoint(rounding: solution.hdop, fractionDigits: 2)
    guard solution.hasFix else { return content }
    content.altitude = FixedPoint(rounding: solution.altitudeMetres, fractionDigits: 1)
    content.geoidSeparation = FixedPoint(rounding: Solution.geoidSeparation, fractionDigits: 1)
    return content
  }

  private func gns() -> GNS {
    var content = GNS()
    content.time = time
    content.latitude = latitude
    content.longitude = longitude
    var modes = ShortText()
    for system in [SatelliteSystems.gps, .glonass, .galileo, .beiDou] {
      let isUsed = solution.hasFix && solution.satellites.contains { $0.isUsed && $0.satellite.system == system }
      modes.append(UInt8(ascii: isUsed ? "A" : "N"))
    }
    content.positionModes = modes
    content.satellitesUsed = Int32(solution.hasFix ? solution.used : 0)
    content.hdop = FixedPoint(rounding: solution.hdop, fractionDigits: 2)
    content.navigationalStatus = navigationalStatus
    guard solution.hasFix else { return content }
    content.altitude = FixedPoint(rounding: solution.altitudeMetres, fractionDigits: 1)
    content.geoidSeparation = FixedPoint(rounding: Solution.geoidSeparation, fractionDigits: 1)
    return content
  }

  private func gll() -> GLL {
    var content = GLL()
    content.latitude = latitude
    content.longitude = longitude
    content.time = time
    content.status = status
    content.positionMode = mode
    return content
  }

  private func gst() -> GST {
    var content = GST()
    content.time = time
    guard solution.hasFix else { return content }
    let axis = solution.horizontalMetres / 2.0.squareRoot()
    content.rangeRMS = FixedPoint(rounding: axis * 4, fractionDigits: 1)
    content.latitudeDeviation = FixedPoint(rounding: axis, fractionDigits: 1)
    content.longitudeDeviation = FixedPoint(rounding: axis, fractionDigits: 1)
    content.altitudeDeviation = FixedPoint(rounding: solution.verticalMetres, fractionDigits: 1)
    return content
  }

  private func zda() -> ZDA {
    var content = ZDA()
    content.time = time
    content.zoneHours = 0
    content.zoneMinutes = 0
    guard solution.hasTime else { return content }
    let civil = solution.civil
    content.day = Int32(civil.day)
    content.month = Int32(civil.month)
    content.year = Int32(civil.year)
    return content
  }

  private func dtm() -> DTM {
    var content = DTM()
    content.datum = ShortText("W84")
    content.reference = ShortText("W84")
    return content
  }

  /// The systems that this version of NMEA can number, with their talkers.
  private var numbered: [(system: SatelliteSystems, id: Int32, talker: Talker)] {
    let all: [(system: SatelliteSystems, id: Int32, talker: Talker)] = [
      (.gps, 1, .gps), (.glonass, 2, .glonass), (.galileo, 3, .galileo), (.beiDou, 4, .beiDou),
    ]
    return all.filter { systems.contains($0.system) && (hasSystemIDs || $0.id <= 2) }
  }

  /// GLONASS numbers begin at 65, the numbers of other systems at 1.
  private func id(of satellite: VisibleSatellite) -> Int32 {
    Int32(satellite.number) + (satellite.gnss == 6 ? 64 : 0)
  }

  private func writeGSA(_ writer: inout FrameWriter, _ frames: inout [[UInt8]]) {
    for row in numbered {
      var content = GSA()
      content.operationMode = UInt8(ascii: "A")
      content.fixMode = solution.hasFix ? 3 : 1
      let used = solution.satellites.filter { $0.isUsed && $0.satellite.system == row.system }
      for (index, state) in used.prefix(12).enumerated() { content.satellites[index] = id(of: state.satellite) }
      content.pdop = FixedPoint(rounding: solution.pdop, fractionDigits: 2)
      content.hdop = FixedPoint(rounding: solution.hdop, fractionDigits: 2)
      content.vdop = FixedPoint(rounding: solution.vdop, fractionDigits: 2)
      if hasSystemIDs { content.systemID = row.id }
      frames.append(writer.sentence(content, talker))
    }
  }

  private func writeGSV(_ writer: inout FrameWriter, _ frames: inout [[UInt8]]) {
    for row in numbered {
      let group = Array(solution.satellites.filter { $0.satellite.system == row.system }.prefix(16))
      let pages = max(1, (group.count + 3) / 4)
      for page in 0..<pages {
        var content = GSV()
        content.sentences = Int32(pages)
        content.number = Int32(page + 1)
        content.satellitesInView = Int32(group.count)
        for (index, state) in group.dropFirst(page * 4).prefix(4).enumerated() {
          content.satellites[index].id = id(of: state.satellite)
          content.satellites[index].elevation = Int32(clamping: state.satellite.elevationDegrees)
          content.satellites[index].azimuth = Int32(clamping: state.satellite.azimuthDegrees) % 360
          content.satellites[index].signal = state.signal > 0 ? Int32(state.signal) : nil
          content.satelliteCount = index + 1
        }
        if hasSystemIDs { content.signalID = row.id == 3 ? 7 : 1 }
        frames.append(writer.sentence(content, row.talker))
      }
    }
  }

  private func pubx00() -> PUBX00 {
    var content = PUBX00()
    content.time = time
    content.latitude = latitude
    content.longitude = longitude
    content.status = solution.hasFix ? ShortText("G3") : ShortText("NF")
    content.altitude = FixedPoint(
      rounding: solution.hasFix ? solution.altitudeMetres + Solution.geoidSeparation : 0, fractionDigits: 3)
    content.horizontalAccuracy = FixedPoint(
      rounding: solution.hasFix ? solution.horizontalMetres : 5_303_302, fractionDigits: 1)
    content.verticalAccuracy = FixedPoint(
      rounding: solution.hasFix ? solution.verticalMetres : 3_750_060, fractionDigits: 1)
    content.speedKilometresPerHour = FixedPoint(rounding: solution.hasFix ? solution.speed * 3.6 : 0, fractionDigits: 3)
    content.course = FixedPoint(rounding: solution.hasFix ? degreesOfCourse(solution) : 0, fractionDigits: 2)
    content.velocityDown = FixedPoint(rounding: solution.velocityDown, fractionDigits: 3)
    content.hdop = FixedPoint(rounding: solution.hdop, fractionDigits: 2)
    content.vdop = FixedPoint(rounding: solution.vdop, fractionDigits: 2)
    content.tdop = FixedPoint(rounding: solution.tdop, fractionDigits: 2)
    content.satellitesUsed = Int32(solution.hasFix ? solution.used : 0)
    content.deadReckoning = 0
    return content
  }

  private func pubx03() -> PUBX03 {
    var content = PUBX03()
    let shown = solution.satellites.prefix(40)
    content.count = Int32(shown.count)
    content.satelliteCount = shown.count
    for (index, state) in shown.enumerated() {
      content.satellites[index].id = id(of: state.satellite)
      content.satellites[index].status = UInt8(ascii: state.isUsed ? "U" : state.hasEphemeris ? "e" : "-")
      content.satellites[index].azimuth = Int32(clamping: state.satellite.azimuthDegrees) % 360
      content.satellites[index].elevation = Int32(clamping: state.satellite.elevationDegrees)
      content.satellites[index].signal = Int32(state.signal)
      content.satellites[index].lockSeconds = state.isUsed ? 64 : 0
    }
    return content
  }

  private func pubx04() -> PUBX04 {
    var content = PUBX04()
    content.time = time
    content.date = date
    guard solution.hasTime else { return content }
    let gps = solution.gps
    content.timeOfWeek = FixedPoint(Int64(gps.millisecondOfWeek) / 10, fractionDigits: 2)
    content.week = Int32(gps.week)
    content.leapSeconds = solution.isTimeResolved ? ShortText("18") : ShortText("18D")
    content.clockBias = FixedPoint(1_930_035, fractionDigits: 0)
    content.clockDrift = FixedPoint(-2660, fractionDigits: 0)
    content.timePulseGranularity = 43
    return content
  }
}
