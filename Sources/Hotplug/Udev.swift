// The room of libudev: every call into it, and with it every `unsafe` of its, stands here.
//
// libudev's objects are counted references that this file owns between `new` and `unref`; a parent is borrowed from its
// child. Strings belong to the device and are copied at once.
import CUdev
import Glibc

enum Udev {
  /// What is known about every serial line with hardware behind it and every node of class gnss.
  static func deviceAttributes() -> [DeviceAttributes] {
    guard let udev = unsafe udev_new() else { return [] }
    defer { _ = unsafe udev_unref(udev) }
    guard let search = unsafe udev_enumerate_new(udev) else { return [] }
    defer { _ = unsafe udev_enumerate_unref(search) }
    for subsystem in subsystems { unsafe udev_enumerate_add_match_subsystem(search, subsystem) }
    unsafe udev_enumerate_scan_devices(search)

    var found: [DeviceAttributes] = []
    var entry = unsafe udev_enumerate_get_list_entry(search)
    while let current = unsafe entry {
      if let device = unsafe udev_device_new_from_syspath(udev, udev_list_entry_get_name(current)) {
        if let attributes = unsafe DeviceAttributes(device) { found.append(attributes) }
        _ = unsafe udev_device_unref(device)
      }
      unsafe entry = udev_list_entry_get_next(current)
    }
    return found
  }

  static let subsystems = ["tty", "gnss"]

  /// One message of a ``Subscription``.
  enum Message: Equatable {
    /// Something happened to a device, and this is what is known of it; its own properties alone if it was removed.
    case device(DeviceEvent.Change, DeviceAttributes)
    /// Something happened to a device that no receiver can be behind.
    case irrelevant
    /// Messages were lost: the socket's buffer was full.
    case overrun
  }

  /// udev_monitor: messages about devices as they come and go.
  ///
  /// Safe: it owns both objects until its end, and hands neither out.
  @safe
  struct Subscription: ~Copyable {
    /// Who sends the messages: udevd when it has set up the device, or the kernel before it.
    enum Sender: String { case udev, kernel }

    private let udev: OpaquePointer
    private let monitor: OpaquePointer

    /// Nil where the system does not let us listen. udev_monitor_new_from_netlink(3).
    init?(to sender: Sender) {
      guard let udev = unsafe udev_new() else { return nil }
      guard let monitor = unsafe udev_monitor_new_from_netlink(udev, sender.rawValue) else {
        _ = unsafe udev_unref(udev)
        return nil
      }
      var isListening = true
      for subsystem in Udev.subsystems {
        if unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil) < 0 { isListening = false }
      }
      if unsafe udev_monitor_enable_receiving(monitor) < 0 { isListening = false }
      guard isListening else {
        _ = unsafe udev_monitor_unref(monitor)
        _ = unsafe udev_unref(udev)
        return nil
      }
      unsafe self.udev = udev
      unsafe self.monitor = monitor
    }

    deinit {
      _ = unsafe udev_monitor_unref(monitor)
      _ = unsafe udev_unref(udev)
    }

    /// Readable when a message is there. Closed with the subscription.
    var descriptor: Int32 { unsafe udev_monitor_get_fd(monitor) }

    /// The next message; nil when there is none. udev_monitor_receive_device(3).
    func next() -> Message? {
      // libudev leaves errno alone when a message was filtered away.
      errno = 0
      guard let device = unsafe udev_monitor_receive_device(monitor) else {
        return errno == ENOBUFS ? .overrun : nil
      }
      defer { _ = unsafe udev_device_unref(device) }
      switch unsafe string(udev_device_get_action(device)) {
      case "remove":
        guard let attributes = unsafe DeviceAttributes(removed: device) else { return .irrelevant }
        return .device(.removed, attributes)
      case let action:
        guard let attributes = unsafe DeviceAttributes(device) else { return .irrelevant }
        return .device(action == "add" ? .added : .changed, attributes)
      }
    }
  }
}

