// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import Receiver
import SerialPort

/// The line of a connection: a port that reports when it is readable, or a line that is read at its `deadline`. The last reference closes
/// it.
package protocol ReceiverLine: AnyObject {
  /// The time of the next read; nil for a line that reports when it is readable.
  var deadline: Instant? { get }
  /// A descriptor that reports available bytes; nil for a line without one.
  var fileDescriptor: Int32? { get }
  var isWritable: Bool { get }
  /// The port of the receiver at the other end, if the kind of line determines it.
  var receiverPort: ReceiverPortNumber? { get }
  /// The rate that the line itself determines, baud. It may change at each read, and the session follows it and does not search; nil
  /// for a line without such a rate.
  var givenRate: UInt32? { get }
  /// The rate of the line, baud; nil if it has none.
  var baudRate: UInt32? { get }
  /// Returns the rate of the line, baud; nil if it has none. A port whose rate cannot be read counts as removed.
  func readBaudRate() throws(SerialPortError) -> UInt32?
  /// Sets the rate, and discards bytes that were received at the old one. An unsupported rate has no effect: the search
  /// continues.
  ///
  /// - Throws: ``SerialPortError`` if the line has another rate than the session assumes.
  func setBaudRate(_ rate: UInt32) throws(SerialPortError)
  /// The next message for the user about the line; nil without one.
  func takeNotice() -> String?
  /// The identity of the receiver if another program has polled it; `unknown` before that, and for other lines.
  var identity: LineIdentity { get }
  /// The reason why a network source was lost; nil for another kind of line.
  var lossReason: SerialPortError? { get }
  /// The other programs that read part of the bytes; see `SerialPort.otherReaders`.
  var otherReaders: [PortHolder] { get }
  /// The number of written bytes that the driver has not sent; 0 if it does not report it.
  var unsentByteCount: Int { get }
  /// The form of a character; nil for a line without one.
  var character: SerialCharacter? { get }
  /// Sets the form of a character, as far as the driver has it.
  func setCharacter(_ character: SerialCharacter)
  /// The modem lines that are on; nil for a line without them.
  var modemLines: ModemLines? { get }
  /// Switches modem lines; a line without them has no effect.
  func switchModemLines(_ lines: ModemLines, on: Bool)
  /// Discards received bytes that were not read.
  func discardInput()

  /// Reads available bytes; `wouldBlock` without any: the next read is due at `deadline`.
  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult
  /// Writes as many bytes as the line accepts now. Returns their number.
  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int
}

extension ReceiverLine {
  package var deadline: Instant? { nil }
  package var fileDescriptor: Int32? { nil }
  package var receiverPort: ReceiverPortNumber? { nil }
  package var givenRate: UInt32? { nil }
  package var baudRate: UInt32? { givenRate }
  package func readBaudRate() throws(SerialPortError) -> UInt32? { givenRate }
  package func setBaudRate(_ rate: UInt32) throws(SerialPortError) {}
  package func takeNotice() -> String? { nil }
  package var identity: LineIdentity { .unknown }
  package var lossReason: SerialPortError? { nil }
  package var otherReaders: [PortHolder] { [] }
  package var unsentByteCount: Int { 0 }
  package var character: SerialCharacter? { nil }
  package func setCharacter(_ character: SerialCharacter) {}
  package var modemLines: ModemLines? { nil }
  package func switchModemLines(_ lines: ModemLines, on: Bool) {}
  package func discardInput() {}
}

/// A port as a line.
final class PortLine: ReceiverLine {
  private let port: SerialPort

  init(_ port: consuming SerialPort) { self.port = port }

  var fileDescriptor: Int32? { port.fileDescriptor }
  var isWritable: Bool { port.isWritable }
  var baudRate: UInt32? { port.kind.hasLineSettings ? port.baudRate : nil }
  func readBaudRate() throws(SerialPortError) -> UInt32? { try port.readBaudRate() }
  var otherReaders: [PortHolder] { port.otherReaders }
  var unsentByteCount: Int { (try? port.unsentByteCount()) ?? 0 }
  var character: SerialCharacter? { port.character }
  func setCharacter(_ character: SerialCharacter) { try? port.setCharacter(character) }
  var modemLines: ModemLines? { port.kind.hasLineSettings ? port.modemLines : nil }
  func switchModemLines(_ lines: ModemLines, on: Bool) { try? port.switchModemLines(lines, on: on) }
  func discardInput() { try? port.discardInput() }

  func setBaudRate(_ rate: UInt32) throws(SerialPortError) {
    // Bytes that were received at the same rate are valid.
    if port.baudRate == rate { return }
    do throws(SerialPortError) { try port.setBaudRate(rate) } catch {
      guard case .unsupportedBaudRate = error.cause else { throw error }
    }
    discardInput()
  }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    try port.read(into: &span)
  }

  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int { try port.write(bytes) }
}

