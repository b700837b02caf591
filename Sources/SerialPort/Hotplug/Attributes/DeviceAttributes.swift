// SPDX-License-Identifier: Apache-2.0

/// The attributes of a node from udev: the only input of the decisions of this module.
public struct DeviceAttributes: Sendable, Hashable {
  /// The device node, such as `/dev/ttyACM0`.
  public var node: String
  /// The kernel's class of the port.
  public var subsystem: ReceiverPort.Subsystem
  /// DEVPATH: the device's folder in /sys, without `/sys`; nil if unknown.
  public var devicePath: String?
  /// The USB vendor id; nil if it is not a USB device.
  public var vendorID: UInt16?
  /// The USB product id; nil if it is not a USB device.
  public var productID: UInt16?
  /// The serial number of the device; nil if it has none.
  public var serialNumber: String?
  /// The product name that the device reports; nil if it has none.
  public var product: String?
  /// bInterfaceNumber: the function of a USB device with several.
  public var interface: UInt8?
  /// ID_USB_INTERFACES: class, subclass and protocol of each function of the device, as `0x020201`.
  public var interfaceClasses: [UInt32] = []
  /// The kernel driver of the USB interface.
  public var driver: String?
  /// ID_PATH: the USB socket, or another physical path.
  public var path: String?
  /// The links to the node that udev made.
  public var links: [String] = []
  /// Whether the console of the system uses the port.
  public var isConsole = false
  /// Whether a rule of ModemManager gives this port a purpose (ID_MM_PORT_TYPE_…).
  public var isModemPort = false
  /// The purpose that a rule of ModemManager gives this port.
  var taggedPurpose: ModemPort.Purpose?

  /// Attributes of a node without further information.
  public init(node: String, subsystem: ReceiverPort.Subsystem) {
    self.node = node
    self.subsystem = subsystem
  }
}

extension DeviceAttributes {
  /// The row of the table of known devices that matches.
  var known: KnownDevice? {
    guard let vendorID, let productID else { return nil }
    return KnownDevice.row(vendorID: vendorID, productID: productID)
  }

  /// Whether the path is the node or one of udev's links to it.
  package func isNamed(_ path: String) -> Bool { node == path || links.contains(path) }
}
