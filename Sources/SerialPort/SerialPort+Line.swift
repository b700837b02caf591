// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import LinuxIO
import SystemPackage

// Settings and states of a serial line. For a port without them (a file, a FIFO, /dev/gnss0) the properties are nil and
// the functions throw `notSupported`.
extension SerialPort {
  /// The rate, baud; nil if there is none, or if the device was removed. tcgetattr(3).
  public var baudRate: UInt32? {
    guard kind.hasLineSettings else { return nil }
    return try? LineSettings(of: descriptor.number).baudRate
  }

  /// Returns the rate, baud; nil for a port without a rate. tcgetattr(3).
  ///
  /// - Throws: ``SerialPortError``: `gone`.
  package func readBaudRate() throws(SerialPortError) -> UInt32? {
    guard kind.hasLineSettings else { return nil }
    return try settings().baudRate
  }

  /// Sets the rate of both directions to any number of baud; termios2 with BOTHER, ioctl_tty(2).
  ///
  /// The change takes effect at once: call ``drain()`` first, otherwise bytes in the output buffer are sent at the new
  /// rate. Over USB CDC the rate is stored without effect.
  ///
  /// - Throws: ``SerialPortError``: `unsupportedBaudRate` if the driver sets a rate that differs by more than 2 % (a
  ///   receiving UART tolerates little more); the former rate is then restored. `gone`, `notSupported`.
  public func setBaudRate(_ rate: UInt32) throws(SerialPortError) {
    let former = try settings()
    // B0 is the hang-up of termios, not a rate.
    if rate == 0 { throw unsupported(rate, offered: nil, errno: EINVAL) }
    var wanted = former
    wanted.baudRate = rate
    do {
      try wanted.apply(to: descriptor.number)
    } catch {
      if error == .invalidArgument { throw unsupported(rate, offered: nil, errno: EINVAL) }
      throw SerialPortError(error, .configure, path)
    }
    let offered = try settings().baudRate
    if !isClose(offered, to: rate) {
      try apply(former)
      throw unsupported(rate, offered: offered, errno: EINVAL)
    }
  }

  /// Sets when a poller reports the line readable; VMIN and VTIME of termios(3).
  ///
  /// Reads never wait (O_NONBLOCK), so that the policy concerns polling only. The kernel's line discipline
  /// (drivers/tty/n_tty.c, `input_available_p`) reports a raw line readable when `minimum` bytes are available if
  /// `timeoutDeciseconds` is 0, and at the first byte otherwise; the timeout does not apply to a poller. `(n, 0)`
  /// therefore reduces the wake-ups of the poller, but fewer bytes at the end of a frame are not reported: set a
  /// deadline and read then. A read returns all available bytes, regardless of the policy. The change also applies to a
  /// poller that already waits.
  ///
  /// The kernel still schedules the waiting thread at each delivery of the driver to check the minimum (measured on
  /// Linux 6.18 with 100 deliveries of a byte and `(100, 0)`: 1 return, 147 context switches). To avoid this if the
  /// time of the next bytes is known, wait for no event until then: `Poller.change(_:token:interest:)` with `[]` and a
  /// deadline (1 return, 1 context switch). The kernel buffers 4095 bytes meanwhile, and a hang-up is still reported.
  ///
  /// - Parameters:
  ///   - minimum: bytes, 1 to 255. 0 is treated as 1: with 0 an empty line would look like a hang-up.
  ///   - timeoutDeciseconds: 0, or any other value to report the first byte.
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func setReadThreshold(minimum: UInt8, timeoutDeciseconds: UInt8) throws(SerialPortError) {
    var wanted = try settings()
    wanted.setReadThreshold(minimum: max(minimum, 1), timeoutDeciseconds: timeoutDeciseconds)
    try apply(wanted)
  }

  /// Discards received bytes that were not read. The corresponding C function is tcflush(3) with TCIFLUSH.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func discardInput() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.discardInput(descriptor.number) }
  }

  /// Waits until all written bytes are sent. The corresponding C function is tcdrain(3).
  ///
  /// Only this function and ``sendBreak()`` block, without limit if the device accepts no bytes. ``unsentByteCount()``
  /// does not.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func drain() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.drain(descriptor.number) }
  }

  /// The number of written bytes in the driver that are not sent. The corresponding request is TIOCOUTQ, ioctl_tty(2).
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func unsentByteCount() throws(SerialPortError) -> Int {
    try configure { () throws(Errno) in try Syscalls.unsentByteCount(descriptor.number) }
  }

  /// Waits until all written bytes are sent, and sends a break of a quarter of a second. tcsendbreak(3).
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func sendBreak() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.sendBreak(descriptor.number) }
  }

  /// Sets whether the driver returns bytes at once (an FTDI adapter then waits 1 ms instead of 16). ASYNC_LOW_LATENCY
  /// of TIOCSSERIAL, setserial(8). It is restored when the port is closed.
  ///
  /// - Returns: whether the driver has the setting and applied it.
  /// - Throws: ``SerialPortError``: `gone`, `inputOutput`.
  @discardableResult
  public func setLowLatency(_ on: Bool) throws(SerialPortError) -> Bool {
    guard Syscalls.lowLatency(descriptor.number) != nil else { return false }
    try configure { () throws(Errno) in try Syscalls.setLowLatency(descriptor.number, on) }
    return Syscalls.lowLatency(descriptor.number) == on
  }

  /// The errors on the line since its driver was loaded; nil if the driver does not count (a pseudo-terminal, many USB
  /// adapters) or the device was removed. TIOCGICOUNT, ioctl_tty(2).
  public func lineErrors() -> LineErrors? {
    (try? Syscalls.lineCounters(descriptor.number)).flatMap { $0 }.map(LineErrors.init)
  }

  /// The asserted modem lines; nil if there are none or the device was removed. TIOCMGET, ioctl_tty(2).
  public var modemLines: ModemLines? {
    (try? Syscalls.modemLines(descriptor.number)).flatMap { $0 }.map(ModemLines.init(rawValue:))
  }

  /// Sets or clears modem lines without affecting the others. Only DTR and RTS are outputs. TIOCMBIS and TIOCMBIC,
  /// ioctl_tty(2).
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func switchModemLines(_ lines: ModemLines, on: Bool) throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.switchModemLines(descriptor.number, lines.rawValue, on: on) }
  }
}

