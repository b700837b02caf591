// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A device at the far end of a line, with its own time: a simulated receiver or a recording.
public protocol SimulatedDevice: ~Copyable {
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

extension SimulatedDevice where Self: ~Copyable {
  public var ownRate: UInt32? { nil }

  /// Sends the bytes that a program has written to a pseudo-terminal, and then sets the rate that it has set there.
  ///
  /// A pseudo-terminal does not store the rate at which bytes were written, and does not delay a change until they
  /// are read, as a UART does. A busy machine detects a change late; the bytes may have been sent at the rate before
  /// or after it. The device receives them at the rate that it can read.
  ///
  /// - Parameters:
  ///   - written: The bytes since the last call.
  ///   - rate: The rate of the terminal, baud; 0 for an unknown one.
  ///   - now: The device's time.
  public mutating func receive(_ written: [UInt8], fromTerminalAt rate: UInt32, at now: Instant) {
    if rate > 0, written.isEmpty || ownRate != hostRate { hostRate = rate }
    guard !written.isEmpty else { return }
    send(written, at: now)
    if rate > 0 { hostRate = rate }
  }
}

extension VirtualLine: SimulatedDevice {
  public var ownRate: UInt32? { receiver.baudRate }
}
