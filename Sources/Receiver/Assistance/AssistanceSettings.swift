// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The assistance that a session may give to its receivers.
public struct AssistanceSettings: Sendable {
  /// The records of earlier runs.
  public var records: [AssistanceRecord]
  /// The standard deviation of the computer's clock, in seconds; nil for a clock that is not set. No assistance is given
  /// without it: orbits and places need a time.
  public var clockAccuracySeconds: Double?
  /// Whether the end of the session reads the orbits of the receiver.
  public var readsDatabaseAtEnd: Bool
  /// Broadcast ephemerides of other receivers.
  public var ephemerides: EphemerisStock

  public init(
    records: [AssistanceRecord], clockAccuracySeconds: Double?, readsDatabaseAtEnd: Bool,
    ephemerides: EphemerisStock = EphemerisStock()
  ) {
    self.ephemerides = ephemerides
    self.records = records
    self.clockAccuracySeconds = clockAccuracySeconds
    self.readsDatabaseAtEnd = readsDatabaseAtEnd
  }
}

extension ReceiverDescription {
  /// Whether it has the messages for ephemerides of other receivers, MGA: from M8 on.
  public var acceptsEphemerides: Bool {
    guard can(.assistance), let generation else { return false }
    return generation != .m6 && generation != .m7
  }
}

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
