// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

// The rows of the history: arrays without the names of their values, because a page gets an hour of them. docs/reference/json.md
// has their order.
extension JSONLine {
  /// Returns the row of a fix; nil if it has no time.
  mutating func historyRow(_ fix: Fix, geometry: Dilutions?) -> HistoryRow? {
    guard let time = fix.time else { return nil }
    beginArray()
    element(time.second)
    nextElement()
    put(raw: UInt8(ascii: "\""))
    put(fix.statusWord)
    put(raw: UInt8(ascii: "\""))
    for (value, digits) in [
      (fix.hasPosition ? fix.latitudeDegrees : nil, 9), (fix.hasPosition ? fix.longitudeDegrees : nil, 9),
      (fix.heightAboveSeaLevelMetres, 3), (fix.heightAboveEllipsoidMetres, 3), (fix.horizontalAccuracyMetres, 3),
      (fix.verticalAccuracyMetres, 3), (fix.speedMetresPerSecond, 3), (fix.courseDegrees, 2),
      (fix.pdop ?? geometry?.pdop, 2), (fix.hdop ?? geometry?.hdop, 2), (fix.vdop ?? geometry?.vdop, 2),
      (fix.satellitesUsed.map(Double.init), 0),
    ] { element(value, digits: digits) }
    endArray()
    return HistoryRow(second: time.second, json: takeBytes())
  }

  /// Returns the row of the satellites; nil if they have no time.
  mutating func historyRow(_ sky: borrowing Sky, _ time: UTCTime?, _ signals: [UInt16: [SignalTable.Signal]])
    -> HistoryRow?
  {
    guard let time else { return nil }
    beginArray()
    element(time.second)
    beginArray()
    let list = sky.satellites
    for index in list.indices {
      let satellite = list[index]
      beginArray()
      nextElement()
      string(satellite.name)
      element(satellite.azimuthDegrees >= 0 ? Double(satellite.azimuthDegrees) : nil, digits: 0)
      element(
        satellite.elevationDegrees != Satellite.unknownAngle ? Double(satellite.elevationDegrees) : nil, digits: 0)
      for signal in satellite.signals(in: signals) where signal.decibelHertz > 0 {
        nextElement()
        string(signal.name)
        element(Int64(signal.decibelHertz))
      }
      endArray()
    }
    endArray()
    endArray()
    return HistoryRow(second: time.second, json: takeBytes())
  }

  private mutating func element(_ value: Double?, digits: Int) {
    nextElement()
    guard let value, value.isFinite, abs(value) < 1e9 else { return null() }
    decimal(value, digits: digits)
  }
}

extension UTCTime {
  fileprivate var second: Int64 { nanosecondsSince1970 / 1_000_000_000 }
}

extension Satellite {
  /// The signals of the satellite; without NAV-SIG one signal, with the strength in the sky.
  func signals(in table: [UInt16: [SignalTable.Signal]]) -> [SignalTable.Signal] {
    if let found = table[UInt16(system.rawValue) << 8 | UInt16(number)] { return found }
    if signalDecibelHertz == 0 { return [] }
    return [SignalTable.Signal(name: "strongest", decibelHertz: signalDecibelHertz, isUsed: isUsed, quality: nil)]
  }
}
