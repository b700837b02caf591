// SPDX-License-Identifier: Apache-2.0

/// The present ports. The inputs are messages and complete lists of ports, the output is changes.
///
/// Messages may be missing, repeated, or older than a list. The changes are in order nevertheless: a port is added
/// before it changes, and removed before another takes its node.
struct PortTable {
  private(set) var attributes: [String: DeviceAttributes] = [:]

  /// Handles a message about one device.
  mutating func receive(_ change: DeviceEvent.Change, _ device: DeviceAttributes) -> [(
    DeviceEvent.Change, DeviceAttributes
  )] {
    let before = attributes[device.node]
    if change == .removed {
      attributes[device.node] = nil
      // The stored attributes are more complete than the properties of the message.
      return [(.removed, before ?? device)]
    }
    attributes[device.node] = device
    guard let before else { return [(.added, device)] }
    // The device was replaced, and the messages about it were lost.
    if !before.isSameDevice(as: device) { return [(.removed, before), (.added, device)] }
    // An `add` of a known device may be a return after a lost removal. It is reported as a change, so that the owner of
    // the port checks again.
    return before == device && change == .changed ? [] : [(.changed, device)]
  }

  /// Handles the list of all present devices.
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
  /// Whether both are the same device at the same socket. Before udev has processed a device only its folder in /sys
  /// identifies it.
  fileprivate func isSameDevice(as other: DeviceAttributes) -> Bool {
    devicePath == other.devicePath && vendorID == other.vendorID && productID == other.productID
      && serialNumber == other.serialNumber
  }
}
