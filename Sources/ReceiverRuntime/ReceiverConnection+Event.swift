// SPDX-License-Identifier: Apache-2.0
import Receiver
import SerialPort

extension ReceiverConnection {
  /// An event other than a fix.
  package enum Event: Sendable, Equatable {
    /// The port was opened, with its rate if it has one, baud.
    case opened(path: String, rate: UInt32?)
    /// The line has a new rate, baud.
    case rate(UInt32)
    /// The receiver was disconnected; the connection waits for it.
    case lost(path: String)
    /// A network source cannot be reached, before it has ever sent a valid frame. The connection tries again.
    case unreachable(SerialPortError)
    /// A message to the user about the port.
    case notice(String)
    /// The end of a file or FIFO was reached.
    case ended
    /// A report of the session.
    case session(SessionReport)
    /// A submitted command has ended.
    case finished(SessionTicket, Outcome)
    /// An event of the retrieval of a batch.
    case batch(BatchEvent)
  }
}
