// SPDX-License-Identifier: Apache-2.0

/// The ports of a modem with a receiver: the one that sends NMEA, and those that accept AT commands.
package struct ModemPort: Sendable, Equatable {
  /// The purpose of one port.
  enum Purpose: Sendable, Hashable { case positions, commands, secondaryCommands }

  /// The properties in which ModemManager's rules state the purpose (mm-tags.h).
  static let tags: [(name: String, purpose: Purpose)] = [
    ("ID_MM_PORT_TYPE_GPS", .positions), ("ID_MM_PORT_TYPE_AT_PRIMARY", .commands),
    ("ID_MM_PORT_TYPE_AT_SECONDARY", .secondaryCommands),
  ]

  /// The maker of the modem, whose AT commands its receiver needs.
  package enum Maker: Sendable, Hashable {
    case quectel, simCom
  }

  /// The node that sends NMEA.
  package let node: String
  /// The identity of the port that sends NMEA, as text.
  package let identity: String
  /// The nodes that accept AT commands, the preferred one first.
  package let commandNodes: [String]
  /// Nil if the AT commands for the receiver are not known.
  package let maker: Maker?

  /// Finds the modem of a port that sends NMEA; nil if the port is not part of a modem.
  ///
  /// - Parameters:
  ///   - isWanted: whether this is the port.
  ///   - ports: all ports of this machine.
  package init?(_ ports: [ReceiverPort], where isWanted: (ReceiverPort) -> Bool) {
    guard let port = ports.first(where: { $0.isInModem && isWanted($0) }) else { return nil }
    node = port.node
    identity = port.identity.description
    let others = ports.filter { $0.attributes.usbFolder != nil && $0.attributes.usbFolder == port.attributes.usbFolder }
    commandNodes = [Purpose.commands, .secondaryCommands].flatMap { purpose in
      others.filter { $0.attributes.modemPurpose == purpose }.map(\.node)
    }
    maker =
      switch port.vendorID {
      case 0x2c7c: .quectel
      case 0x1e0e: .simCom
      default: nil
      }
  }

  /// Finds the modem of a named port among the ports of this machine.
  package init?(at path: String) {
    self.init(ReceiverPorts.enumerate()) { $0.attributes.isNamed(path) }
  }

  /// Finds the modem of a port with this identity among the ports of this machine.
  package init?(identity: String) {
    self.init(ReceiverPorts.enumerate()) { $0.identity.description == identity }
  }
}

extension DeviceAttributes {
  /// The purpose of a port of a modem: by ModemManager's rule, else by its USB interface. Nil for all other devices,
  /// also for receivers that ModemManager's rules describe.
  var modemPurpose: ModemPort.Purpose? {
    switch known?.verdict {
    case .modem(let positions, let commands):
      if let taggedPurpose { return taggedPurpose }
      return interface == positions ? .positions : interface == commands ? .commands : nil
    case .other(.modem), nil: return taggedPurpose
    case .receiver, .receiverOnInterface, .bridge, .other: return nil
    }
  }

  /// The folder in /sys of the USB device that the port is part of; nil for other devices.
  fileprivate var usbFolder: Substring? {
    guard vendorID != nil, let devicePath else { return nil }
    // A function of a USB device is named 1-1.2:1.0.
    let folders = devicePath.split(separator: "/", omittingEmptySubsequences: false)
    guard let function = folders.lastIndex(where: { $0.contains(":") }) else { return nil }
    return devicePath[..<folders[function].startIndex]
  }
}
