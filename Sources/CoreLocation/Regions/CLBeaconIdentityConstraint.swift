// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// The identity of beacons: all with the given parts. Two constraints for the same beacons are equal.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  let identity: BeaconIdentity

  init(_ identity: BeaconIdentity) { self.identity = identity }

  /// Makes a constraint for any major and minor.
  public init(uuid: UUID) { identity = BeaconIdentity(uuid: BeaconUUID(uuid)) }
  /// Makes a constraint for any minor.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    identity = BeaconIdentity(uuid: BeaconUUID(uuid), major: major)
  }
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    identity = BeaconIdentity(uuid: BeaconUUID(uuid), major: major, minor: minor)
  }

  open var uuid: UUID { UUID(identity.uuid) }
  /// nil for any.
  open var major: CLBeaconMajorValue? { identity.major }
  /// nil for any.
  open var minor: CLBeaconMinorValue? { identity.minor }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLBeaconIdentityConstraint)?.identity == identity
  }
  open override var hash: Int { identity.hashValue }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }
  open func encode(with coder: NSCoder) { identity.encode(with: coder) }
  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder: coder) else { return nil }
    self.identity = identity
  }
}

extension BeaconUUID {
  init(_ uuid: UUID) {
    let bytes = uuid.uuid
    let values = [
      bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7, bytes.8, bytes.9, bytes.10, bytes.11,
      bytes.12, bytes.13, bytes.14, bytes.15,
    ]
    self.init(
      high: values[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: values[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension UUID {
  init(_ uuid: BeaconUUID) {
    func byte(_ half: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: half >> (56 - 8 * index)) }
    let (a, b) = (uuid.high, uuid.low)
    self.init(
      uuid: (
        byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6), byte(a, 7), byte(b, 0),
        byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5), byte(b, 6), byte(b, 7)
      ))
  }
}

extension BeaconIdentity {
  func encode(with coder: NSCoder) {
    coder.encode(UUID(uuid).uuidString as NSString, forKey: "CLBeaconIdentityConstraint.uuid")
    if let major { coder.encode(Int(major), forKey: "CLBeaconIdentityConstraint.major") }
    if let minor { coder.encode(Int(minor), forKey: "CLBeaconIdentityConstraint.minor") }
  }

  init?(coder: NSCoder) {
    guard let uuid = coder.text("CLBeaconIdentityConstraint.uuid").flatMap(UUID.init(uuidString:)) else { return nil }
    func part(_ key: String) -> UInt16? {
      coder.containsValue(forKey: key) ? UInt16(exactly: coder.decodeInteger(forKey: key)) : nil
    }
    self.init(
      uuid: BeaconUUID(uuid), major: part("CLBeaconIdentityConstraint.major"),
      minor: part("CLBeaconIdentityConstraint.minor"))
  }
}
