// SPDX-License-Identifier: Apache-2.0
import TestSupport
import UBX

/// Sentences of a receiver near Zurich, without `$` and checksum.
func rmc(
  _ time: String, date: String = "091225", status: String = "A", speed: String = "5.0", talker: String = "GP"
) -> String {
  let place = status == "A" ? "4717.11437,N,00833.91522,E,\(speed),77.5" : ",,,,,"
  return "\(talker)RMC,\(time),\(status),\(place),\(date),,,\(status == "A" ? "A" : "N")"
}

func gga(
  _ time: String, quality: Int = 1, latitude: String = "4717.11437", hdop: String = "1.0", talker: String = "GP"
) -> String {
  let place = quality > 0 ? "\(latitude),N,00833.91522,E" : ",,,"
  let height = quality > 0 ? "499.6,M,48.0,M" : ",M,,M"
  return "\(talker)GGA,\(time),\(place),\(quality),08,\(hdop),\(height),,"
}

func gll(_ time: String, status: String = "A") -> String {
  "GPGLL,\(status == "A" ? "4717.11437,N,00833.91522,E" : ",,,"),\(time),\(status),\(status == "A" ? "A" : "N")"
}

func zda(_ time: String, _ day: Int = 9, _ month: Int = 12, _ year: Int = 2025) -> String {
  "GPZDA,\(time),\(day),\(month),\(year),00,00"
}

let gsa3D = "GPGSA,A,3,05,09,,,,,,,,,,,1.8,1.0,1.5"
let vtg = "GPVTG,77.5,T,,M,5.0,N,9.3,K,A"
/// Two sentences of a group of six satellites.
let gsv = [
  "GPGSV,2,1,06,05,40,083,46,09,17,308,41,14,07,344,39,30,22,228,45", "GPGSV,2,2,06,02,13,172,30,04,02,010,",
]

/// Encodes a UBX frame with `write`.
func ubx(_ write: (inout MutableRawSpan) -> Int) -> [UInt8] { written(room: 9000, write) }

/// NAV-PVT of the same receiver at 2025-12-09 10:11:`second`, with a 3D fix; `change` sets the differences.
func navPVT(_ second: Int, _ change: (inout NavPVT.Writer) -> Void = { _ in }) -> [UInt8] {
  navPVT(10, 11, second, change)
}

/// NAV-PVT at another time of the month.
func navPVT(
  _ hour: Int, _ minute: Int, _ second: Int, nano: Int = 0, day: Int = 9,
  _ change: (inout NavPVT.Writer) -> Void = { _ in }
) -> [UInt8] {
  ubx {
    NavPVT.encode(into: &$0) {
      $0.iTOW(timeOfWeek(hour, minute, second, nano: nano, day: day))
      $0.year(2025)
      $0.month(12)
      $0.day(UInt8(day))
      $0.hour(UInt8(hour))
      $0.min(UInt8(minute))
      $0.sec(UInt8(second))
      $0.nano(Int32(nano))
      $0.valid(0b111)
      $0.tAcc(25)
      $0.fixType(3)
      $0.flags(1)
      $0.numSV(12)
      $0.lat(472_852_395)
      $0.lon(85_652_537)
      $0.height(547_600)
      $0.hMSL(499_600)
      $0.hAcc(1500)
      $0.vAcc(2500)
      $0.gSpeed(2572)
      $0.headMot(7_750_000)
      $0.pDOP(180)
      change(&$0)
    }
  }
}

/// GPS time of week in milliseconds of a UTC time in the week of 2025-12-07, when GPS − UTC is 18 s.
func timeOfWeek(_ hour: Int, _ minute: Int, _ second: Int, nano: Int = 0, day: Int = 9) -> UInt32 {
  UInt32(((day - 7) * 86_400 + hour * 3600 + minute * 60 + second + 18) * 1000 + nano / 1_000_000)
}

/// HNR-PVT within a second, with the position of `navPVT`.
func hnrPVT(_ second: Int, nano: Int, _ change: (inout HnrPVT.Writer) -> Void = { _ in }) -> [UInt8] {
  ubx {
    HnrPVT.encode(into: &$0) {
      $0.iTOW(timeOfWeek(10, 11, second, nano: nano))
      $0.year(2025)
      $0.month(12)
      $0.day(9)
      $0.hour(10)
      $0.min(11)
      $0.sec(UInt8(second))
      $0.nano(Int32(nano))
      $0.valid(0b111)
      $0.gpsFix(4)
      $0.flags(1)
      $0.lon(85_652_537)
      $0.lat(472_852_395)
      $0.height(547_600)
      $0.hMSL(499_600)
      $0.hAcc(1500)
      change(&$0)
    }
  }
}

func navEOE(_ second: Int) -> [UInt8] {
  ubx { NavEOE.encode(into: &$0) { $0.iTOW(timeOfWeek(10, 11, second)) } }
}

func navSAT(_ numbers: [UInt8], second: Int = 12, elevation: Int8 = 45) -> [UInt8] {
  ubx {
    NavSAT.encode(into: &$0, length: 8 + 12 * numbers.count) {
      $0.iTOW(timeOfWeek(10, 11, second))
      $0.numSvs(UInt8(numbers.count))
      for (index, number) in numbers.enumerated() {
        $0.satellite_svId(index, number)
        $0.satellite_elev(index, elevation)
        $0.satellite_azim(index, 123)
        $0.satellite_cno(index, 33)
        $0.satellite_flags(index, number % 2 == 0 ? 8 : 0)
      }
    }
  }
}
