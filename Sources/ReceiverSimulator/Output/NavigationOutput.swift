// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

import func Glibc.atan2
import func Glibc.sin

/// The course over ground, degrees from north.
func degreesOfCourse(_ solution: Solution) -> Double {
  let degrees = atan2(solution.velocityEast, solution.velocityNorth) * 180 / .pi
  return degrees < 0 ? degrees + 360 : degrees
}

/// Encodes a solution as messages of class NAV.
struct NavigationOutput {
  let solution: Solution
  let traits: ModelTraits

  private var timeOfWeek: UInt32 { solution.gps.millisecondOfWeek }

  /// Writes the message with a class and id; writes nothing for an unsupported one.
  func write(_ identity: UInt16, _ writer: inout FrameWriter, _ frames: inout [[UInt8]]) {
    if let frame = frame(identity, &writer) { frames.append(frame) }
  }

  private func frame(_ identity: UInt16, _ writer: inout FrameWriter) -> [UInt8]? {
    let count = solution.satellites.count
    switch identity {
    case 0x0101: return writer.frame(28) { NavPOSECEF.encode(into: &$0) { writePOSECEF(&$0) } }
    case 0x0102: return writer.frame(36) { NavPOSLLH.encode(into: &$0) { writePOSLLH(&$0) } }
    case 0x0103: return writer.frame(24) { NavSTATUS.encode(into: &$0) { writeSTATUS(&$0) } }
    case 0x0104: return writer.frame(26) { NavDOP.encode(into: &$0) { writeDOP(&$0) } }
    case 0x0106: return writer.frame(60) { NavSOL.encode(into: &$0) { writeSOL(&$0) } }
    case 0x0107:
      let length = traits.hasShortPVT ? 84 : 92
      return writer.frame(100) { span in NavPVT.encode(into: &span, length: length) { writePVT(&$0) } }
    case 0x0109: return writer.frame(28) { NavODO.encode(into: &$0) { writeODO(&$0) } }
    case 0x0111: return writer.frame(28) { NavVELECEF.encode(into: &$0) { writeVELECEF(&$0) } }
    case 0x0112: return writer.frame(44) { NavVELNED.encode(into: &$0) { writeVELNED(&$0) } }
    case 0x0114: return writer.frame(44) { NavHPPOSLLH.encode(into: &$0) { writeHPPOSLLH(&$0) } }
    case 0x0120: return writer.frame(24) { NavTIMEGPS.encode(into: &$0) { writeTIMEGPS(&$0) } }
    case 0x0121: return writer.frame(28) { NavTIMEUTC.encode(into: &$0) { writeTIMEUTC(&$0) } }
    case 0x0122: return writer.frame(28) { NavCLOCK.encode(into: &$0) { writeCLOCK(&$0) } }
    case 0x0126: return writer.frame(32) { NavTIMELS.encode(into: &$0) { writeTIMELS(&$0) } }
    case 0x0130:
      return writer.frame(16 + 12 * count) { span in
        NavSVINFO.encode(into: &span, length: 8 + 12 * count) { writeSVINFO(&$0) }
      }
    case 0x0134:
      return writer.frame(16 + 6 * count) { span in
        NavORB.encode(into: &span, length: 8 + 6 * count) { writeORB(&$0) }
      }
    case 0x0135:
      return writer.frame(16 + 12 * count) { span in
        NavSAT.encode(into: &span, length: 8 + 12 * count) { writeSAT(&$0) }
      }
    case 0x0136: return writer.frame(72) { NavCOV.encode(into: &$0) { writeCOV(&$0) } }
    case 0x0143:
      return writer.frame(16 + 16 * count) { span in
        NavSIG.encode(into: &span, length: 8 + 16 * count) { writeSIG(&$0) }
      }
    case 0x0215:
      let satellites = solution.satellites.filter { $0.signal > 0 }
      let length = 16 + 32 * satellites.count
      return writer.frame(length + 8) { span in
        RxmRAWX.encode(into: &span, length: length) { writeRAWX(satellites, &$0) }
      }
    case 0x0220:
      let satellites = solution.satellites.filter { $0.satellite.gnss == 0 }
      return writer.frame(16 + 6 * satellites.count) { span in
        RxmSVSI.encode(into: &span, length: 8 + 6 * satellites.count) { writeSVSI(satellites, &$0) }
      }
    case 0x0161: return writer.frame(12) { NavEOE.encode(into: &$0) { $0.iTOW(timeOfWeek) } }
    default: return nil
    }
  }

