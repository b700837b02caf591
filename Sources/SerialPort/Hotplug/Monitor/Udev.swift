// SPDX-License-Identifier: Apache-2.0

// All calls of libudev and their `unsafe` are in this file.
//
// Objects of libudev are reference counted. This file owns them between `new` and `unref`; a parent is borrowed from
// its child. Strings belong to the device and are copied at once.
import CUdev
import Glibc

enum Udev {
  /// Returns the attributes of every serial line with hardware and of every node of class gnss; nil if the system lacks
  /// descriptors or memory for that.
  static func deviceAttributes() -> [DeviceAttributes]? {
    guard let udev = unsafe udev_new() else { return nil }
    defer { _ = unsafe udev_unref(udev) }
    guard let search = unsafe udev_enumerate_new(udev) else { return nil }
    defer { _ = unsafe udev_enumerate_unref(search) }
    for subsystem in subsystems { unsafe udev_enumerate_add_match_subsystem(search, subsystem) }
    // Without /sys the list is empty.
    if lacksResource(-(unsafe udev_enumerate_scan_devices(search))) { return nil }

    var found: [DeviceAttributes] = []
    var entry = unsafe udev_enumerate_get_list_entry(search)
    while let current = unsafe entry {
      if let device = unsafe udev_device_new_from_syspath(udev, udev_list_entry_get_name(current)) {
        if let attributes = unsafe DeviceAttributes(device) { found.append(attributes) }
        _ = unsafe udev_device_unref(device)
      } else if lacksResource(errno) {
        // The device exists, and would be missing from the list.
        return nil
      }
      unsafe entry = udev_list_entry_get_next(current)
    }
    return found
  }

  private static func lacksResource(_ error: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(error) }

  static let subsystems = ["tty", "gnss"]

  /// A message of a ``Subscription``.
  enum Message: Equatable {
    /// A device changed. After a removal the attributes come only from the message.
    case device(DeviceEvent.Change, DeviceAttributes)
    /// The device cannot be a receiver.
    case irrelevant
    /// Messages were lost because the buffer of the socket was full.
    case overrun
  }

  /// A udev_monitor: messages about devices.
  ///
  /// Safe: the value owns both objects and does not return them.
  @safe
  struct Subscription: ~Copyable {
    /// The sender of the messages: udevd after it has set up the device, or the kernel before it.
    enum Sender: String { case udev, kernel }

    private let udev: OpaquePointer
    private let monitor: OpaquePointer

    /// Subscribes; nil if the system does not permit it. udev_monitor_new_from_netlink(3).
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

    /// The descriptor, readable when there is a message. It is closed with the subscription.
    var descriptor: Int32 { unsafe udev_monitor_get_fd(monitor) }

    /// The next message; nil if there is none. udev_monitor_receive_device(3).
    func next() -> Message? {
      // libudev does not set errno for a filtered message.
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
  /// Reads the attributes of a device that may be a receiver; nil for a virtual terminal, and for a UART without
  /// hardware.
  fileprivate init?(_ device: OpaquePointer) {
    // tty0, ptmx, console and similar nodes have no parent. Type 0 of the serial core is PORT_UNKNOWN: a UART that the
    // board does not have.
    guard unsafe udev_device_get_parent(device) != nil, unsafe attribute(device, "type") != "0",
      let own = unsafe DeviceAttributes(properties: device)
    else { return nil }
    self = own

    if let usb = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device") {
      vendorID = unsafe vendorID ?? identifier(attribute(usb, "idVendor"))
      productID = unsafe productID ?? identifier(attribute(usb, "idProduct"))
      // udev replaces some characters of names with underscores.
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

  /// Reads the attributes of a removed device. Its folder in /sys is gone, and its parents would be the hub or the
  /// controller, so that only the properties of the message are valid.
  fileprivate init?(removed device: OpaquePointer) { unsafe self.init(properties: device) }

  private init?(properties device: OpaquePointer) {
    guard let node = unsafe string(udev_device_get_devnode(device)),
      let subsystem = unsafe string(udev_device_get_subsystem(device)).flatMap(ReceiverPort.Subsystem.init)
    else { return nil }
    self.init(node: node, subsystem: subsystem)
    devicePath = unsafe string(udev_device_get_devpath(device))
    // ID_SERIAL of a serial line on another bus (a PCI card, a Bluetooth channel) has other meanings.
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
    if isModemPort {
      taggedPurpose = ModemPort.tags.first { unsafe property(device, $0.name) == "1" }?.purpose
    }
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

/// Reads `:020201:0a0000:`.
private func classes(_ list: String?) -> [UInt32] {
  (list ?? "").split(separator: ":").compactMap { UInt32($0, radix: 16) }
}

/// Devices without a serial number or a name may report an empty one.
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
