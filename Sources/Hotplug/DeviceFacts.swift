/// What udev knows about a node: the input of every decision of this module, and all of it.
struct DeviceFacts: Sendable, Equatable {
  var node: String
  var subsystem: ReceiverPort.Subsystem
  var vendorID: UInt16?
  var productID: UInt16?
  var serialNumber: String?
  /// The device's own name, as far as it has one.
  var product: String?
  /// bInterfaceNumber: which function of a USB device with several.
  var interface: UInt8?
  /// The kernel driver of the USB interface.
  var driver: String?
  /// ID_PATH: the socket.
  var path: String?
  /// The links that udev made to the node.
  var links: [String] = []
  var isConsole = false
}

extension ReceiverPort {
  /// What is made of the facts.
  init(_ facts: DeviceFacts) {
    node = facts.node
    subsystem = facts.subsystem
    vendorID = facts.vendorID
    productID = facts.productID
    serialNumber = facts.serialNumber
    name = facts.product ?? facts.known?.name
    identity = DeviceIdentity(facts)
    likelihood = Likelihood(facts)
  }
}

extension DeviceFacts {
  /// The row of the table that fits.
  var known: KnownDevice? {
    guard let vendorID, let productID else { return nil }
    return KnownDevice.row(vendorID: vendorID, productID: productID)
  }

  /// Whether the device's own name says what it is: ids can be configured, and boards come with ids of their bridge.
  fileprivate var isNamedAsReceiver: Bool {
    guard let words = product?.uppercased() else { return false }
    return words.contains("GNSS") || words.contains("GPS")
  }
}

extension ReceiverPort.Likelihood {
  /// Facts in, likelihood out: what a table row says of a product outweighs the device's name, the name outweighs that
  /// it is a bridge, and a bridge is also known by its driver.
  init(_ facts: DeviceFacts) {
    if facts.isConsole {
      self = .other(.systemConsole)
    } else if facts.subsystem == .gnss {
      self = .receiver
    } else if let verdict = facts.known?.verdict, verdict != .bridge {
      self.init(verdict, interface: facts.interface)
    } else if facts.isNamedAsReceiver {
      self = .receiver
    } else if facts.known != nil || facts.driver.map(KnownDevice.bridgeDrivers.contains) == true {
      self = .bridge
    } else {
      self = .other(facts.vendorID == nil ? .onBoardUART : .unknownUSBDevice)
    }
  }

  private init(_ verdict: KnownVerdict, interface: UInt8?) {
    switch verdict {
    case .receiver: self = .receiver
    // Without a number it cannot be told apart, and asking the wrong one costs less than missing the right one.
    case .receiverOnInterface(let number):
      self = (interface ?? number) == number ? .receiver : .other(.secondaryInterface)
    case .bridge: self = .bridge
    case .other(let reason): self = .other(reason)
    }
  }
}

extension DeviceIdentity {
  /// The best that there is: the device itself, else the socket, else a link, else the node.
  init(_ facts: DeviceFacts) {
    let interface = facts.interface ?? 0
    if let vendorID = facts.vendorID, let productID = facts.productID, let serialNumber = facts.serialNumber,
      !KnownDevice.isPlaceholder(serialNumber: serialNumber)
    {
      self = .serialNumber(
        vendorID: vendorID, productID: productID, serialNumber: serialNumber, interface: interface)
    } else if facts.vendorID != nil, let path = facts.path {
      self = .usbPath(path, interface: interface)
    } else if let link = bestLink(among: facts.links) {
      self = .persistentLink(link)
    } else {
      self = .node(facts.node)
    }
  }
}

/// The link that says most: by-id names the device, by-path its socket. The order of udev's list means nothing.
private func bestLink(among links: [String]) -> String? {
  let sorted = links.sorted()
  return sorted.first { $0.contains("/by-id/") } ?? sorted.first { $0.contains("/by-path/") }
}
