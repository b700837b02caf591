import MonotonicTime
import ReceiverStream

/// The 128 bits that name a family of beacons.
public struct BeaconUUID: Hashable, Sendable {
  /// The first eight bytes, big-endian.
  public var high: UInt64
  /// The last eight bytes, big-endian.
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// Which beacons are meant: all that have the given parts (BE-2).
public struct BeaconIdentity: Hashable, Sendable {
  public var uuid: BeaconUUID
  /// nil: any.
  public var major: UInt16?
  /// nil: any.
  public var minor: UInt16?

  public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
  }

  /// Whether the beacon that was heard is one of these.
  public func matches(_ sighting: BeaconSighting) -> Bool {
    uuid == sighting.uuid && (major ?? sighting.major) == sighting.major && (minor ?? sighting.minor) == sighting.minor
  }
}

/// One advertisement of a beacon that was heard.
public struct BeaconSighting: Hashable, Sendable {
  public var uuid: BeaconUUID
  public var major: UInt16
  public var minor: UInt16
  /// The strength it was heard with; nil: the adapter does not measure it.
  public var strengthDecibelMilliwatts: Int?
  /// The strength at one metre, as the beacon says it.
  public var strengthAtOneMetreDecibelMilliwatts: Int
  public var received: Moment

  public init(
    uuid: BeaconUUID, major: UInt16, minor: UInt16, strengthDecibelMilliwatts: Int?,
    strengthAtOneMetreDecibelMilliwatts: Int, received: Moment
  ) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.strengthDecibelMilliwatts = strengthDecibelMilliwatts
    self.strengthAtOneMetreDecibelMilliwatts = strengthAtOneMetreDecibelMilliwatts
    self.received = received
  }
}

/// How near a beacon is; the raw values are those of CLProximity.
public enum Proximity: Int, Sendable {
  case unknown = 0
  case immediate = 1
  case near = 2
  case far = 3
}

/// A beacon as ranging reports it: the content of a CLBeacon.
public struct Beacon: Hashable, Sendable {
  public var uuid: BeaconUUID
  public var major: UInt16
  public var minor: UInt16
  public var proximity: Proximity
  /// Estimated distance; negative: unknown.
  public var accuracyMetres: Double
  /// Mean since the last report; 0: not heard since.
  public var strengthDecibelMilliwatts: Int
  public var timestamp: UTCTime

  public init(
    uuid: BeaconUUID, major: UInt16, minor: UInt16, proximity: Proximity, accuracyMetres: Double,
    strengthDecibelMilliwatts: Int, timestamp: UTCTime
  ) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.proximity = proximity
    self.accuracyMetres = accuracyMetres
    self.strengthDecibelMilliwatts = strengthDecibelMilliwatts
    self.timestamp = timestamp
  }
}
