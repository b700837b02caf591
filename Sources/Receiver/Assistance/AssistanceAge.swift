// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// How long stored assistance is valid.
enum AssistanceAge {
  /// GPS ephemerides hold for four hours, two on each side of their reference (IS-GPS-200, 20.3.4.4).
  static let ephemerisSeconds: Int64 = 4 * 3600
  /// Almanacs, and a receiver's whole database, which contains the ages of its parts.
  static let databaseSeconds: Int64 = 28 * 86_400
  static let placeSeconds: Int64 = 28 * 86_400
  /// The speed of a receiver that was moved by car while it was off …
  static let metresPerSecond = 30.0
  /// … up to this distance.
  static let farthestMetres = 300_000.0

  /// Returns the standard deviation of a place after some time; nil if it is too old, or from the future.
  static func accuracyMetres(of place: AssistanceRecord.Place, at now: UTCTime) -> Double? {
    let seconds = (now.nanosecondsSince1970 - place.time.nanosecondsSince1970) / 1_000_000_000
    // A minute of leeway: the clock of the last run may have been ahead by a little.
    guard (-60...placeSeconds).contains(seconds) else { return nil }
    return min(max(place.accuracyMetres, 100) + Double(max(seconds, 0)) * metresPerSecond, farthestMetres)
  }

  static func isFresh(_ message: AssistanceRecord.Message, from time: UTCTime, at now: UTCTime) -> Bool {
    let seconds = (now.nanosecondsSince1970 - time.nanosecondsSince1970) / 1_000_000_000
    return (-60...(message.identity == .aidEPH ? ephemerisSeconds : databaseSeconds)).contains(seconds)
  }
}
