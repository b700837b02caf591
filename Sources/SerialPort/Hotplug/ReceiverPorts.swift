// SPDX-License-Identifier: Apache-2.0

/// The ports of this machine.
public enum ReceiverPorts {
  /// Returns every serial line with hardware and every node of the kernel's GNSS class, sorted by likelihood:
  /// receivers, bridges, others; within these by node.
  ///
  /// The list is empty in a container without /sys. The corresponding C function is udev_enumerate_scan_devices(3).
  ///
  /// - Parameter list: the user's list, as ``DeviceList/installed()`` reads it.
  public static func enumerate(list: DeviceList = DeviceList()) -> [ReceiverPort] {
    listed(list: list) ?? []
  }

  /// The same as ``enumerate(list:)``; nil if the system lacks descriptors or memory for that.
  package static func listed(list: DeviceList) -> [ReceiverPort]? {
    Udev.deviceAttributes().map { sortedByLikelihood($0.map { ReceiverPort($0, list: list) }) }
  }

  /// Sorts ports in the order of ``enumerate()``.
  package static func sortedByLikelihood(_ ports: [ReceiverPort]) -> [ReceiverPort] {
    ports.sorted { one, other in
      one.rank != other.rank ? one.rank < other.rank : precedes(one.node, other.node)
    }
  }
}

extension ReceiverPort {
  fileprivate var rank: Int {
    switch likelihood {
    // The kernel's class needs no search for the baud rate.
    case .receiver where subsystem == .gnss: 0
    // The engine of a modem is switched on for it: a receiver of its own comes first.
    case .receiver: isInModem ? 3 : 1
    case .bridge: 2
    case .other(.onBoardUART): 4
    case .other(.unknownUSBDevice): 5
    case .other(.systemConsole): 7
    case .other: 6
    }
  }
}

/// The natural order: ttyUSB9 precedes ttyUSB10.
private func precedes(_ one: String, _ other: String) -> Bool {
  let (oneStem, oneNumber) = split(one)
  let (otherStem, otherNumber) = split(other)
  return oneStem != otherStem ? oneStem < otherStem : oneNumber < otherNumber
}

private func split(_ node: String) -> (stem: Substring, number: Int) {
  let digits = node.reversed().prefix { $0.isASCII && $0.isNumber }.count
  return (node.dropLast(digits), Int(node.suffix(digits)) ?? -1)
}
