// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

extension JSONLine {
  /// Writes gpsd's SKY object for the satellites of an epoch, and a line end.
  ///
  /// - Parameters:
  ///   - geometry: the dilutions computed from the satellites, for those that the receiver does not send.
  ///   - device: the path of the receiver; absent if nil.
  package mutating func sky(
    _ sky: borrowing Sky, _ fix: Fix, geometry: Dilutions? = nil, device: String? = nil
  ) {
    beginSky(fix, geometry, device: device)
    field("nSat", sky.count)
    field("uSat", sky.used)
    beginArray("satellites")
    let satellites = sky.satellites
    for index in satellites.indices { satellite(satellites[index]) }
    endArray()
    endObject()
    endLine()
  }

  /// Writes a SKY object with only the dilutions of precision, for a receiver that does not report satellites.
  package mutating func dilutions(_ fix: Fix, device: String? = nil) {
    beginSky(fix, nil, device: device)
    field("uSat", fix.satellitesUsed)
    endObject()
    endLine()
  }

  private mutating func beginSky(_ fix: Fix, _ geometry: Dilutions?, device: String?) {
    beginObject()
    field("class", "SKY")
    if let device { field("device", text: device) }
    if let time = fix.time { field("time", time) }
    field("gdop", fix.gdop ?? geometry?.gdop, digits: 2)
    field("hdop", fix.hdop ?? geometry?.hdop, digits: 2)
    field("pdop", fix.pdop ?? geometry?.pdop, digits: 2)
    field("tdop", fix.tdop ?? geometry?.tdop, digits: 2)
    field("vdop", fix.vdop ?? geometry?.vdop, digits: 2)
    field("xdop", fix.edop ?? geometry?.edop, digits: 2)
    field("ydop", fix.ndop ?? geometry?.ndop, digits: 2)
  }

  // Clients wait for these lines, which consist mainly of satellites: a key is written together with its punctuation.
  private mutating func satellite(_ satellite: Satellite) {
    beginObject(with: #"{"PRN":"#)
    integer(Int64(satellite.nmeaNumber))
    put(constant: #","gnssid":"#)
    integer(Int64(satellite.system.rawValue))
    put(constant: #","svid":"#)
    integer(Int64(satellite.number))
    if satellite.azimuthDegrees >= 0 {
      put(constant: #","az":"#)
      integer(Int64(satellite.azimuthDegrees))
    }
    if satellite.elevationDegrees != Satellite.unknownAngle {
      put(constant: #","el":"#)
      integer(Int64(satellite.elevationDegrees))
    }
    if satellite.signalDecibelHertz > 0 {
      put(constant: #","ss":"#)
      integer(Int64(satellite.signalDecibelHertz))
    }
    if satellite.isUsed { put(constant: #","used":true}"#) } else { put(constant: #","used":false}"#) }
  }
}

extension Satellite {
  /// The number in gpsd's extension of the NMEA numbering, with a range for each system.
  var nmeaNumber: Int {
    let number = Int(self.number)
    switch system {
    case .gps, .unknown: return number
    case .sbas: return number >= 120 && number <= 151 ? number - 87 : number
    case .galileo: return 300 + number
    case .beiDou: return 400 + number
    case .imes: return 172 + number
    case .qzss: return 192 + number
    case .glonass: return 64 + number
    case .navIC: return 500 + number
    }
  }
}
