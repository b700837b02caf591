import UBX

// The UBX messages of an epoch: NAV-PVT, NAV-DOP, NAV-SAT, and NAV-EOE as the last.
extension MovingReceiver.State {
  func writeUBX(_ output: inout EpochWriter) {
    output.append(room: 100) { NavPVT.encode(into: &$0) { writePVT(&$0) } }
    output.append(room: 26) { NavDOP.encode(into: &$0) { writeDOP(&$0) } }
    output.append(room: 16 + 12 * satellites.count) { span in
      NavSAT.encode(into: &span, length: 8 + 12 * satellites.count) { writeSAT(&$0) }
    }
    output.append(room: 12) { NavEOE.encode(into: &$0) { $0.iTOW(timeOfWeek) } }
  }

  private func writePVT(_ message: inout NavPVT.Writer) {
    message.iTOW(timeOfWeek)
    message.year(UInt16(date.year))
    message.month(UInt8(date.month))
    message.day(UInt8(date.day))
    message.hour(UInt8(secondOfDay / 3600))
    message.min(UInt8(secondOfDay / 60 % 60))
    message.sec(UInt8(secondOfDay % 60))
    message.valid(0b111)
    message.tAcc(25)
    message.pDOP(hasFix ? 152 : 9999)
    message.hAcc(hasFix ? 1900 : 0xFFFF_FFFF)
    message.vAcc(hasFix ? 2600 : 0xFFFF_FFFF)
    guard hasFix else { return }
    message.fixType(3)
    message.flags(1)
    message.numSV(UInt8(satellites.count(where: \.isUsed)))
    message.lon(Int32((longitude * 1e7).rounded()))
    message.lat(Int32((latitude * 1e7).rounded()))
    message.height(Int32(((altitude + Self.geoidSeparation) * 1000).rounded()))
    message.hMSL(Int32((altitude * 1000).rounded()))
    message.velN(Int32((velocity.north * 1000).rounded()))
    message.velE(Int32((velocity.east * 1000).rounded()))
    message.gSpeed(Int32((speed * 1000).rounded()))
    message.headMot(Int32((course * 1e5).rounded()))
    message.sAcc(120)
    message.headAcc(350_000)
  }

  private func writeDOP(_ message: inout NavDOP.Writer) {
    message.iTOW(timeOfWeek)
    message.gDOP(hasFix ? 181 : 9999)
    message.pDOP(hasFix ? 152 : 9999)
    message.tDOP(hasFix ? 98 : 9999)
    message.vDOP(hasFix ? 124 : 9999)
    message.hDOP(hasFix ? 88 : 9999)
  }

  private func writeSAT(_ message: inout NavSAT.Writer) {
    message.iTOW(timeOfWeek)
    message.version(1)
    message.numSvs(UInt8(satellites.count))
    for (index, satellite) in satellites.enumerated() {
      message.satellite_gnssId(index, satellite.gnss)
      message.satellite_svId(index, satellite.number)
      message.satellite_cno(index, UInt8(satellite.signal))
      message.satellite_elev(index, Int8(satellite.elevation))
      message.satellite_azim(index, Int16(satellite.azimuth))
      // Code and carrier locked, healthy, with ephemeris.
      message.satellite_flags(index, 7 | (satellite.isUsed && hasFix ? 8 : 0) | 1 << 4 | 1 << 8 | 1 << 11)
    }
  }
}
