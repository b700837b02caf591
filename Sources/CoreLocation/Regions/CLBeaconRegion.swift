// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// The area in which beacons are detected.
open class CLBeaconRegion: CLRegion {
  private let identity: BeaconIdentity
  /// Whether the state is delivered when the display is turned on.
  open var notifyEntryStateOnDisplay = false

  init(name: String, identity: BeaconIdentity) {
    self.identity = identity
    super.init(name: name, circle: nil)
  }

  /// Makes a region of all beacons of a maker or owner.
  public init(uuid: UUID, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(uuid))
    super.init(name: identifier, circle: nil)
  }
  public init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(uuid), major: major)
    super.init(name: identifier, circle: nil)
  }
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(uuid), major: major, minor: minor)
    super.init(name: identifier, circle: nil)
  }
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    identity = beaconIdentityConstraint.identity
    super.init(name: identifier, circle: nil)
  }

  /// The initializers before iOS 13.
  public init(proximityUUID: UUID, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(proximityUUID))
    super.init(name: identifier, circle: nil)
  }
  public init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(proximityUUID), major: major)
    super.init(name: identifier, circle: nil)
  }
  public init(proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String) {
    identity = BeaconIdentity(uuid: BeaconUUID(proximityUUID), major: major, minor: minor)
    super.init(name: identifier, circle: nil)
  }

  open var beaconIdentityConstraint: CLBeaconIdentityConstraint { CLBeaconIdentityConstraint(identity) }
  open var uuid: UUID { UUID(identity.uuid) }
  open var proximityUUID: UUID { uuid }
  /// nil for any.
  open var major: NSNumber? { identity.major.map { NSNumber(value: $0) } }
  /// nil for any.
  open var minor: NSNumber? { identity.minor.map { NSNumber(value: $0) } }

  /// Returns the Bluetooth advertisement of such a beacon: the iBeacon part, under the key that Apple's advertisers
  /// use. An open major or minor is 0.
  ///
  /// - Parameter measuredPower: the strength at one metre, dBm; nil for −59, which is usual.
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    func bytes(_ number: UInt64, _ count: UInt64) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }
    let payload =
      bytes(identity.uuid.high, 8) + bytes(identity.uuid.low, 8) + bytes(UInt64(identity.major ?? 0), 2)
      + bytes(UInt64(identity.minor ?? 0), 2) + [UInt8(bitPattern: measuredPower?.int8Value ?? -59)]
    return NSMutableDictionary(dictionary: ["kCBAdvDataAppleBeaconKey": Data(payload)])
  }

  override var shape: Region.Shape { .beacon(identity) }
  override var isOfBeacons: Bool { true }

  /// A human-readable text (DA-3).
  open override var description: String {
    "CLBeaconRegion (identifier:'\(identifier)', uuid:\(uuid.uuidString), major:\(major?.description ?? "(null)"), "
      + "minor:\(minor?.description ?? "(null)"))"
  }

  override var content: Region {
    var content = super.content
    content.notifiesStateOnDisplay = notifyEntryStateOnDisplay
    return content
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    identity.encode(with: coder)
    coder.encode(notifyEntryStateOnDisplay, forKey: "CLBeaconRegion.notifyEntryStateOnDisplay")
  }

  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder: coder) else { return nil }
    self.identity = identity
    super.init(coder: coder)
    notifyEntryStateOnDisplay = coder.decodeBool(forKey: "CLBeaconRegion.notifyEntryStateOnDisplay")
  }
}
