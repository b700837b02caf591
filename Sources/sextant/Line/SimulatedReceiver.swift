import MonotonicTime
import ReceiverSimulator
import SerialPort

/// A simulated receiver on a pseudo-terminal: what it writes takes the same way as a real one's bytes, and what is written
/// to it reaches it at the rate that the program at the other end has set.
final class SimulatedReceiver {
  private var terminal: PseudoTerminal
  private(set) var line: VirtualLine
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// - Parameters:
  ///   - second: the time now, seconds since 1970.
  ///   - now: the same moment on the monotonic clock.
  init(_ model: ReceiverModel, _ scenario: Scenario, seed: UInt64, at second: Int64, now: Instant) throws {
    terminal = try PseudoTerminal()
    line = VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: second, startingAt: now)
  }

  /// The device that a program opens to hear the receiver.
  var path: String { terminal.path }
  /// To be watched for bytes that the program writes.
  var fileDescriptor: Int32 { terminal.fileDescriptor }
  /// When it has something to do.
  var deadline: Instant? { line.deadline }

  /// Takes what was written to it, and writes what is due.
  func wake(at now: Instant) throws {
    // Nobody is told when the rate changes; it matters when bytes go over the line.
    line.hostRate = terminal.baudRate
    try receive(at: now)
    line.advance(to: now)
    let bytes = line.takeReceived()
    // A reader that does not read loses bytes, as from a real line.
    if !bytes.isEmpty { _ = try unsafe terminal.write(bytes.span.bytes) }
  }

  private func receive(at now: Instant) throws {
    while true {
      let result: SerialPort.ReadResult
      do {
        var span = buffer.mutableSpan
        // Called unsafe because some types have invalid bit patterns; bytes have none.
        var bytes = unsafe span.mutableBytes
        result = try terminal.read(into: &bytes)
      }
      guard case .bytes(let count) = result, count > 0 else { return }
      line.send(Array(buffer[..<count]), at: now)
    }
  }
}
