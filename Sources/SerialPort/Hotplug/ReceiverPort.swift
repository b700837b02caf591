// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A port that a receiver may be connected to.
public struct ReceiverPort: Sendable, Hashable {
  /// The kernel's class of a port.
  public enum Subsystem: String, Sendable, Hashable {
    /// A serial line: `/dev/ttyACM0`, `/dev/ttyUSB0`, `/dev/ttyS0`.
    case tty
    /// The kernel's class of GNSS receivers: `/dev/gnss0`.
    case gnss
  }

  /// The likelihood that a receiver is at the port.
  public enum Likelihood: Sendable, Hashable {
    /// Receiver by USB ids, product name, or the kernel's class.
    case receiver
    /// A UART bridge, to which any device may be connected.
    case bridge
    /// Probably not a receiver, for this reason.
    case other(Reason)

    /// Whether the port may be opened if the user has not named it.
    public var isPlausible: Bool {
      switch self {
      case .receiver, .bridge: true
      case .other: false
      }
    }
  }

  /// The reason why a receiver at the port is unlikely.
  public enum Reason: Sendable, Hashable {
    /// A UART of the board: a receiver may be wired to it, but nothing indicates it.
    case onBoardUART
    /// A USB device that is in no table.
    case unknownUSBDevice
    /// Another port of a board that has its receiver elsewhere.
    case secondaryInterface
    /// A microcontroller board.
    case developmentBoard
    /// A mobile-network modem.
    case modem
    /// A known device of another kind, as the rest of a sentence after "it is".
    case knownOther(String)
    /// The console of the system uses it.
    case systemConsole
    /// The user's list excludes it.
    case excludedByList
  }

  /// The attributes from udev.
  public let attributes: DeviceAttributes
  /// The name from the user's list, otherwise the product name, otherwise the name from the table; nil if there is
  /// none.
  public let name: String?
  /// The identity, which stays the same if the device returns under another node.
  public let identity: DeviceIdentity
  /// The likelihood that a receiver is at the port.
  public let likelihood: Likelihood

  /// Makes a port from its attributes.
  ///
  /// - Parameters:
  ///   - attributes: the attributes from udev.
  ///   - list: the user's list, which overrides the table.
  public init(_ attributes: DeviceAttributes, list: DeviceList = DeviceList()) {
    self.attributes = attributes
    name = list.entry(for: attributes)?.name ?? attributes.product ?? attributes.known?.name
    identity = DeviceIdentity(attributes)
    likelihood = Likelihood(attributes, list)
  }

  /// The device node, such as `/dev/ttyACM0`. It depends on the order in which devices are plugged in.
  public var node: String { attributes.node }
  /// The kernel's class of the port.
  public var subsystem: Subsystem { attributes.subsystem }
  /// Whether the receiver is inside a modem: it sends only while its engine is on, which AT commands or ModemManager
  /// switch.
  public var isInModem: Bool { attributes.modemPurpose == .positions }
  /// The USB vendor id; nil if it is not a USB device.
  public var vendorID: UInt16? { attributes.vendorID }
  /// The USB product id; nil if it is not a USB device.
  public var productID: UInt16? { attributes.productID }
  /// Both ids as `lsusb` prints them, `1546:01a8`; nil if it is not a USB device.
  public var usbIDs: String? {
    guard let vendorID, let productID else { return nil }
    return "\(vendorID.hexadecimalDigits):\(productID.hexadecimalDigits)"
  }
  /// The USB serial number; nil if the device has none. It is not always unique, see ``identity``.
  public var serialNumber: String? { attributes.serialNumber }
}
