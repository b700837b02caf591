import CLinux
import FileSystem
import Glibc
import SystemPackage

// The settings and states of a serial line. On a port without them (a file, a FIFO, /dev/gnss0) the readings are nil
// and the settings throw `notSupported`.
extension SerialPort {
  /// The rate in baud (bits per second); nil where there is none, or when the device has gone. tcgetattr(3).
  public var baudRate: UInt32? {
    guard kind.hasLineSettings else { return nil }
    return try? LineSettings(of: descriptor.number).baudRate
  }

  /// Changes the rate of both directions, to any number of baud; termios2 with BOTHER, ioctl_tty(2).
  ///
  /// Takes effect at once: call ``drain()`` first, else bytes that are still in the output buffer go out at the new
  /// rate. Over USB CDC the rate is kept but means nothing.
  ///
  /// - Throws: ``SerialPortError``: `unsupportedBaudRate` if the driver sets a rate that is more than 2 % off (a
  ///   receiving UART tolerates little more); the former rate is then back. `gone`, `notSupported`.
  public func setBaudRate(_ rate: UInt32) throws(SerialPortError) {
    let former = try settings()
    // B0 means "hang up" in termios; it is no rate.
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

  /// When a poller reports the line readable; VMIN and VTIME of termios(3).
  ///
  /// Reads never wait here (O_NONBLOCK), so the policy concerns polling alone. The kernel's line discipline
  /// (drivers/tty/n_tty.c, `input_available_p`) reports a raw line readable when `minimum` bytes are there if
  /// `timeoutDeciseconds` is 0, and at the first byte otherwise: the timeout itself is not kept for a poller. So
  /// `(n, 0)` saves returns from the poller, but a shorter rest of a frame is never reported: give the poller a
  /// deadline, and read then. A read takes whatever is there, whatever the policy. The change reaches a poller that
  /// already waits.
  ///
  /// The kernel still schedules the waiting thread at each delivery of the driver, to look whether the minimum is
  /// reached (measured on Linux 6.18 with 100 deliveries of a byte and `(100, 0)`: 1 return, 147 context switches). To
  /// let the processor rest too, where the time of the next bytes is known, watch the line for nothing until then:
  /// ``Poller/change(_:token:interest:)`` with `[]` and a deadline (1 return, 1 context switch). The kernel keeps 4095
  /// bytes meanwhile, and a hang-up is still reported.
  ///
  /// - Parameters:
  ///   - minimum: Bytes, 1 to 255. 0 is taken as 1: with it an empty line would read like a hang-up.
  ///   - timeoutDeciseconds: 0, or anything else for "report the first byte".
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func setReadPolicy(minimum: UInt8, timeoutDeciseconds: UInt8) throws(SerialPortError) {
    var wanted = try settings()
    wanted.setReadPolicy(minimum: max(minimum, 1), timeoutDeciseconds: timeoutDeciseconds)
    try apply(wanted)
  }

  /// Forgets what came in and was not read. The corresponding C function is tcflush(3) with TCIFLUSH.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func discardInput() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.discardInput(descriptor.number) }
  }

