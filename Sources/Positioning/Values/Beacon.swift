// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The 128 bits that identify a family of beacons.
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

/// A set of beacons: all with the given parts (BE-2).
public struct BeaconIdentity: Hashable, Codable, Sendable {
  public var uuid: BeaconUUID
  /// Nil: any.
  public var major: UInt16?
  /// Nil: any.
  public var minor: UInt16?

  public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
  }

  /// Whether a sighting belongs to one of these beacons.
  public func matches(_ sighting: BeaconSighting) -> Bool {
    uuid == sighting.uuid && (major ?? sighting.major) == sighting.major && (minor ?? sighting.minor) == sighting.minor
  }
}

/// One received advertisement of a beacon.
public struct BeaconSighting: Hashable, Sendable {
  public var uuid: BeaconUUID
  public var major: UInt16
  public var minor: UInt16
  /// The received strength; nil if the adapter does not measure it.
  public var strengthDecibelMilliwatts: Int?
  /// The strength at one metre, from the advertisement.
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

/// The proximity of a beacon; the raw values equal those of CLProximity.
public enum Proximity: Int, Codable, Sendable {
  case unknown = 0
  case immediate = 1
  case near = 2
  case far = 3
}

/// A beacon as ranging reports it: the content of a CLBeacon.
public struct Beacon: Hashable, Codable, Sendable {
  public var uuid: BeaconUUID
  public var major: UInt16
  public var minor: UInt16
  public var proximity: Proximity
  /// Estimated distance; negative if unknown.
  public var accuracyMetres: Double
  /// Mean since the last report; 0 if there was no sighting.
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
