import NMEA

// The sentences of an epoch, in the order of a u-blox receiver: RMC VTG GGA GSA GSV GLL.
extension MovingReceiver.State {
  private var time: TimeOfDay {
    TimeOfDay(
      hour: UInt8(secondOfDay / 3600), minute: UInt8(secondOfDay / 60 % 60), second: UInt8(secondOfDay % 60))
  }
  private var used: [MovingReceiver.SatelliteState] { satellites.filter(\.isUsed) }
  private var mode: UInt8 { UInt8(ascii: hasFix ? "A" : "N") }

  func writeNMEA(_ output: inout EpochWriter) {
    output.write(rmc(), .combined)
    output.write(vtg(), .combined)
    output.write(gga(), .combined)
    for system in [0, 2, 6] as [UInt8] { output.write(gsa(system), .combined) }
    for (system, talker) in [(0, Talker.gps), (2, .galileo), (6, .glonass)] as [(UInt8, Talker)] {
      writeGSV(system, talker, &output)
    }
    output.write(gll(), .combined)
  }

  private func rmc() -> RMC {
    var content = RMC()
    content.time = time
    content.status = UInt8(ascii: hasFix ? "A" : "V")
    content.date = ShortDate(day: UInt8(date.day), month: UInt8(date.month), year: UInt8(date.year % 100))
    content.positionMode = mode
    content.navigationalStatus = UInt8(ascii: "V")
    guard hasFix else { return content }
    content.latitude = Coordinate(latitudeDegrees: latitude)
    content.longitude = Coordinate(longitudeDegrees: longitude)
    content.speedKnots = FixedPoint(rounding: speed * 3600 / 1852, fractionDigits: 3)
    content.course = FixedPoint(rounding: course, fractionDigits: 2)
    return content
  }

  private func vtg() -> VTG {
    var content = VTG()
    content.positionMode = mode
    guard hasFix else { return content }
    content.courseTrue = FixedPoint(rounding: course, fractionDigits: 2)
    content.speedKnots = FixedPoint(rounding: speed * 3600 / 1852, fractionDigits: 3)
    content.speedKilometresPerHour = FixedPoint(rounding: speed * 3.6, fractionDigits: 3)
    return content
  }

  private func gga() -> GGA {
    var content = GGA()
    content.time = time
    content.quality = hasFix ? 1 : 0
    content.satellitesUsed = Int32(min(12, hasFix ? used.count : 0))
    content.hdop = FixedPoint(hasFix ? 88 : 9999, fractionDigits: 2)
    guard hasFix else { return content }
    content.latitude = Coordinate(latitudeDegrees: latitude)
    content.longitude = Coordinate(longitudeDegrees: longitude)
    content.altitude = FixedPoint(rounding: altitude, fractionDigits: 1)
    content.geoidSeparation = FixedPoint(rounding: Self.geoidSeparation, fractionDigits: 1)
    return content
  }

  private func gsa(_ system: UInt8) -> GSA {
    var content = GSA()
    content.operationMode = UInt8(ascii: "A")
    content.fixMode = hasFix ? 3 : 1
    for (index, satellite) in used.filter({ $0.gnss == system }).prefix(12).enumerated() where hasFix {
      content.satellites[index] = id(of: satellite)
    }
    content.pdop = FixedPoint(hasFix ? 152 : 9999, fractionDigits: 2)
    content.hdop = FixedPoint(hasFix ? 88 : 9999, fractionDigits: 2)
    content.vdop = FixedPoint(hasFix ? 124 : 9999, fractionDigits: 2)
    content.systemID = system == 0 ? 1 : system == 6 ? 2 : 3
    return content
  }

  private func writeGSV(_ system: UInt8, _ talker: Talker, _ output: inout EpochWriter) {
    let group = satellites.filter { $0.gnss == system }
    let pages = max(1, (group.count + 3) / 4)
    for page in 0..<pages {
      var content = GSV()
      content.sentences = Int32(pages)
      content.number = Int32(page + 1)
      content.satellitesInView = Int32(group.count)
      for (index, satellite) in group.dropFirst(page * 4).prefix(4).enumerated() {
        content.satellites[index].id = id(of: satellite)
        content.satellites[index].elevation = Int32(satellite.elevation)
        content.satellites[index].azimuth = Int32(satellite.azimuth)
        content.satellites[index].signal = Int32(satellite.signal)
        content.satelliteCount = index + 1
      }
      content.signalID = system == 2 ? 7 : 1
      output.write(content, talker)
    }
  }

  private func gll() -> GLL {
    var content = GLL()
    content.time = time
    content.status = UInt8(ascii: hasFix ? "A" : "V")
    content.positionMode = mode
    guard hasFix else { return content }
    content.latitude = Coordinate(latitudeDegrees: latitude)
    content.longitude = Coordinate(longitudeDegrees: longitude)
    return content
  }

  /// GLONASS is numbered from 65 on; the others count from 1.
  private func id(of satellite: MovingReceiver.SatelliteState) -> Int32 {
    Int32(satellite.number) + (satellite.gnss == 6 ? 64 : 0)
  }
}
