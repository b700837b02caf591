// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import ReceiverSimulator
import SerialPort

/// A simulated device on a pseudo-terminal. Its output takes the same way as the bytes of a real device, and bytes
/// that a program writes reach it at the rate that the program has set. Unplugging removes the node; the device
/// returns with another node under the same link.
final class SimulatedReceiver {
  /// A change of the node.
  enum Change: Equatable, Sendable {
    case none
    case unplugged
    case pluggedIn(String)
  }

  /// The device at the far end.
  var device: any SimulatedDevice
  private var terminal: PseudoTerminal?
  private let link: String
  /// Seconds of the device for each second of the computer.
  private let speed: Double
  private let started: Instant
  private var watched: Int32?

  /// - Parameters:
  ///   - device: The receiver or recording.
  ///   - link: The path under which the device can be opened.
  ///   - speed: Seconds of the device per second of the host.
  ///   - now: The instant at which the device's time begins.
  init(_ device: any SimulatedDevice, link: String, speed: Double = 1, now: Instant) throws {
    self.device = device
    self.link = link
    self.speed = speed
    started = now
    terminal = try Self.terminal(link, rate: device.hostRate)
  }

  /// The node while the device is plugged in.
  var path: String? { terminal?.path }

  /// The time of the next work.
  var deadline: Instant? {
    device.deadline.map { due in
      speed == 1 || due <= started
        ? due : started + Milliseconds(seconds: due.seconds(since: started) / speed)
    }
  }

  /// The device's time.
  func deviceTime(at now: Instant) -> Instant {
    guard speed != 1, now > started else { return now }
    return started.moved(by: now.seconds(since: started) * speed)
  }

  /// Reads the bytes that were written to the device, and writes the output that is due. The poller watches the node.
  func wake(_ poller: inout Poller, token: Poller.Token, at now: Instant) throws -> Change {
    let time = deviceTime(at: now)
    if let written = try terminal?.takeWritten() {
      device.receive(written, fromTerminalAt: terminal?.baudRate ?? 0, at: time)
    }
    device.advance(to: time)
    let change = try follow(&poller)
    try watch(&poller, token)
    let bytes = device.takeReceived()
    // A program that does not read loses bytes, as on a real line.
    if !bytes.isEmpty { _ = try unsafe terminal?.write(bytes.span.bytes) }
    return change
  }

  /// Creates or removes the node with the device.
  private func follow(_ poller: inout Poller) throws -> Change {
    switch (device.isPresent, terminal == nil) {
    case (false, false):
      if let watched { poller.remove(watched) }
      watched = nil
      terminal = nil
      return .unplugged
    case (true, true):
      terminal = try Self.terminal(link, rate: device.hostRate)
      return .pluggedIn(path ?? "")
    default: return .none
    }
  }

  private func watch(_ poller: inout Poller, _ token: Poller.Token) throws {
    guard watched == nil, let descriptor = terminal?.fileDescriptor else { return }
    try poller.add(descriptor, token: token)
    watched = descriptor
  }

  private static func terminal(_ link: String, rate: UInt32) throws -> PseudoTerminal {
    var terminal = try PseudoTerminal()
    try terminal.setBaudRate(rate)
    if !link.isEmpty { try terminal.link(at: link) }
    return terminal
  }
}