  /// Waits until everything written has left. The corresponding C function is tcdrain(3).
  ///
  /// This is the one function beside ``sendBreak()`` that waits, without limit if the device takes no bytes;
  /// ``unsentByteCount()`` answers at once.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func drain() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.drain(descriptor.number) }
  }

  /// The bytes that were written and have not left the driver. The corresponding request is TIOCOUTQ, ioctl_tty(2).
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func unsentByteCount() throws(SerialPortError) -> Int {
    try configure { () throws(Errno) in try Syscalls.unsentByteCount(descriptor.number) }
  }

  /// Sends a break of a quarter of a second, after what was written has left. tcsendbreak(3). Waits for both.
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func sendBreak() throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.sendBreak(descriptor.number) }
  }

  /// Asks the driver to hand bytes over at once (an FTDI adapter then waits 1 ms instead of 16). ASYNC_LOW_LATENCY of
  /// TIOCSSERIAL, setserial(8). Restored when the port is closed.
  ///
  /// - Returns: Whether the driver has the setting and took it.
  /// - Throws: ``SerialPortError``: `gone`, `inputOutput`.
  @discardableResult
  public func setLowLatency(_ on: Bool) throws(SerialPortError) -> Bool {
    guard Syscalls.lowLatency(descriptor.number) != nil else { return false }
    try configure { () throws(Errno) in try Syscalls.setLowLatency(descriptor.number, on) }
    return Syscalls.lowLatency(descriptor.number) == on
  }

  /// What went wrong on the line since its driver was loaded; nil where the driver does not count (a pseudo-terminal,
  /// many USB adapters), or when the device has gone. TIOCGICOUNT, ioctl_tty(2).
  public func lineErrors() -> LineErrors? {
    (try? Syscalls.lineCounters(descriptor.number)).flatMap { $0 }.map(LineErrors.init)
  }

  /// The modem lines that are on; nil where there are none, or when the device has gone. TIOCMGET, ioctl_tty(2).
  public var modemLines: ModemLines? {
    (try? Syscalls.modemLines(descriptor.number)).flatMap { $0 }.map(ModemLines.init(rawValue:))
  }

  /// Switches modem lines on or off and leaves the others alone; only DTR and RTS are outputs. TIOCMBIS and TIOCMBIC,
  /// ioctl_tty(2).
  ///
  /// - Throws: ``SerialPortError``: `gone`, `notSupported`.
  public func switchModemLines(_ lines: ModemLines, on: Bool) throws(SerialPortError) {
    try configure { () throws(Errno) in try Syscalls.switchModemLines(descriptor.number, lines.rawValue, on: on) }
  }
}

/// Counts of what a receiving UART found wrong, since its driver was loaded; differences tell, not the numbers.
public struct LineErrors: Sendable, Hashable {
  /// Bytes without a stop bit: above all a wrong baud rate.
  public var framing: Int
  /// Bytes with a wrong parity bit.
  public var parity: Int
  /// Bytes that were lost because the UART's own buffer, or the driver's, was full.
  public var overrun: Int
  /// Times that the line was held low for longer than a byte.
  public var breaks: Int

  init(_ counters: cserial_counters) {
    framing = Int(counters.framing)
    parity = Int(counters.parity)
    overrun = Int(counters.overrun) + Int(counters.buffer_overrun)
    breaks = Int(counters.breaks)
  }
}

/// The lines of a serial port beside its data; the bits of ioctl_tty(2).
public struct ModemLines: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Output: this side is there (TIOCM_DTR).
  public static let dataTerminalReady = ModemLines(rawValue: UInt32(CSERIAL_DTR.rawValue))
  /// Output: the other side may send (TIOCM_RTS).
  public static let requestToSend = ModemLines(rawValue: UInt32(CSERIAL_RTS.rawValue))
  /// Input: this side may send (TIOCM_CTS).
  public static let clearToSend = ModemLines(rawValue: UInt32(CSERIAL_CTS.rawValue))
  /// Input: a carrier is there; receivers put their pulse per second on it (TIOCM_CD).
  public static let carrierDetect = ModemLines(rawValue: UInt32(CSERIAL_CD.rawValue))
  /// Input: the telephone rings (TIOCM_RI).
  public static let ring = ModemLines(rawValue: UInt32(CSERIAL_RI.rawValue))
  /// Input: the other side is there (TIOCM_DSR).
  public static let dataSetReady = ModemLines(rawValue: UInt32(CSERIAL_DSR.rawValue))
}

extension SerialPort {
  /// The settings as they are now.
  func settings() throws(SerialPortError) -> LineSettings {
    try configure { () throws(Errno) in try LineSettings(of: descriptor.number) }
  }

  /// Makes the settings those of the line, at once.
  func apply(_ settings: LineSettings) throws(SerialPortError) {
    try configure { () throws(Errno) in try settings.apply(to: descriptor.number) }
  }

  private func configure<Result>(_ body: () throws(Errno) -> Result) throws(SerialPortError) -> Result {
    do {
      return try body()
    } catch {
      if !kind.hasLineSettings, error.saysNoTerminal {
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

/// Whether two rates differ by no more than 2 %, which a receiving UART's start-bit synchronisation makes up for.
private func isClose(_ offered: UInt32, to rate: UInt32) -> Bool {
  UInt64(max(offered, rate) - min(offered, rate)) * 50 <= UInt64(rate)
}