  /// A base has only the time to solve (interface descriptions, NAV-PVT fixType).
  private var fixType: UInt8 { solution.hasFix ? (solution.isBase ? 5 : 3) : 0 }
  private var latitude: Int32 { Int32(nearest: solution.latitudeDegrees * 1e7) }
  private var longitude: Int32 { Int32(nearest: solution.longitudeDegrees * 1e7) }
  private var height: Int32 { Int32(nearest: (solution.altitudeMetres + Solution.geoidSeparation) * 1000) }
  private var altitude: Int32 { Int32(nearest: solution.altitudeMetres * 1000) }
  private var course: Int32 { Int32(nearest: degreesOfCourse(solution) * 1e5) }
  private var horizontal: UInt32 { solution.hasFix ? millimetres(solution.horizontalMetres) : 0xFFFF_FFFF }
  private var vertical: UInt32 { solution.hasFix ? millimetres(solution.verticalMetres) : 0xFFFF_FFFF }
  private var courseAccuracy: UInt32 { courseAccuracyOf(solution) }
  private var timeAccuracy: UInt32 { solution.hasFix ? 25 : solution.hasTime ? 5_000_000 : 0xFFFF_FFFF }

  private func millimetres(_ metres: Double) -> UInt32 { UInt32(nearest: metres * 1000) }
  private func hundredths(_ value: Double) -> UInt16 { UInt16(clamping: min(9999, (value * 100).rounded())) }
  private func millimetresPerSecond(_ value: Double) -> Int32 { Int32(nearest: value * 1000) }
  private func centimetresPerSecond(_ value: Double) -> Int32 { Int32(nearest: value * 100) }

  private func writePVT(_ message: inout NavPVT.Writer) {
    // Before the receiver has the time, it counts from the start of GPS time.
    let civil =
      solution.hasTime
      ? solution.civil
      : CivilTime(secondsSince1970: GPSTime.epoch + Int64(solution.uptimeMilliseconds / 1000))
    message.iTOW(timeOfWeek)
    message.year(UInt16(civil.year))
    message.month(UInt8(civil.month))
    message.day(UInt8(civil.day))
    message.hour(UInt8(civil.hour))
    message.min(UInt8(civil.minute))
    message.sec(UInt8(civil.second))
    message.nano(Int32(solution.millisecond) * 1_000_000)
    message.valid(timeFlags)
    message.tAcc(timeAccuracy)
    message.pDOP(hundredths(solution.pdop))
    message.hAcc(horizontal)
    message.vAcc(vertical)
    let carrier = solution.hasFix ? solution.differential.carrierSolution : 0
    message.flags(solution.powerSaveState << 2 | (solution.hasFix ? 1 : 0) | differential | carrier << 6)
    if traits.protocolVersion >= 1800 { message.flags2(solution.isTimeResolved ? 0xE0 : 0x20) }
    message.sAcc(solution.hasFix ? millimetres(solution.speedAccuracy) : 20_000)
    message.headAcc(courseAccuracy)
    guard solution.hasFix else { return }
    message.fixType(fixType)
    message.numSV(UInt8(solution.used))
    message.lon(longitude)
    message.lat(latitude)
    message.height(height)
    message.hMSL(altitude)
    message.velN(millimetresPerSecond(solution.velocityNorth))
    message.velE(millimetresPerSecond(solution.velocityEast))
    message.velD(millimetresPerSecond(solution.velocityDown))
    message.gSpeed(millimetresPerSecond(solution.speed))
    message.headMot(course)
  }

