import MonotonicTime

/// Something at the far end of a line, in a time of its own: a simulated receiver or a recording.
public protocol SimulatedDevice {
  /// The rate that the host has set, baud.
  var hostRate: UInt32 { get set }
  /// The rate at which it understands the host, baud; nil if any rate will do.
  var ownRate: UInt32? { get }
  /// False while it is unplugged.
  var isPresent: Bool { get }
  /// When something happens or arrives by itself.
  var deadline: Instant? { get }
  /// The host writes.
  mutating func send(_ bytes: [UInt8], at now: Instant)
  /// Lets time pass.
  mutating func advance(to now: Instant)
  /// What has arrived at the host.
  mutating func takeReceived() -> [UInt8]
}

extension SimulatedDevice {
  public var ownRate: UInt32? { nil }
}

extension VirtualLine: SimulatedDevice {
  public var ownRate: UInt32? { receiver.baudRate }
}