/// Counts of errors of a receiving UART since its driver was loaded. Only differences are meaningful.
public struct LineErrors: Sendable, Hashable {
  /// Bytes without a stop bit, usually because of a wrong baud rate.
  public var framing: Int
  /// Bytes with a wrong parity bit.
  public var parity: Int
  /// Bytes that were lost because the buffer of the UART or the driver was full.
  public var overrun: Int
  /// The number of times that the line was low for longer than a byte.
  public var breaks: Int

  init(_ counters: cserial_counters) {
    framing = Int(counters.framing)
    parity = Int(counters.parity)
    overrun = Int(counters.overrun) + Int(counters.buffer_overrun)
    breaks = Int(counters.breaks)
  }
}

/// The lines of a serial port other than data; the bits of ioctl_tty(2).
public struct ModemLines: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Output: this side is ready (TIOCM_DTR).
  public static let dataTerminalReady = ModemLines(rawValue: UInt32(CSERIAL_DTR.rawValue))
  /// Output: the other side may send (TIOCM_RTS).
  public static let requestToSend = ModemLines(rawValue: UInt32(CSERIAL_RTS.rawValue))
  /// Input: this side may send (TIOCM_CTS).
  public static let clearToSend = ModemLines(rawValue: UInt32(CSERIAL_CTS.rawValue))
  /// Input: a carrier is present; receivers may connect their pulse per second to it (TIOCM_CD).
  public static let carrierDetect = ModemLines(rawValue: UInt32(CSERIAL_CD.rawValue))
  /// Input: an incoming call (TIOCM_RI).
  public static let ring = ModemLines(rawValue: UInt32(CSERIAL_RI.rawValue))
  /// Input: the other side is ready (TIOCM_DSR).
  public static let dataSetReady = ModemLines(rawValue: UInt32(CSERIAL_DSR.rawValue))
}

extension SerialPort {
  /// The current settings.
  func settings() throws(SerialPortError) -> LineSettings {
    try configure { () throws(Errno) in try LineSettings(of: descriptor.number) }
  }

  /// Applies settings to the line at once.
  func apply(_ settings: LineSettings) throws(SerialPortError) {
    try configure { () throws(Errno) in try settings.apply(to: descriptor.number) }
  }

  private func configure<Result>(_ body: () throws(Errno) -> Result) throws(SerialPortError) -> Result {
    do {
      return try body()
    } catch {
      if !kind.hasLineSettings, error.meansNoTerminal {
        throw SerialPortError(cause: .notSupported, operation: .configure, path: path, errno: error.rawValue)
      }
      throw SerialPortError(error, .configure, path)
    }
  }

  private func unsupported(_ rate: UInt32, offered: UInt32?, errno: Int32) -> SerialPortError {
    SerialPortError(
      cause: .unsupportedBaudRate(requested: rate, offered: offered), operation: .configure, path: path, errno: errno)
  }
}

/// Whether two rates differ by at most 2 %, which the start-bit synchronisation of a receiving UART compensates.
private func isClose(_ offered: UInt32, to rate: UInt32) -> Bool {
  UInt64(max(offered, rate) - min(offered, rate)) * 50 <= UInt64(rate)
}

/// The form of a character on a serial line. Receivers use 8 bits without parity and one stop bit.
package struct SerialCharacter: Sendable, Hashable {
  package enum Parity: UInt8, Sendable { case none, odd, even, mark, space }

  /// 5 to 8.
  package var bits: UInt8
  package var parity: Parity
  /// With 5 bits, a line has one and a half instead.
  package var hasTwoStopBits: Bool

  /// 8N1, which every port has after it was opened.
  package static let usual = SerialCharacter(bits: 8, parity: .none, hasTwoStopBits: false)
}

extension SerialPort {
  /// The form of a character; nil for a port without one, or if the device is gone.
  package var character: SerialCharacter? {
    guard kind.hasLineSettings else { return nil }
    return try? LineSettings(of: descriptor.number).character
  }

  /// Sets the form of a character at once. A driver may not have it: `character` is in force then.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`, `inputOutput` for a form that the driver refuses.
  package func setCharacter(_ character: SerialCharacter) throws(SerialPortError) {
    var wanted = try settings()
    wanted.character = character
    try apply(wanted)
  }
}
