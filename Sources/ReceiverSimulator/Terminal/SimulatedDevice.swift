// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A device at the far end of a line, with its own time: a simulated receiver or a recording.
public protocol SimulatedDevice {
  /// The rate of the host's side, baud.
  var hostRate: UInt32 { get set }
  /// The rate at which the device reads, baud; nil for any rate.
  var ownRate: UInt32? { get }
  /// Whether the device is plugged in.
  var isPresent: Bool { get }
  /// The time of the next internal event or arrival.
  var deadline: Instant? { get }
  /// Sends bytes from the host.
  mutating func send(_ bytes: [UInt8], at now: Instant)
  /// Advances the time.
  mutating func advance(to now: Instant)
  /// Takes the bytes that have arrived at the host.
  mutating func takeReceived() -> [UInt8]
}

extension SimulatedDevice {
  public var ownRate: UInt32? { nil }
}

extension VirtualLine: SimulatedDevice {
  public var ownRate: UInt32? { receiver.baudRate }
}
