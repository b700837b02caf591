import MonotonicTime
import Receiver
import ReceiverSimulator
import SerialPort

/// The built-in simulator as a receiver on a pseudo-terminal: what it writes takes the same way as a real one's bytes.
final class SimulatedReceiver {
  private let terminal: PseudoTerminal
  private let receiver: MovingReceiver
  private var nextSecond: Int64
  /// When the next epoch is written.
  private(set) var deadline: Instant

  /// - Parameter second: the time now, seconds since 1970.
  init(at second: Int64, now: Instant) throws {
    terminal = try PseudoTerminal()
    receiver = MovingReceiver(start: second)
    nextSecond = second
    deadline = now
  }

  /// The device that a program opens to hear the receiver.
  var path: String { terminal.path }

  /// Writes the epoch that is due.
  func wake(at now: Instant) throws {
    guard now >= deadline else { return }
    // A reader that does not read loses epochs, as from a real line.
    let bytes = receiver.epoch(at: nextSecond)
    _ = try unsafe terminal.write(bytes.span.bytes)
    nextSecond += 1
    deadline = deadline + Milliseconds(1000)
  }
}
