// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// A byte stream that is read and written without blocking: a serial line, or a substitute.
///
/// The value owns the descriptor. At its end the settings of a terminal are restored and the descriptor is closed. Call
/// ``drain()`` first if the last written bytes matter: the settings are restored at once.
///
/// | kind of node | opened | end |
/// |---|---|---|
/// | terminal (`ttyUSB`, `ttyACM`, `ttyS`) | raw 8N1, exclusively, locked | ``SerialPortError/Cause/gone`` |
/// | pseudo-terminal | raw 8N1, locked | ``SerialPortError/Cause/gone`` |
/// | character device without termios (`/dev/gnss0`) | locked | ``SerialPortError/Cause/gone``, or its own end |
/// | FIFO | for reading only, locked; the stream continues with the next writer | never |
/// | anonymous pipe (`/dev/stdin`) | for reading only | ``ReadResult/endOfInput`` after the last writer closes |
/// | file | for reading only, from its start; not locked | ``ReadResult/endOfInput`` |
///
/// A directory, a block device and a socket are refused.
public struct SerialPort: ~Copyable {
  /// The kind of the node.
  public enum Kind: Sendable, Hashable {
    /// A serial line with a baud rate.
    case terminal
    /// The slave side of a pseudo-terminal. It has a baud rate without effect on the speed.
    case pseudoTerminal
    /// A named FIFO or an anonymous pipe: read only.
    case fifo
    /// A regular file: read only, always readable.
    case file
    /// A character device without a baud rate, such as the kernel's `/dev/gnss0`.
    case characterDevice

    /// Whether the port has a baud rate and the other settings of termios.
    public var hasLineSettings: Bool { self == .terminal || self == .pseudoTerminal }
  }

  /// The access that the caller needs.
  public enum Access: Sendable, Hashable {
    /// Read, and write if the kind of port accepts bytes.
    case readWrite
    /// Read only: ``SerialPort/write(_:)`` throws.
    case readOnly
  }

  /// The outcome of a ``SerialPort/read(into:)``.
  public enum ReadResult: Sendable, Hashable {
    /// The number of bytes at the start of the span.
    case bytes(Int)
    /// No bytes are available; wait with a `Poller` of module LinuxIO.
    case wouldBlock
    /// The end of the file or pipe was reached.
    case endOfInput
  }

  /// The path, as given by the caller.
  public let path: String
  /// The kind of the node.
  public let kind: Kind
  /// Whether ``write(_:)`` can succeed: the port was opened for it, and it is neither a file nor a FIFO.
  public let isWritable: Bool

  let descriptor: OwnedDescriptor
  private let found: FoundLine?

  /// Opens a port without blocking. The corresponding C functions are open(2), flock(2) and tcsetattr(3).
  ///
  /// - Parameters:
  ///   - path: a device, FIFO or file; links are followed.
  ///   - access: `.readOnly` also opens a device that the user may only read.
  ///   - baud: the rate, baud; nil to keep the current one. Ignored for a port without a rate.
  /// - Throws: ``SerialPortError``: `notFound`, `directory`, `unsuitable`, `malformed`, `noPermission`, `held`,
  ///   `unsupportedBaudRate`, `inputOutput`.
  public init(opening path: String, access: Access, baud: UInt32?) throws(SerialPortError) {
    self = try Self.made(try Self.openLocked(path, access), path, access, baud)
  }

  /// Opens a port as ``init(opening:access:baud:)``.
  ///
  /// - Parameter pin: the device that the path must lead to; nil for any.
  package init(opening path: String, access: Access, baud: UInt32?, pin: PinnedDevice?) throws(SerialPortError) {
    self = try Self.made(try Self.openLocked(path, access, pin: pin), path, access, baud)
  }

  /// Adopts a port that another program has opened with ``openLocked(_:_:pin:)``: the lock belongs to the open file, which
  /// both share.
  ///
  /// - Throws: ``SerialPortError``: `unsupportedBaudRate`, `inputOutput`, `gone`.
  package init(
    adopting descriptor: consuming OwnedDescriptor, path: String, access: Access, baud: UInt32?
  ) throws(SerialPortError) {
    let port = try Self.made(descriptor, path, access, baud)
    // The deinit of an earlier port with the same open file has cleared it.
    if port.kind == .terminal { try? Syscalls.setExclusive(port.fileDescriptor, true) }
    self = port
  }

  /// Opens and locks a port. The settings of the line are unchanged.
  ///
  /// - Parameter pin: the device that the path must lead to; nil for any.
  /// - Throws: as ``init(opening:access:baud:)``.
  package static func openLocked(
    _ path: String, _ access: Access, pin: PinnedDevice? = nil
  ) throws(SerialPortError) -> OwnedDescriptor {
    if let node = try? Syscalls.status(ofPath: path) {
      // The lock excludes only programs that use locks.
      let readers = findOtherReaders(of: node)
      if !readers.isEmpty {
        throw SerialPortError(cause: .held(by: readers), operation: .open, path: path, errno: EBUSY)
      }
    }
    let descriptor = try openNode(path, access, pin)
    let node = try opening(path) { () throws(Errno) in try Syscalls.status(of: descriptor.number) }
    try refuseUnsuitable(node, path)
    let isTerminal = try opening(path) { () throws(Errno) in try lineSettings(of: descriptor.number) } != nil
    let kind = Kind(node, isTerminal: isTerminal)
    if kind != .file { try lockExclusively(descriptor.number, path, node, kind) }
    return descriptor
  }

  /// Removes the lock and the exclusive mode of a port that was opened with ``openLocked(_:_:pin:)``, from all copies of its descriptor,
  /// and closes this one.
  package static func unlock(_ descriptor: consuming OwnedDescriptor) {
    try? Syscalls.setExclusive(descriptor.number, false)
    try? Syscalls.unlock(descriptor.number)
  }

