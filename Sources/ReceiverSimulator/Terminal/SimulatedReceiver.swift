import EventLoop
import MonotonicTime
import SerialPort

/// A simulated device on a pseudo-terminal: what it writes takes the same way as a real one's bytes, and what is written
/// to it reaches it at the rate that the program at the other end has set. Unplugged, its node is gone; it comes back
/// as another one, under the same link.
public final class SimulatedReceiver {
  /// What became of the node.
  public enum Change: Equatable, Sendable {
    case none
    case unplugged
    case pluggedIn(String)
  }

  /// What is at the far end.
  public var device: any SimulatedDevice
  private var terminal: PseudoTerminal?
  private let link: String
  /// Seconds of the device for each of the computer's.
  private let speed: Double
  private let started: Instant
  private var watched: Int32?
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// - Parameters:
  ///   - link: the name under which the device can be opened.
  ///   - now: the moment at which the device's time begins.
  public init(_ device: any SimulatedDevice, link: String, speed: Double = 1, now: Instant) throws {
    self.device = device
    self.link = link
    self.speed = speed
    started = now
    terminal = try Self.terminal(link, rate: device.hostRate)
  }

  /// The node, as long as it is plugged in.
  public var path: String? { terminal?.path }

  /// When it has something to do.
  public var deadline: Instant? {
    device.deadline.map { due in
      speed == 1 || due <= started
        ? due : started + Milliseconds(seconds: due.seconds(since: started) / speed)
    }
  }

  /// The device's time.
  public func deviceTime(at now: Instant) -> Instant {
    guard speed != 1, now > started else { return now }
    let nanoseconds = Double(now.nanoseconds - started.nanoseconds) * speed
    return Instant(nanoseconds: started.nanoseconds + UInt64(nanoseconds))
  }

  /// Takes what was written to it, and writes what is due. The poller watches its node.
  public func wake(_ poller: inout Poller, token: Poller.Token, at now: Instant) throws -> Change {
    let time = deviceTime(at: now)
    try receive(at: time)
    device.advance(to: time)
    let change = try follow(&poller)
    try watch(&poller, token)
    let bytes = device.takeReceived()
    // A reader that does not read loses bytes, as from a real line.
    if !bytes.isEmpty { _ = try unsafe terminal?.write(bytes.span.bytes) }
    return change
  }

  /// The node goes and comes with the device.
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

  /// Reads what the host has written since the last wake, and then the rate that it has set; no change of it is announced.
  ///
  /// A pseudo-terminal does not keep the rate at which bytes were written, and does not delay a change until they are read, as
  /// a UART does. After a change, which a busy machine lets us see late, bytes may have been sent at the rate before it or at
  /// the one after it: the device gets them at the one that it understands.
  private func receive(at time: Instant) throws {
    var bytes: [UInt8] = []
    while terminal != nil {
      var span = buffer.mutableSpan
      // Called unsafe because some types have invalid bit patterns; bytes have none.
      var piece = unsafe span.mutableBytes
      guard case .bytes(let count)? = try terminal?.read(into: &piece), count > 0 else { break }
      bytes += buffer[..<count]
    }
    let earlier = device.hostRate
    let rate = terminal?.baudRate ?? 0
    if rate > 0, bytes.isEmpty || device.ownRate != earlier { device.hostRate = rate }
    guard !bytes.isEmpty else { return }
    device.send(bytes, at: time)
    if rate > 0 { device.hostRate = rate }
  }
}