extension DeviceAttributes {
  /// The facts of a device that could have a receiver; nil for a virtual terminal, and for a UART without hardware.
  fileprivate init?(_ device: OpaquePointer) {
    // tty0, ptmx, console and the like hang on no bus. Serial core, PORT_UNKNOWN: a place for a UART that the board
    // does not have.
    guard unsafe udev_device_get_parent(device) != nil, unsafe attribute(device, "type") != "0",
      let own = unsafe DeviceAttributes(properties: device)
    else { return nil }
    self = own

    if let usb = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device") {
      vendorID = unsafe vendorID ?? identifier(attribute(usb, "idVendor"))
      productID = unsafe productID ?? identifier(attribute(usb, "idProduct"))
      // udev puts underscores for what it does not like in names.
      serialNumber = unsafe filled(attribute(usb, "serial")) ?? serialNumber
      product = unsafe filled(attribute(usb, "product")) ?? product
      path = unsafe path ?? string(udev_device_get_sysname(usb)).map { "usb-" + $0 }
    }
    if let function = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_interface") {
      interface = unsafe attribute(function, "bInterfaceNumber").flatMap { UInt8($0, radix: 16) } ?? interface
      driver = unsafe string(udev_device_get_driver(function)) ?? driver
    }
    isConsole = unsafe attribute(device, "console") == "Y"
  }

  /// The facts of a device that is no longer there. Its folder in /sys has gone, and a look-up of its parents would find
  /// the hub or the controller that it was plugged into: the message's own properties are all that may be asked.
  fileprivate init?(removed device: OpaquePointer) { unsafe self.init(properties: device) }

  private init?(properties device: OpaquePointer) {
    guard let node = unsafe string(udev_device_get_devnode(device)),
      let subsystem = unsafe string(udev_device_get_subsystem(device)).flatMap(ReceiverPort.Subsystem.init)
    else { return nil }
    self.init(node: node, subsystem: subsystem)
    devicePath = unsafe string(udev_device_get_devpath(device))
    // ID_SERIAL of a serial line that is on another bus (a PCI card, a Bluetooth channel) means other things.
    if unsafe property(device, "ID_BUS") == "usb" {
      vendorID = unsafe identifier(property(device, "ID_VENDOR_ID"))
      productID = unsafe identifier(property(device, "ID_MODEL_ID"))
      serialNumber = unsafe filled(property(device, "ID_SERIAL_SHORT"))
      product = unsafe filled(property(device, "ID_MODEL"))
      interface = unsafe property(device, "ID_USB_INTERFACE_NUM").flatMap { UInt8($0, radix: 16) }
      interfaceClasses = unsafe classes(property(device, "ID_USB_INTERFACES"))
      driver = unsafe property(device, "ID_USB_DRIVER")
    }
    path = unsafe property(device, "ID_PATH")
    links = unsafe linkNames(device)
    isModemPort = unsafe hasProperty(device, prefix: "ID_MM_PORT_TYPE_")
  }
}

private func string(_ text: UnsafePointer<CChar>?) -> String? {
  guard let text = unsafe text else { return nil }
  return unsafe String(cString: text)
}

private func property(_ device: OpaquePointer, _ name: String) -> String? {
  unsafe string(udev_device_get_property_value(device, name))
}

private func attribute(_ device: OpaquePointer, _ name: String) -> String? {
  unsafe string(udev_device_get_sysattr_value(device, name))
}

private func identifier(_ digits: String?) -> UInt16? { digits.flatMap { UInt16($0, radix: 16) } }

/// `:020201:0a0000:`.
private func classes(_ list: String?) -> [UInt32] {
  (list ?? "").split(separator: ":").compactMap { UInt32($0, radix: 16) }
}

/// Devices without a serial number or a name sometimes give an empty one.
private func filled(_ text: String?) -> String? {
  guard let text, text.contains(where: { $0 != " " }) else { return nil }
  return text
}

private func linkNames(_ device: OpaquePointer) -> [String] {
  unsafe names(udev_device_get_devlinks_list_entry(device))
}

private func hasProperty(_ device: OpaquePointer, prefix: String) -> Bool {
  unsafe names(udev_device_get_properties_list_entry(device)).contains { $0.hasPrefix(prefix) }
}

private func names(_ list: OpaquePointer?) -> [String] {
  var names: [String] = []
  var entry = unsafe list
  while let current = unsafe entry {
    if let name = unsafe string(udev_list_entry_get_name(current)) { names.append(name) }
    unsafe entry = udev_list_entry_get_next(current)
  }
  return names
}