  /// diffSoln of NAV-PVT, NAV-SOL and NAV-STATUS.
  private var differential: UInt8 { solution.hasFix && solution.differential.hasCorrections ? 2 : 0 }
  private var timeFlags: UInt8 { (solution.hasTime ? 3 : 0) | (solution.isTimeResolved ? 4 : 0) }

  private func writeSOL(_ message: inout NavSOL.Writer) {
    message.iTOW(timeOfWeek)
    message.week(Int16(solution.gps.week))
    message.gpsFix(fixType)
    message.flags((solution.hasFix ? 1 : 0) | differential | (solution.hasTime ? 0xC : 0))
    message.pAcc(solution.hasFix ? UInt32(nearest: solution.horizontalMetres * 150) : 0xFFFF_FFFF)
    message.sAcc(solution.hasFix ? UInt32(nearest: solution.speedAccuracy * 100) : 2000)
    message.pDOP(hundredths(solution.pdop))
    guard solution.hasFix else { return }
    let place = Earth.ecef(solution)
    message.ecefX(Int32(nearest: place.x * 100))
    message.ecefY(Int32(nearest: place.y * 100))
    message.ecefZ(Int32(nearest: place.z * 100))
    let velocity = Earth.ecefVelocity(solution)
    message.ecefVX(centimetresPerSecond(velocity.x))
    message.ecefVY(centimetresPerSecond(velocity.y))
    message.ecefVZ(centimetresPerSecond(velocity.z))
    message.numSV(UInt8(solution.used))
  }

  private func writePOSECEF(_ message: inout NavPOSECEF.Writer) {
    message.iTOW(timeOfWeek)
    message.pAcc(solution.hasFix ? UInt32(nearest: solution.horizontalMetres * 150) : 0xFFFF_FFFF)
    guard solution.hasFix else { return }
    let place = Earth.ecef(solution)
    message.ecefX(Int32(nearest: place.x * 100))
    message.ecefY(Int32(nearest: place.y * 100))
    message.ecefZ(Int32(nearest: place.z * 100))
  }

  private func writeVELECEF(_ message: inout NavVELECEF.Writer) {
    message.iTOW(timeOfWeek)
    message.sAcc(solution.hasFix ? UInt32(nearest: solution.speedAccuracy * 100) : 2000)
    guard solution.hasFix else { return }
    let velocity = Earth.ecefVelocity(solution)
    message.ecefVX(centimetresPerSecond(velocity.x))
    message.ecefVY(centimetresPerSecond(velocity.y))
    message.ecefVZ(centimetresPerSecond(velocity.z))
  }

  private func writePOSLLH(_ message: inout NavPOSLLH.Writer) {
    message.iTOW(timeOfWeek)
    message.hAcc(horizontal)
    message.vAcc(vertical)
    guard solution.hasFix else { return }
    message.lon(longitude)
    message.lat(latitude)
    message.height(height)
    message.hMSL(altitude)
  }

  private func writeHPPOSLLH(_ message: inout NavHPPOSLLH.Writer) {
    message.iTOW(timeOfWeek)
    message.flags(solution.hasFix ? 0 : 1)
    message.hAcc(solution.hasFix ? UInt32(nearest: solution.horizontalMetres * 10_000) : 0xFFFF_FFFF)
    message.vAcc(solution.hasFix ? UInt32(nearest: solution.verticalMetres * 10_000) : 0xFFFF_FFFF)
    guard solution.hasFix else { return }
    message.lon(longitude)
    message.lat(latitude)
    message.height(height)
    message.hMSL(altitude)
    message.lonHp(Int8(nearest: solution.longitudeDegrees * 1e9 - Double(longitude) * 100))
    message.latHp(Int8(nearest: solution.latitudeDegrees * 1e9 - Double(latitude) * 100))
  }

