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

    /// Whether the port may be opened without being named by the user.
    public var isPlausible: Bool {
      switch self {
      case .receiver, .bridge: true
      case .other: false
      }
    }
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
    /// The user's own list says so.
    case excludedByList

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
      case .excludedByList: "excluded by the list of devices"
      }
    }
  }

  /// What udev knows of it.
  public let attributes: DeviceAttributes
  /// What the user calls it, what it calls itself, or what it is known as; nil if none is known.
  public let name: String?
  /// What stays the same when the device comes back under another node.
  public let identity: DeviceIdentity
  /// How likely a receiver is behind the port.
  public let likelihood: Likelihood

  /// What is made of the facts.
  ///
  /// - Parameters:
  ///   - facts: what udev knows.
  ///   - list: the user's own list, which outweighs what is known.
  public init(_ attributes: DeviceAttributes, list: DeviceList = DeviceList()) {
    self.attributes = attributes
    name = list.entry(for: attributes)?.name ?? attributes.product ?? attributes.known?.name
    identity = DeviceIdentity(attributes)
    likelihood = Likelihood(attributes, list)
  }

  /// The device node, such as `/dev/ttyACM0`. It changes when devices are plugged in another order.
  public var node: String { attributes.node }
  /// Where the port comes from.
  public var subsystem: Subsystem { attributes.subsystem }
  /// The USB vendor id; nil if it is no USB device.
  public var vendorID: UInt16? { attributes.vendorID }
  /// The USB product id; nil if it is no USB device.
  public var productID: UInt16? { attributes.productID }
  /// Both ids as `lsusb` prints them, `1546:01a8`; nil if it is no USB device.
  public var usbIDs: String? {
    guard let vendorID, let productID else { return nil }
    return "\(hexadecimal(vendorID)):\(hexadecimal(productID))"
  }
  /// The USB serial number as the device gives it; nil where it has none. Not always unique: see ``identity``.
  public var serialNumber: String? { attributes.serialNumber }
}
