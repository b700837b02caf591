// SPDX-License-Identifier: Apache-2.0
import WireBytes

extension ReceiverPort.Likelihood {
  /// Decides on the attributes of a device. The user's list overrides all. A row of the table with a product overrides
  /// the name of the device, the name overrides that it is a bridge, and unknown bridges are recognised from their
  /// driver.
  init(_ attributes: DeviceAttributes, _ list: DeviceList) {
    if let entry = list.entry(for: attributes) {
      self = entry.isReceiver ? .receiver : .other(.excludedByList)
    } else if attributes.isConsole {
      self = .other(.systemConsole)
    } else if attributes.subsystem == .gnss {
      self = .receiver
    } else if let verdict = attributes.known?.verdict, verdict != .bridge {
      self.init(verdict, attributes)
    } else if attributes.isModemPort || attributes.hasModemInterface {
      self = attributes.modemPurpose == .positions ? .receiver : .other(.modem)
    } else if attributes.isNamedAsReceiver {
      self = .receiver
    } else if attributes.known != nil || attributes.driver.map(KnownDevice.bridgeDrivers.contains) == true {
      self = .bridge
    } else {
      self = .other(attributes.vendorID == nil ? .onBoardUART : .unknownUSBDevice)
    }
  }

  private init(_ verdict: KnownVerdict, _ attributes: DeviceAttributes) {
    switch verdict {
    case .receiver: self = .receiver
    // Without an interface number it is treated as the receiver: a false match costs less than a missed receiver.
    case .receiverOnInterface(let number):
      self = (attributes.interface ?? number) == number ? .receiver : .other(.secondaryInterface)
    case .bridge: self = .bridge
    case .modem, .other(.modem): self = attributes.modemPurpose == .positions ? .receiver : .other(.modem)
    case .other(let reason): self = .other(reason)
    }
  }
}

extension ReceiverPort.Reason: CustomStringConvertible {
  /// The rest of a sentence after "it is".
  public var description: String {
    switch self {
    case .onBoardUART: "a UART of the board, which a receiver may be wired to"
    case .unknownUSBDevice: "a USB device of unknown sort"
    case .secondaryInterface: "a secondary port of a board with its receiver on another port"
    case .developmentBoard: "a microcontroller board"
    case .modem: "a mobile-network modem"
    case .knownOther(let sort): sort
    case .systemConsole: "the system's console"
    case .excludedByList: "excluded by the list of devices"
    }
  }
}

extension DeviceAttributes {
  /// Whether the product name is a receiver's: ids can be configured, and boards have the ids of their
  /// bridge.
  fileprivate var isNamedAsReceiver: Bool {
    guard let words = product?.uppercased() else { return false }
    return words.includes("GNSS") || words.includes("GPS")
  }

  /// Whether another function of the device exists in modems only. Receivers are Abstract Control Models (0202) like
  /// most modems, so this class is not conclusive.
  fileprivate var hasModemInterface: Bool {
    // USB-IF, Class Definitions for Communications Devices 1.2, table 4: 08 wireless handset, 09 device management,
    // 0a mobile direct line; Mobile Broadband Interface Model 1.0: 0e.
    interfaceClasses.contains { [0x0208, 0x0209, 0x020a, 0x020e].contains($0 >> 8) }
  }
}