  private func writeVELNED(_ message: inout NavVELNED.Writer) {
    message.iTOW(timeOfWeek)
    message.sAcc(solution.hasFix ? UInt32(nearest: solution.speedAccuracy * 100) : 2000)
    message.cAcc(courseAccuracy)
    guard solution.hasFix else { return }
    message.velN(centimetresPerSecond(solution.velocityNorth))
    message.velE(centimetresPerSecond(solution.velocityEast))
    message.velD(centimetresPerSecond(solution.velocityDown))
    message.speed(UInt32(nearest: solution.speed * 100))
    message.gSpeed(UInt32(nearest: solution.speed * 100))
    message.heading(course)
  }

  private func writeSTATUS(_ message: inout NavSTATUS.Writer) {
    message.iTOW(timeOfWeek)
    message.gpsFix(fixType)
    message.flags((solution.hasFix ? 1 : 0) | differential | (solution.hasTime ? 0xC : 0))
    // This message has its own code of power save mode: acquisition, tracking, optimised tracking, inactive.
    let carrier = solution.hasFix ? solution.differential.carrierSolution : 0
    let spoofing: UInt8 = traits.protocolVersion < 1800 ? 0 : solution.isSpoofed ? 2 : 1
    message.flags2((solution.powerSaveState >= 2 ? solution.powerSaveState - 2 : 0) | spoofing << 3 | carrier << 6)
    message.ttff(solution.timeToFirstFix)
    message.msss(solution.uptimeMilliseconds)
  }

  private func writeDOP(_ message: inout NavDOP.Writer) {
    message.iTOW(timeOfWeek)
    message.gDOP(hundredths(solution.gdop))
    message.pDOP(hundredths(solution.pdop))
    message.tDOP(hundredths(solution.tdop))
    message.vDOP(hundredths(solution.vdop))
    message.hDOP(hundredths(solution.hdop))
    message.nDOP(hundredths(solution.hasFix ? solution.hdop * 0.75 : 99.99))
    message.eDOP(hundredths(solution.hasFix ? solution.hdop * 0.66 : 99.99))
  }

  private func writeTIMEGPS(_ message: inout NavTIMEGPS.Writer) {
    message.iTOW(timeOfWeek)
    message.week(Int16(solution.gps.week))
    message.leapS(Int8(GPSTime.leapSeconds))
    message.valid((solution.hasTime ? 3 : 0) | (solution.isTimeResolved ? 4 : 0))
    message.tAcc(timeAccuracy)
  }

  private func writeTIMEUTC(_ message: inout NavTIMEUTC.Writer) {
    let civil = solution.civil
    message.iTOW(timeOfWeek)
    message.tAcc(timeAccuracy)
    message.nano(Int32(solution.millisecond) * 1_000_000)
    message.year(UInt16(civil.year))
    message.month(UInt8(civil.month))
    message.day(UInt8(civil.day))
    message.hour(UInt8(civil.hour))
    message.min(UInt8(civil.minute))
    message.sec(UInt8(civil.second))
    message.valid((solution.hasTime ? 3 : 0) | (solution.isTimeResolved ? 4 : 0) | 3 << 4)
  }

  private func writeTIMELS(_ message: inout NavTIMELS.Writer) {
    message.iTOW(timeOfWeek)
    message.srcOfCurrLs(solution.isTimeResolved ? 2 : 0)
    message.currLs(Int8(GPSTime.leapSeconds))
    message.valid(solution.isTimeResolved ? 1 : 0)
  }

  private func writeCLOCK(_ message: inout NavCLOCK.Writer) {
    message.iTOW(timeOfWeek)
    message.clkB(193_003)
    message.clkD(-266)
    message.tAcc(timeAccuracy)
    message.fAcc(solution.hasFix ? 700 : 0xFFFF_FFFF)
  }

