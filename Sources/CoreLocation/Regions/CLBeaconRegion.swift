import Foundation
import Positioning

/// The surroundings of beacons.
open class CLBeaconRegion: CLRegion {
  private let identity: BeaconIdentity
  /// Whether the state is told when the display is turned on.
  open var notifyEntryStateOnDisplay = false

  init(name: String, identity: BeaconIdentity) {
    self.identity = identity
    super.init(name: name, circle: nil)
  }

  public convenience init(uuid: UUID, identifier: String) {
    self.init(name: identifier, identity: BeaconIdentity(uuid: BeaconUUID(uuid)))
  }
  public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    self.init(name: identifier, identity: BeaconIdentity(uuid: BeaconUUID(uuid), major: major))
  }
  public convenience init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String) {
    self.init(name: identifier, identity: BeaconIdentity(uuid: BeaconUUID(uuid), major: major, minor: minor))
  }
  public convenience init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    self.init(name: identifier, identity: beaconIdentityConstraint.identity)
  }

  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public convenience init(proximityUUID: UUID, identifier: String) {
    self.init(uuid: proximityUUID, identifier: identifier)
  }
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public convenience init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    self.init(uuid: proximityUUID, major: major, identifier: identifier)
  }
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public convenience init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
  }

  open var beaconIdentityConstraint: CLBeaconIdentityConstraint { CLBeaconIdentityConstraint(identity) }
  open var uuid: UUID { UUID(identity.uuid) }
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }
  /// nil: any.
  open var major: NSNumber? { identity.major.map { NSNumber(value: $0) } }
  /// nil: any.
  open var minor: NSNumber? { identity.minor.map { NSNumber(value: $0) } }

  override var shape: Region.Shape { .beacon(identity) }
  override var isOfBeacons: Bool { true }

  /// For people (DA-3).
  open override var description: String {
    "CLBeaconRegion (identifier:'\(identifier)', uuid:\(uuid.uuidString), major:\(major?.description ?? "(null)"), "
      + "minor:\(minor?.description ?? "(null)"))"
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = super.copy(with: zone)
    (copy as? CLBeaconRegion)?.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    return copy
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    identity.encode(with: coder)
    coder.encode(notifyEntryStateOnDisplay, forKey: "notifyEntryStateOnDisplay")
  }

  public required init?(coder: NSCoder) {
    guard let identity = BeaconIdentity(coder: coder) else { return nil }
    self.identity = identity
    super.init(coder: coder)
    notifyEntryStateOnDisplay = coder.decodeBool(forKey: "notifyEntryStateOnDisplay")
  }
}
