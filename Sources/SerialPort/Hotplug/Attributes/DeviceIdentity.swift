// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The identity of a device, which stays the same if the device is unplugged and returns under another node.
///
/// Compare identities for equality, or store ``description``: equal texts are equal identities.
public enum DeviceIdentity: Sendable, Hashable, CustomStringConvertible {
  /// A single device at any socket: USB ids, serial number and USB interface number.
  case serialNumber(vendorID: UInt16, productID: UInt16, serialNumber: String, interface: UInt8)
  /// Any device at one socket: udev's ID_PATH and the USB interface number.
  case usbPath(String, interface: UInt8)
  /// A link of udev that outlives the node: /dev/serial/by-id or by-path, /dev/gnss.
  case persistentLink(String)
  /// The node, for a device of the board without better attributes.
  case node(String)

  /// The most specific identity: the device, otherwise the socket, a link, or the node.
  public init(_ attributes: DeviceAttributes) {
    let interface = attributes.interface ?? 0
    if let vendorID = attributes.vendorID, let productID = attributes.productID,
      let serialNumber = attributes.serialNumber,
      !KnownDevice.isPlaceholder(serialNumber: serialNumber)
    {
      self = .serialNumber(
        vendorID: vendorID, productID: productID, serialNumber: serialNumber, interface: interface)
    } else if attributes.vendorID != nil, let path = attributes.path {
      self = .usbPath(path, interface: interface)
    } else if let link = bestLink(among: attributes.links) {
      self = .persistentLink(link)
    } else {
      self = .node(attributes.node)
    }
  }

  /// Whether the attributes belong to this device.
  public func matches(_ attributes: DeviceAttributes) -> Bool {
    // udev may have added a better link since.
    if case .persistentLink(let link) = self { return attributes.links.contains(link) }
    return self == DeviceIdentity(attributes)
  }

  /// One word without spaces, such as `usb:1546:01a8:RIG0001:0`.
  public var description: String {
    switch self {
    case .serialNumber(let vendorID, let productID, let serialNumber, let interface):
      "usb:\(vendorID.hexadecimalDigits):\(productID.hexadecimalDigits):\(withoutSpaces(serialNumber)):\(interface)"
    case .usbPath(let path, let interface): "path:\(path):\(interface)"
    case .persistentLink(let link): "link:\(link)"
    case .node(let node): "node:\(node)"
    }
  }
}

/// The best link: by-id names the device, by-path its socket. The order of udev's list has no meaning.
private func bestLink(among links: [String]) -> String? {
  let sorted = links.sorted()
  return sorted.first { $0.includes("/by-id/") } ?? sorted.first { $0.includes("/by-path/") }
}

private func withoutSpaces(_ text: String) -> String { String(text.map { $0 == " " ? "_" : $0 }) }
