import ReceiverStream

/// What a session may help its receivers with.
public struct AssistanceSettings: Sendable {
  /// What is kept of receivers from earlier runs.
  public var records: [AssistanceRecord]
  /// How right the computer's clock is, one standard deviation in seconds; nil where it is not to be trusted. Without it
  /// nothing is given: orbits and places mean something at a time only.
  public var clockAccuracySeconds: Double?
  /// Whether the receiver is asked at the end for what it knows, to be kept.
  public var readsDatabaseAtEnd: Bool

  public init(records: [AssistanceRecord], clockAccuracySeconds: Double?, readsDatabaseAtEnd: Bool) {
    self.records = records
    self.clockAccuracySeconds = clockAccuracySeconds
    self.readsDatabaseAtEnd = readsDatabaseAtEnd
  }
}

/// How long what is kept is of use.
enum AssistanceAge {
  /// GPS ephemerides hold for four hours, two on each side of their reference (IS-GPS-200, 20.3.4.4).
  static let ephemerisSeconds: Int64 = 4 * 3600
  /// Almanacs and a receiver's whole database, in which it tells the ages of the parts itself.
  static let databaseSeconds: Int64 = 28 * 86_400
  static let placeSeconds: Int64 = 28 * 86_400
  /// A receiver that was off may have been in a car all the time …
  static let metresPerSecond = 30.0
  /// … and is seldom further away than this.
  static let farthestMetres = 300_000.0

  /// The standard deviation of a place after some time; nil when it is too old, or from the future.
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