  private static func made(
    _ descriptor: consuming OwnedDescriptor, _ path: String, _ access: Access, _ baud: UInt32?
  ) throws(SerialPortError) -> SerialPort {
    let node = try opening(path) { () throws(Errno) in try Syscalls.status(of: descriptor.number) }
    let settings = try opening(path) { () throws(Errno) in try lineSettings(of: descriptor.number) }
    let kind = Kind(node, isTerminal: settings != nil)
    let found = settings.map { FoundLine(settings: $0, lowLatency: Syscalls.lowLatency(descriptor.number)) }

    // From here on the port's deinit restores the settings, even if a later call fails.
    let port = SerialPort(path, kind, access, found, descriptor)
    if var wanted = settings {
      wanted.makeRaw()
      try port.apply(wanted)
      if let baud {
        try port.setBaudRate(baud)
        // Pending bytes were received at the previous rate.
        if baud != wanted.baudRate { try port.discardInput() }
      }
    }
    return port
  }

  private init(
    _ path: String, _ kind: Kind, _ access: Access, _ found: FoundLine?, _ descriptor: consuming OwnedDescriptor
  ) {
    self.path = path
    self.kind = kind
    self.isWritable = access == .readWrite && kind != .file && kind != .fifo
    self.found = found
    self.descriptor = descriptor
  }

  deinit {
    // An error cannot be reported here, and a device that was removed returns EIO for each of these calls.
    guard let found else { return }
    if let lowLatency = found.lowLatency, lowLatency != Syscalls.lowLatency(descriptor.number) {
      try? Syscalls.setLowLatency(descriptor.number, lowLatency)
    }
    try? found.settings.apply(to: descriptor.number)
    if kind == .terminal { try? Syscalls.setExclusive(descriptor.number, false) }
  }

  /// The other programs that have the line open now and are visible to this user: each of them reads part of its bytes. The program
  /// that has lent the line, and still holds its lock, does not read it.
  public var otherReaders: [PortHolder] {
    guard let node = try? Syscalls.status(of: descriptor.number) else { return [] }
    let readers = findOtherReaders(of: node)
    if readers.isEmpty { return [] }
    let owner = (try? UserFile.read("/proc/locks")).flatMap { lockOwner(of: node, inLocks: $0) }
    return readers.filter { $0.processID != owner }
  }

  /// The descriptor, for pollers. It belongs to the port: do not close it, and do not use it after the port is
  /// destroyed.
  public var fileDescriptor: Int32 { descriptor.number }

  /// Reads available bytes without blocking. The corresponding C function is read(2).
  ///
  /// - Parameter span: the destination of the bytes, from its start.
  /// - Throws: ``SerialPortError``: `gone` if the device was removed or the other side hung up, `inputOutput`.
  @_lifetime(span: copy span)
  public func read(into span: inout MutableRawSpan) throws(SerialPortError) -> ReadResult {
    if span.byteCount == 0 { return .bytes(0) }
    do {
      let count = try Syscalls.read(descriptor.number, into: &span)
      if count > 0 { return .bytes(kind.hasLineSettings ? readRest(into: &span, after: count) : count) }
    } catch {
      if error == .wouldBlock { return .wouldBlock }
      throw SerialPortError(error, .read, path)
    }
    // A raw terminal with VMIN of at least 1 returns zero bytes only after a hang-up.
    if kind.hasLineSettings { throw SerialPortError(cause: .gone, operation: .read, path: path, errno: 0) }
    return .endOfInput
  }

  /// Continues a read that the kernel may have ended early. Returns the total number of bytes.
  ///
  /// Since Linux 5.12 a terminal is read through a buffer of 64 bytes (tty_io.c, `iterate_tty_read`), and with VMIN
  /// above 64 the read ends after each of them. Remaining bytes below VMIN would never be reported to a poller.
  @_lifetime(span: copy span)
  private func readRest(into span: inout MutableRawSpan, after first: Int) -> Int {
    let kernelBuffer = 64
    var total = first
    var last = first
    while last > 0 && last % kernelBuffer == 0 && total < span.byteCount {
      // The next read returns the error, after the preceding bytes.
      last = (try? Syscalls.read(descriptor.number, into: &span, at: total)) ?? 0
      total += last
    }
    return total
  }

  /// Writes as many bytes as the port accepts now, without blocking. The corresponding C function is write(2).
  ///
  /// - Parameter bytes: the bytes to send.
  /// - Returns: the number of bytes taken, from the start; 0 if the output buffer is full.
  /// - Throws: ``SerialPortError``: `gone`, `inputOutput`, `notSupported` if the port is not ``isWritable``.
  public func write(_ bytes: RawSpan) throws(SerialPortError) -> Int {
    if !isWritable { throw SerialPortError(Errno.badFileDescriptor, .write, path) }
    do {
      return try Syscalls.write(descriptor.number, bytes)
    } catch {
      if error == .wouldBlock { return 0 }
      throw SerialPortError(error, .write, path)
    }
  }
}

/// The settings of a terminal before it was opened, to be restored.
private struct FoundLine {
  let settings: LineSettings
  /// Nil if the driver has no such setting.
  let lowLatency: Bool?
}

extension SerialPort.Kind {
  fileprivate init(_ node: NodeStatus, isTerminal: Bool) {
    // Major numbers 136 to 143 are UNIX98 pseudo-terminal slaves (Linux allocated devices, admin-guide/devices.txt).
    switch node.type {
    case .regular: self = .file
    case .fifo: self = .fifo
    default: self = !isTerminal ? .characterDevice : node.isPseudoTerminal ? .pseudoTerminal : .terminal
    }
  }
}
