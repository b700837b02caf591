// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The compared members of gpsd's TPV objects.
struct TPV: Decodable {
  var mode: Int?
  var time: String?
  var lat: Double?
  var lon: Double?
  var altMSL: Double?
  var altHAE: Double?
  var speed: Double?
  var track: Double?
  var climb: Double?
  var velD: Double?

  /// The last TPV of each time in gpsd's output or ours; all other lines are ignored.
  static func epochs(_ lines: [UInt8]) -> [String: TPV] {
    let start = Array(#"{"class":"TPV""#.utf8)
    let decoder = JSONDecoder()
    var epochs: [String: TPV] = [:]
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      guard let range = line.firstRange(of: start) else { continue }
      guard let tpv = try? decoder.decode(TPV.self, from: Data(line[range.lowerBound...])) else { continue }
      guard var time = tpv.time?.prefix(23) else { continue }
      while time.last == "Z" { time.removeLast() }
      epochs[String(time)] = tpv
    }
    return epochs
  }

  /// Whether all of gpsd's values are present here too, within the tolerance.
  func agrees(with reference: TPV) -> Bool {
    let isMoving = reference.speed ?? 0 >= 0.5
    // gpsd computes a climb from heights if the receiver does not send one; this is not required here.
    let isClimbAsked = climb != nil || reference.velD != nil
    return mode == reference.mode
      && isNear(lat, reference.lat, 2e-7) && isNear(lon, reference.lon, 2e-7)
      && isNear(altMSL, reference.altMSL, 0.11) && isNear(altHAE, reference.altHAE, 0.11)
      && isNear(speed, reference.speed, 0.06)
      && (!isMoving || isNear(track, reference.track, 0.11, circle: 360))
      && (!isClimbAsked || isNear(climb, reference.climb, 0.11))
  }

  private func isNear(_ value: Double?, _ reference: Double?, _ tolerance: Double, circle: Double? = nil) -> Bool {
    guard let reference else { return true }
    guard let value else { return false }
    let difference = abs(value - reference)
    return min(difference, circle.map { $0 - difference } ?? difference) <= tolerance
  }
}
