/// A port that a receiver may be connected to.
public struct ReceiverPort: Sendable, Hashable {
  /// Where the port comes from.
  public enum Subsystem: String, Sendable, Hashable {
    /// A serial line: `/dev/ttyACM0`, `/dev/ttyUSB0`, `/dev/ttyS0`.
    case tty
    /// The kernel's class of GNSS receivers: `/dev/gnss0`.
    case gnss
  }

  /// How likely a receiver is behind the port.
  public enum Likelihood: Sendable, Hashable {
    /// It says so itself: a receiver's USB ids or product name, or the kernel's class for receivers.
    case receiver
    /// A UART bridge: whatever was wired to it.
    case bridge
    /// Not by what is known.
    case other(Reason)
  }

  /// Why a port is not expected to have a receiver.
  public enum Reason: Sendable, Hashable, CustomStringConvertible {
    /// A UART of the board itself: a receiver may be wired to it, and nothing tells.
    case onBoardUART
    /// A USB device that no table knows.
    case unknownUSBDevice
    /// Another port of a board that has its receiver elsewhere.
    case secondaryInterface
    /// A microcontroller board.
    case developmentBoard
    /// A mobile-network modem.
    case modem
    /// A known device of another sort, in words that follow "it is".
    case knownOther(String)
    /// The system's console runs on it.
    case systemConsole

    /// Words that follow "it is".
    public var description: String {
      switch self {
      case .onBoardUART: "a UART of the board, which a receiver may be wired to"
      case .unknownUSBDevice: "a USB device of unknown sort"
      case .secondaryInterface: "a secondary port of a board whose receiver is on another"
      case .developmentBoard: "a microcontroller board"
      case .modem: "a mobile-network modem"
      case .knownOther(let sort): sort
      case .systemConsole: "the system's console"
      }
    }
  }

  /// The device node, such as `/dev/ttyACM0`. It changes when devices are plugged in another order.
  public let node: String
  /// Where the port comes from.
  public let subsystem: Subsystem
  /// The USB vendor id; nil if it is no USB device.
  public let vendorID: UInt16?
  /// The USB product id; nil if it is no USB device.
  public let productID: UInt16?
  /// The USB serial number as the device gives it; nil where it has none. Not always unique: see ``identity``.
  public let serialNumber: String?
  /// What the device calls itself, or what it is known as; nil if neither is known.
  public let name: String?
  /// What stays the same when the device comes back under another node.
  public let identity: DeviceIdentity
  /// How likely a receiver is behind the port.
  public let likelihood: Likelihood
}

/// What stays the same when a device is unplugged and comes back, perhaps under another node name.
///
/// Compare for equality, or keep ``description``: equal texts are equal identities.
public enum DeviceIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The device itself, at whatever socket: USB ids, serial number and USB interface number.
  case serialNumber(vendorID: UInt16, productID: UInt16, serialNumber: String, interface: UInt8)
  /// Whatever is plugged into this socket: udev's ID_PATH and the USB interface number.
  case usbPath(String, interface: UInt8)
  /// A link of udev's that outlives the node: /dev/serial/by-id or by-path, /dev/gnss.
  case persistentLink(String)
  /// Nothing better is known than the node: it belongs to the board.
  case node(String)

  /// One word without spaces, such as `usb:1546:01a8:RIG0001:0`.
  public var description: String {
    switch self {
    case .serialNumber(let vendorID, let productID, let serialNumber, let interface):
      "usb:\(hexadecimal(vendorID)):\(hexadecimal(productID)):\(serialNumber):\(interface)"
    case .usbPath(let path, let interface): "path:\(path):\(interface)"
    case .persistentLink(let link): "link:\(link)"
    case .node(let node): "node:\(node)"
    }
  }
}

/// A USB id as it is usually written: four hexadecimal digits.
func hexadecimal(_ identifier: UInt16) -> String {
  let digits = String(identifier, radix: 16)
  return String(repeating: "0", count: 4 - digits.count) + digits
}
