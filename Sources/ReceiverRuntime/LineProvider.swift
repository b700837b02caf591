// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import SerialPort

/// A line that another program has opened.
package enum ProvidedLine: ~Copyable {
  /// The descriptor of the opened and locked device.
  case lent(OwnedDescriptor)
  /// The bytes of the receiver, which that program forwards.
  case served(any PolledLine)
}

/// Opens lines for other programs.
package enum LentLine {
  /// Opens and locks the device of a line, which the other program receives as `ProvidedLine.lent`.
  ///
  /// - Parameter name: a path, or another name that `LineAddress` reads.
  /// - Returns: nil for a network source, to which the other program connects on its own.
  /// - Throws: `SerialPortError`; `malformed` for a source that does not accept bytes.
  package static func open(_ name: String) throws(SerialPortError) -> OwnedDescriptor? {
    switch try LineAddress(name) {
    case .port(let path): return try SerialPort.openLocked(path, .readWrite)
    case .i2c(let bus, _): return try I2CBus.openForAnother(bus)
    case .network(let source):
      if let reason = source.refusalToSend { throw SerialPortError(malformed: reason, path: name) }
      return nil
    case .replay, .simulator:
      throw SerialPortError(malformed: "a recording accepts no commands; name the device of a receiver", path: name)
    }
  }
}

extension LentLine {
  /// Ends the use of a line by the other program, as far as Linux can: the program may keep a copy of the descriptor
  /// with the lock and the exclusive mode, which the service removes through its own copy, so that it can set them
  /// itself.
  package static func end(_ line: consuming OwnedDescriptor) { SerialPort.unlock(line) }
}

/// The source of a connection's lines, used in place of the path.
package protocol LineProvider: AnyObject {
  /// Returns the line when it is opened; nil to open the path.
  ///
  /// - Throws: `SerialPortError`; at the first opening it ends the command, later the connection tries again.
  func line(at now: Instant) throws(SerialPortError) -> ProvidedLine?
  /// Handles the loss of the line.
  func lost()
}
