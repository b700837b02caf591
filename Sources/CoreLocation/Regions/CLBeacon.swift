// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning
import ReceiverStream

/// A beacon that was detected.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let content: Beacon

  /// Makes an empty object, for mocks in tests, which override what they need.
  public override init() { content = Self.empty }

  private static var empty: Beacon {
    Beacon(
      uuid: BeaconUUID(high: 0, low: 0), major: 0, minor: 0, proximity: .unknown, accuracyMetres: -1,
      strengthDecibelMilliwatts: 0, timestamp: UTCTime(Date()))
  }

  init(_ content: Beacon) { self.content = content }

  open var uuid: UUID { UUID(content.uuid) }
  open var proximityUUID: UUID { uuid }
  open var major: NSNumber { NSNumber(value: content.major) }
  open var minor: NSNumber { NSNumber(value: content.minor) }
  open var proximity: CLProximity { CLProximity(rawValue: content.proximity.rawValue) ?? .unknown }
  /// Metres, one standard deviation; negative if unknown.
  open var accuracy: CLLocationAccuracy { content.accuracyMetres }
  /// The mean strength since the last report, dBm.
  open var rssi: Int { content.strengthDecibelMilliwatts }
  open var timestamp: Date { Date(content.timestamp) }

  /// A human-readable text (DA-3).
  open override var description: String {
    String(
      format: "CLBeacon (uuid:%@, major:%@, minor:%@, proximity:%d +/- %.2fm, rssi:%ld, timestamp:%@)",
      uuid.uuidString as NSString, major.description as NSString, minor.description as NSString, proximity.rawValue,
      accuracy, rssi, timestamp.description as NSString)
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }

  open func encode(with coder: NSCoder) {
    BeaconIdentity(uuid: content.uuid, major: content.major, minor: content.minor).encode(with: coder)
    coder.encode(content.proximity.rawValue, forKey: "CLBeacon.proximity")
    coder.encode(content.accuracyMetres, forKey: "CLBeacon.accuracy")
    coder.encode(content.strengthDecibelMilliwatts, forKey: "CLBeacon.rssi")
    coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: "CLBeacon.timestamp")
  }

  /// A subclass that encodes only its own properties gets the values of ``init()`` for these.
  public required init?(coder: NSCoder) {
    guard type(of: self) == CLBeacon.self || coder.containsValue(forKey: "CLBeacon.proximity") else {
      content = Self.empty
      return
    }
    guard let identity = BeaconIdentity(coder: coder), let major = identity.major, let minor = identity.minor,
      let proximity = Proximity(rawValue: coder.decodeInteger(forKey: "CLBeacon.proximity"))
    else { return nil }
    content = Beacon(
      uuid: identity.uuid, major: major, minor: minor, proximity: proximity,
      accuracyMetres: coder.decodeDouble(forKey: "CLBeacon.accuracy"),
      strengthDecibelMilliwatts: coder.decodeInteger(forKey: "CLBeacon.rssi"),
      timestamp: UTCTime(Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "CLBeacon.timestamp"))))
  }
}
