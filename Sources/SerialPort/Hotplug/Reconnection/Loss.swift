// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// The loss of a connected receiver, with the data to recognise it when it returns.
struct Loss {
  /// The time after which a substitute may be opened if the user's choice allows it.
  static let grace = Milliseconds(3000)

  let at: Instant
  let port: ReceiverPort
  /// The identities of the other ports at the time of the loss. None of these is the receiver at another socket.
  let others: Set<DeviceIdentity>
  /// Their nodes, as long as they are present.
  var otherNodes: Set<String>

  /// How certain it is that a port is the lost receiver. Higher values are better.
  enum DeviceMatch: Int, Comparable {
    case unlike
    /// Another device that the user's choice allows.
    case substitute
    /// The same identity, but present before the loss: a maker with the same serial number in all devices.
    case presentBefore
    /// The same kind of device without a serial number at another socket.
    case moved
    /// The same identity.
    case same
    /// The same identity at the same socket.
    case sameAtSocket

    static func < (one: DeviceMatch, other: DeviceMatch) -> Bool { one.rawValue < other.rawValue }

    /// Whether the port is opened at once.
    var isCertain: Bool { self >= .moved }
  }

  func match(of candidate: ReceiverPort, wanted: ReconnectPolicy.Wanted) -> DeviceMatch {
    if case .path(let path) = wanted, port.attributes.links.contains(path) {
      // A link of udev identifies a device or a socket.
      if candidate.attributes.links.contains(path) {
        return candidate.attributes.path == port.attributes.path ? .sameAtSocket : .same
      }
      if path.includes("/by-path/") { return .unlike }
    }
    let isNew = !otherNodes.contains(candidate.node)
    if port.identity.matches(candidate.attributes) {
      if let socket = port.attributes.path, socket == candidate.attributes.path { return .sameAtSocket }
      return isNew ? .same : .presentBefore
    }
    if isNew, !others.contains(candidate.identity), isMoved(candidate) { return .moved }
    return isAllowedSubstitute(candidate, wanted) ? .substitute : .unlike
  }

  private func isMoved(_ candidate: ReceiverPort) -> Bool {
    guard case .usbPath(_, let interface) = port.identity, case .usbPath(_, interface) = candidate.identity else {
      return false
    }
    return candidate.vendorID == port.vendorID && candidate.productID == port.productID
      && candidate.attributes.product == port.attributes.product
  }

  private func isAllowedSubstitute(_ candidate: ReceiverPort, _ wanted: ReconnectPolicy.Wanted) -> Bool {
    switch wanted {
    case .firstReceiver: candidate.likelihood.isPlausible
    // The named node, unless an implausible device such as a modem has it now.
    case .path(let path): candidate.attributes.isNamed(path) && candidate.likelihood.isPlausible
    }
  }
}
