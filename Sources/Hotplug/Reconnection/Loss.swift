import MonotonicTime

/// A receiver that was served and went away, and by what it is known when it comes back.
struct Loss {
  /// After this another device may stand in where the user's wish allows it.
  static let grace = Milliseconds(3000)

  let at: Instant
  let port: ReceiverPort
  /// The identities of the other ports that were there when it went: none of them is ours at another socket.
  let others: Set<DeviceIdentity>
  /// Their nodes, for as long as they have not gone themselves.
  var otherNodes: Set<String>

  /// How sure it is that a port is the receiver that went away. The greater, the better.
  enum DeviceMatch: Int, Comparable {
    case unlike
    /// Something else, that the user's wish allows to stand in.
    case sameSocket
    /// The same identity, but it was there all the time: a device of a maker that gives all the same serial number.
    case sameModel
    /// Another socket, and the same sort of device, which has no serial number.
    case moved
    /// The same identity.
    case same
    /// The same identity at the same socket.
    case sameAtSocket

    static func < (one: DeviceMatch, other: DeviceMatch) -> Bool { one.rawValue < other.rawValue }

    /// Whether it is sure enough to be opened at once.
    var isCertain: Bool { self >= .moved }
  }

  func match(of candidate: ReceiverPort, wanted: ReconnectPolicy.Wanted) -> DeviceMatch {
    if case .path(let path) = wanted, port.attributes.links.contains(path) {
      // A link of udev's says which device is meant, or which socket.
      if candidate.attributes.links.contains(path) {
        return candidate.attributes.path == port.attributes.path ? .sameAtSocket : .same
      }
      if path.contains("/by-path/") { return .unlike }
    }
    let isNew = !otherNodes.contains(candidate.node)
    if port.identity.matches(candidate.attributes) {
      if let socket = port.attributes.path, socket == candidate.attributes.path { return .sameAtSocket }
      return isNew ? .same : .sameModel
    }
    if isNew, !others.contains(candidate.identity), isMoved(candidate) { return .moved }
    return mayStandIn(candidate, wanted) ? .sameSocket : .unlike
  }

  private func isMoved(_ candidate: ReceiverPort) -> Bool {
    guard case .usbPath(_, let interface) = port.identity, case .usbPath(_, interface) = candidate.identity else {
      return false
    }
    return candidate.vendorID == port.vendorID && candidate.productID == port.productID
      && candidate.attributes.product == port.attributes.product
  }

  private func mayStandIn(_ candidate: ReceiverPort, _ wanted: ReconnectPolicy.Wanted) -> Bool {
    switch wanted {
    case .firstReceiver: candidate.likelihood.isPlausible
    // The node that the user named, if no modem has taken it meanwhile.
    case .path(let path): candidate.attributes.isNamed(path) && candidate.likelihood.isPlausible
    }
  }
}
