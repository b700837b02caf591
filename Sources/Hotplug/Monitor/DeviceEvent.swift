/// What happened to a port.
public struct DeviceEvent: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    /// It is there now.
    case added
    /// It is still there, and more or other things are known of it: links, permissions.
    case changed
    /// It is gone. The port is as it was known last.
    case removed
  }

  public let change: Change
  public let port: ReceiverPort

  public init(_ change: Change, _ port: ReceiverPort) {
    self.change = change
    self.port = port
  }
}