extension LineAddress {
  /// Opens a line. `baud` applies to lines with a rate.
  ///
  /// - Parameter pin: the device that a path must lead to; nil for any.
  func open(
    access: SerialPort.Access, baud: UInt32?, pin: PinnedDevice? = nil, at now: Instant
  ) throws(SerialPortError) -> any ReceiverLine {
    switch self {
    case .port(let path):
      let port = try SerialPort(opening: path, access: access, baud: baud, pin: pin)
      // The positions in a file are not this computer's, and must not be used as such. Only the commands for
      // bytes read a file on standard input.
      guard port.kind != .file || path == "/dev/stdin" else {
        throw SerialPortError(
          malformed: "is a file and not a receiver; name a device, or replay the file with replay:\(path)", path: path)
      }
      return PortLine(port)
    case .i2c(let bus, let address):
      return try I2CLine(try I2CBus(opening: bus, address: address), isWritable: access == .readWrite, at: now)
    case .replay(let file, let speed): return try ReplayLine(opening: file, speed, at: now)
    case .network(let source):
      // Its connection takes time; `ReceiverConnection` waits for it.
      throw SerialPortError(unreachable: "\(source) is not connected yet", path: "")
    case .simulator(let scenario):
      throw SerialPortError(
        malformed: "the simulator is not a line; open the pseudo-terminal that `sextant simulate` prints",
        path: "sim:\(scenario)")
    }
  }
}

/// The identity of a receiver at a line that another program reads.
package enum LineIdentity: Equatable, Sendable {
  case unknown
  /// The receiver does not identify itself.
  case unidentified
  case identified(ReceiverDescription)
}

/// A line that another program has opened.
package enum ProvidedLine: ~Copyable {
  /// The descriptor of the opened and locked device.
  case lent(OwnedDescriptor)
  /// The bytes of the receiver, which that program forwards.
  case served(any ReceiverLine)

  /// Adopts the line. `baud` applies to lines with a rate.
  consuming func adopt(
    _ path: String, access: SerialPort.Access, baud: UInt32?, at now: Instant
  ) throws(SerialPortError) -> any ReceiverLine {
    switch consume self {
    case .lent(let descriptor):
      if case .i2c(let bus, let address)? = try? LineAddress(path) {
        let bus = try I2CBus(adopting: descriptor, path: bus, address: address)
        return try I2CLine(bus, isWritable: access == .readWrite, at: now)
      }
      return PortLine(try SerialPort(adopting: descriptor, path: path, access: access, baud: baud))
    case .served(let line): return line
    }
  }
}

/// Opens lines for other programs.
package enum LentLine {
  /// Opens and locks the device of a line, which the other program receives as `ProvidedLine.lent`.
  ///
  /// A link in the path may lead elsewhere since the program's permission was checked, so it is checked for the opened
  /// device.
  ///
  /// - Parameters:
  ///   - name: a path, or another name that `LineAddress` reads.
  ///   - pin: the device that a path must lead to; nil for any.
  ///   - isPermitted: whether the user of the other program may open a device with this access.
  /// - Returns: nil for a network source, to which the other program connects on its own.
  /// - Throws: `SerialPortError`; `malformed` for a source that does not accept bytes, and for a file.
  package static func open(
    _ name: String, pin: PinnedDevice? = nil, isPermitted: (NodeAccess) -> Bool
  ) throws(SerialPortError) -> OwnedDescriptor? {
    switch try LineAddress(name) {
    case .port(let path):
      return try checked(try SerialPort.openLocked(path, .readWrite, pin: pin), name, isPermitted)
    case .i2c(let bus, _): return try checked(try I2CBus.openForAnother(bus), name, isPermitted)
    case .network(let source):
      if let reason = source.refusalToSend { throw SerialPortError(malformed: reason, path: name) }
      return nil
    case .replay, .simulator:
      throw SerialPortError(malformed: "a recording accepts no commands; name the device of a receiver", path: name)
    }
  }
}

extension LentLine {
  private static func checked(
    _ descriptor: consuming OwnedDescriptor, _ name: String, _ isPermitted: (NodeAccess) -> Bool
  ) throws(SerialPortError) -> OwnedDescriptor {
    guard let status = try? Syscalls.status(of: descriptor.number), status.type != .regular else {
      throw SerialPortError(malformed: "is a file and not a receiver; name a device", path: name)
    }
    guard let access = try? NodeAccess(of: descriptor.number), isPermitted(access) else {
      throw SerialPortError(malformed: "leads to a device that the program's user may not open", path: name)
    }
    return descriptor
  }

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