  private func writeODO(_ message: inout NavODO.Writer) {
    message.iTOW(timeOfWeek)
    message.distance(UInt32(nearest: solution.odometerMetres.rounded(.down)))
    message.totalDistance(UInt32(nearest: solution.totalMetres.rounded(.down)))
    message.distanceStd(UInt32(nearest: (solution.odometerMetres / 100).rounded(.down)))
  }

  private func writeCOV(_ message: inout NavCOV.Writer) {
    message.iTOW(timeOfWeek)
    guard solution.hasFix else { return }
    message.posCovValid(1)
    message.velCovValid(1)
    let position = Float(solution.horizontalMetres * solution.horizontalMetres / 2)
    message.posCovNN(position)
    message.posCovEE(position)
    message.posCovDD(Float(solution.verticalMetres * solution.verticalMetres))
    let velocity = Float(solution.speedAccuracy * solution.speedAccuracy / 2)
    message.velCovNN(velocity)
    message.velCovEE(velocity)
    message.velCovDD(velocity * 2)
  }

  private func writeSAT(_ message: inout NavSAT.Writer) {
    message.iTOW(timeOfWeek)
    message.version(1)
    message.numSvs(UInt8(solution.satellites.count))
    for (index, state) in solution.satellites.enumerated() {
      message.satellite_gnssId(index, state.satellite.gnss)
      message.satellite_svId(index, state.satellite.number)
      message.satellite_cno(index, UInt8(clamping: state.signal))
      message.satellite_elev(index, Int8(clamping: state.satellite.elevationDegrees))
      message.satellite_azim(index, Int16(clamping: state.satellite.azimuthDegrees) % 360)
      // Code and carrier locked, healthy, orbit from an ephemeris or an almanac.
      let quality: UInt32 = state.signal > 0 ? 7 : 1
      let orbit: UInt32 = state.hasEphemeris ? 1 << 8 | 1 << 11 : 2 << 8
      message.satellite_flags(index, quality | (state.isUsed ? 8 : 0) | 1 << 4 | orbit | 1 << 12)
    }
  }

  /// Measurements of L1 by the elevation of each satellite on a round earth: of the right size, but of no use for a position.
  private func writeRAWX(_ satellites: [SatelliteState], _ message: inout RxmRAWX.Writer) {
    message.rcvTow(Double(timeOfWeek) / 1000)
    message.week(UInt16(clamping: solution.gps.week))
    message.leapS(18)
    message.numMeas(UInt8(clamping: satellites.count))
    message.recStat(1)
    message.version(1)
    for (index, state) in satellites.enumerated() {
      let (radius, height) = (6_371_000.0, 20_200_000.0)
      let up = radius * sin(state.satellite.elevationDegrees * .pi / 180)
      let metres = (up * up + height * (2 * radius + height)).squareRoot() - up
      message.measurement_prMes(index, metres)
      message.measurement_cpMes(index, metres * 1_575_420_000 / 299_792_458)
      message.measurement_doMes(index, 0)
      message.measurement_gnssId(index, state.satellite.gnss)
      message.measurement_svId(index, state.satellite.number)
      message.measurement_freqId(index, state.satellite.gnss == 6 ? state.satellite.number % 14 : 0)
      message.measurement_locktime(index, UInt16(clamping: solution.uptimeMilliseconds))
      message.measurement_cno(index, UInt8(clamping: state.signal))
      message.measurement_prStdev(index, 5)
      message.measurement_cpStdev(index, 1)
      message.measurement_doStdev(index, 5)
      // Pseudorange, phase and half cycle are valid.
      message.measurement_trkStat(index, 7)
    }
  }

