/// The ports that are there, as far as it was told: messages and whole lists of ports go in, what changed comes out.
///
/// Messages may be missing, repeated, or speak of what a list had already; what comes out is in order nevertheless: a
/// port is added before it changes, and removed before another takes its node.
struct PortTable {
  private(set) var attributes: [String: DeviceAttributes] = [:]

  /// Takes a message about one device.
  mutating func receive(_ change: DeviceEvent.Change, _ device: DeviceAttributes) -> [(
    DeviceEvent.Change, DeviceAttributes
  )] {
    let before = attributes[device.node]
    if change == .removed {
      attributes[device.node] = nil
      // What was known while it was there says more than the properties of the message.
      return [(.removed, before ?? device)]
    }
    attributes[device.node] = device
    guard let before else { return [(.added, device)] }
    // A device that was replaced while nobody listened.
    if !before.isSameDevice(as: device) { return [(.removed, before), (.added, device)] }
    // An `add` of what is known may be a device that came back so fast that its removal was lost: it is told, so that
    // whoever waits for it looks again.
    return before == device && change == .changed ? [] : [(.changed, device)]
  }

  /// Takes the list of all that is there.
  mutating func replace(with present: [DeviceAttributes]) -> [(DeviceEvent.Change, DeviceAttributes)] {
    let nodes = Set(present.map(\.node))
    var changes: [(DeviceEvent.Change, DeviceAttributes)] = []
    for gone in attributes.values.sorted(by: { $0.node < $1.node }) where !nodes.contains(gone.node) {
      changes += receive(.removed, gone)
    }
    for device in present { changes += receive(.changed, device) }
    return changes
  }
}

extension DeviceAttributes {
  /// Whether both are one device at one place. Before udev has looked at a device less is known of it: then its folder
  /// in /sys tells.
  fileprivate func isSameDevice(as other: DeviceAttributes) -> Bool {
    devicePath == other.devicePath && vendorID == other.vendorID && productID == other.productID
      && serialNumber == other.serialNumber
  }
}
