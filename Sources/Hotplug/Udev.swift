// The room of libudev: every call into it, and with it every `unsafe` of this module, stands here.
//
// libudev's objects are counted references that this file owns between `new` and `unref`; a parent is borrowed from its
// child. Strings belong to the device and are copied at once.
import CUdev
import Glibc

enum Udev {
  /// What is known about every serial line with hardware behind it and every node of class gnss.
  static func deviceFacts() -> [DeviceFacts] {
    guard let udev = unsafe udev_new() else { return [] }
    defer { _ = unsafe udev_unref(udev) }
    guard let search = unsafe udev_enumerate_new(udev) else { return [] }
    defer { _ = unsafe udev_enumerate_unref(search) }
    unsafe udev_enumerate_add_match_subsystem(search, "tty")
    unsafe udev_enumerate_add_match_subsystem(search, "gnss")
    unsafe udev_enumerate_scan_devices(search)

    var found: [DeviceFacts] = []
    var entry = unsafe udev_enumerate_get_list_entry(search)
    while let current = unsafe entry {
      if let device = unsafe udev_device_new_from_syspath(udev, udev_list_entry_get_name(current)) {
        if let facts = unsafe DeviceFacts(device) { found.append(facts) }
        _ = unsafe udev_device_unref(device)
      }
      unsafe entry = udev_list_entry_get_next(current)
    }
    return found
  }
}

extension DeviceFacts {
  /// The facts of a device that could have a receiver; nil for a virtual terminal, and for a UART without hardware.
  fileprivate init?(_ device: OpaquePointer) {
    guard let node = unsafe string(udev_device_get_devnode(device)),
      let subsystem = unsafe string(udev_device_get_subsystem(device)).flatMap(ReceiverPort.Subsystem.init),
      // tty0, ptmx, console and the like hang on no bus.
      unsafe udev_device_get_parent(device) != nil,
      // Serial core, PORT_UNKNOWN: a place for a UART that the board does not have.
      unsafe attribute(device, "type") != "0"
    else { return nil }

    let usb = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device")
    let function = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_interface")
    self.init(node: node, subsystem: subsystem)
    if let usb = unsafe usb {
      let vendor = unsafe property(device, "ID_VENDOR_ID") ?? attribute(usb, "idVendor")
      let model = unsafe property(device, "ID_MODEL_ID") ?? attribute(usb, "idProduct")
      vendorID = vendor.flatMap { UInt16($0, radix: 16) }
      productID = model.flatMap { UInt16($0, radix: 16) }
      serialNumber = unsafe filled(attribute(usb, "serial") ?? property(device, "ID_SERIAL_SHORT"))
      product = unsafe filled(attribute(usb, "product") ?? property(device, "ID_MODEL"))
      path = unsafe property(device, "ID_PATH") ?? string(udev_device_get_sysname(usb)).map { "usb-" + $0 }
    }
    if let function = unsafe function {
      interface = unsafe attribute(function, "bInterfaceNumber").flatMap { UInt8($0, radix: 16) }
      driver = unsafe string(udev_device_get_driver(function))
    }
    links = unsafe linkNames(device)
    isConsole = unsafe attribute(device, "console") == "Y"
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

/// Devices without a serial number or a name sometimes give an empty one.
private func filled(_ text: String?) -> String? {
  guard let text, text.contains(where: { $0 != " " }) else { return nil }
  return text
}

private func linkNames(_ device: OpaquePointer) -> [String] {
  var names: [String] = []
  var entry = unsafe udev_device_get_devlinks_list_entry(device)
  while let current = unsafe entry {
    if let name = unsafe string(udev_list_entry_get_name(current)) { names.append(name) }
    unsafe entry = udev_list_entry_get_next(current)
  }
  return names
}