  private func writeSIG(_ message: inout NavSIG.Writer) {
    message.iTOW(timeOfWeek)
    message.numSigs(UInt8(solution.satellites.count))
    for (index, state) in solution.satellites.enumerated() {
      message.signal_gnssId(index, state.satellite.gnss)
      message.signal_svId(index, state.satellite.number)
      message.signal_freqId(index, state.satellite.gnss == 6 ? state.satellite.number % 14 : 0)
      message.signal_cno(index, UInt8(clamping: state.signal))
      message.signal_qualityInd(index, state.signal > 0 ? 7 : 1)
      message.signal_sigFlags(index, 1 | (state.isUsed ? 0x28 : 0))
    }
  }

  private func writeSVINFO(_ message: inout NavSVINFO.Writer) {
    message.iTOW(timeOfWeek)
    message.numCh(UInt8(solution.satellites.count))
    message.globalFlags(traits.protocolVersion < 1400 ? 2 : 4)
    for (index, state) in solution.satellites.enumerated() {
      message.channel_chn(index, UInt8(index))
      message.channel_svid(index, state.satellite.legacyNumber)
      message.channel_flags(index, (state.isUsed ? 1 : 0) | (state.hasEphemeris ? 0x0C : 0x24))
      message.channel_quality(index, state.signal > 0 ? 7 : 1)
      message.channel_cno(index, UInt8(clamping: state.signal))
      message.channel_elev(index, Int8(clamping: state.satellite.elevationDegrees))
      message.channel_azim(index, Int16(clamping: state.satellite.azimuthDegrees) % 360)
    }
  }

  private func writeORB(_ message: inout NavORB.Writer) {
    message.iTOW(timeOfWeek)
    message.version(1)
    message.numSv(UInt8(solution.satellites.count))
    for (index, state) in solution.satellites.enumerated() {
      message.satellite_gnssId(index, state.satellite.gnss)
      message.satellite_svId(index, state.satellite.number)
      message.satellite_svFlag(index, 1 | 3 << 2)
      // A usability of n is between n - 1 and n quarters of an hour; 30 is more than 450 minutes.
      let usability = UInt8(min(30, (state.ephemerisSeconds + 899) / 900))
      message.satellite_eph(index, state.hasEphemeris ? usability | 1 << 5 : 0)
      message.satellite_alm(index, 20 | 1 << 5)
    }
  }
}

extension NavigationOutput {
  /// RXM-SVSI has GPS satellites only.
  private func writeSVSI(_ satellites: [SatelliteState], _ message: inout RxmSVSI.Writer) {
    message.iTOW(timeOfWeek)
    message.week(Int16(solution.gps.week))
    message.numVis(UInt8(satellites.count))
    message.numSV(UInt8(satellites.count))
    for (index, state) in satellites.enumerated() {
      message.satellite_svid(index, state.satellite.number)
      // Healthy, ephemeris, almanac.
      message.satellite_svFlag(index, 1 << 4 | (state.hasEphemeris ? 1 << 5 : 0) | 1 << 6)
      message.satellite_azim(index, Int16(clamping: state.satellite.azimuthDegrees) % 360)
      message.satellite_elev(index, Int8(clamping: state.satellite.elevationDegrees))
      // The age relative to the reference time, two hours before the end of the validity; both ages have an offset of 4.
      let hours = (Double(7200 - state.ephemerisSeconds) / 3600).rounded(.down)
      message.satellite_age(index, 4 | UInt8(clamping: max(0, min(15, hours + 4))) << 4)
    }
  }
}

/// The accuracy of a course, 1e-5 degrees: speed accuracy over speed, at most half a turn.
func courseAccuracyOf(_ solution: Solution) -> UInt32 {
  guard solution.hasFix else { return 18_000_000 }
  return UInt32(clamping: min(180, atan2(solution.speedAccuracy, max(solution.speed, 0.001)) * 180 / .pi * 2) * 1e5)
}

extension VisibleSatellite {
  /// The one-byte number of messages before M8 (interface descriptions, satellite numbering).
  var legacyNumber: UInt8 {
    switch gnss {
    case 2: number + 210
    case 3: number <= 5 ? number + 158 : number + 27
    case 6: number + 64
    default: number
    }
  }
}
