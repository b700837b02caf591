/// What udev knows about a node: the input of every decision of this module, and all of it.
public struct DeviceAttributes: Sendable, Hashable {
  /// The device node, such as `/dev/ttyACM0`.
  public var node: String
  /// Where the port comes from.
  public var subsystem: ReceiverPort.Subsystem
  /// DEVPATH: the device's folder in /sys, without `/sys`. Nil only where it was not asked.
  public var devicePath: String?
  /// The USB vendor id; nil if it is no USB device.
  public var vendorID: UInt16?
  /// The USB product id; nil if it is no USB device.
  public var productID: UInt16?
  /// The serial number as the device gives it; nil where it has none.
  public var serialNumber: String?
  /// The device's own name, as far as it has one.
  public var product: String?
  /// bInterfaceNumber: which function of a USB device with several.
  public var interface: UInt8?
  /// ID_USB_INTERFACES: class, subclass and protocol of each function of the device, as `0x020201`.
  public var interfaceClasses: [UInt32] = []
  /// The kernel driver of the USB interface.
  public var driver: String?
  /// ID_PATH: the socket.
  public var path: String?
  /// The links that udev made to the node.
  public var links: [String] = []
  /// Whether the system's console runs on it.
  public var isConsole = false
  /// Whether a rule of ModemManager's says what this port of a modem is for (ID_MM_PORT_TYPE_…).
  public var isModemPort = false

  /// A node of which nothing else is known yet.
  public init(node: String, subsystem: ReceiverPort.Subsystem) {
    self.node = node
    self.subsystem = subsystem
  }
}

extension DeviceAttributes {
  /// The row of the table that fits.
  var known: KnownDevice? {
    guard let vendorID, let productID else { return nil }
    return KnownDevice.row(vendorID: vendorID, productID: productID)
  }

  /// Whether the path leads to the node: it is its name, or one of udev's links to it.
  func isNamed(_ path: String) -> Bool { node == path || links.contains(path) }
}
