// SPDX-License-Identifier: Apache-2.0

/// A change of a port.
public struct DeviceEvent: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    /// The port is now present.
    case added
    /// The port is still present, with other attributes, links or permissions.
    case changed
    /// The port was removed. It has its last known attributes.
    case removed
  }

  public let change: Change
  public let port: ReceiverPort

  public init(_ change: Change, _ port: ReceiverPort) {
    self.change = change
    self.port = port
  }
}
