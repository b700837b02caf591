// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// A pseudo-terminal in raw mode from the device's side, for a simulated receiver. pty(7).
///
/// The value owns the master and keeps the slave open, so that the line stays raw and open between two programs that
/// use it. When the value is destroyed, they detect a hang-up, as after an unplug.
public struct PseudoTerminal: ~Copyable {
  /// The node that programs open: `/dev/pts/N`.
  public let path: String
  /// The link of ``link(at:)``; nil if there is none.
  public private(set) var linkPath: String?

  private let master: OwnedDescriptor
  private let slave: OwnedDescriptor

  /// Opens a new pair with 38400 baud. posix_openpt(3).
  ///
  /// - Throws: ``SerialPortError`` `inputOutput` if the system is out of descriptors or pseudo-terminals.
  public init() throws(SerialPortError) {
    let master = try attempting(.open, "/dev/ptmx") { () throws(Errno) in try Syscalls.openPseudoTerminal() }
    let path = try attempting(.open, "/dev/ptmx") { () throws(Errno) in try Syscalls.slavePath(of: master.number) }
    let slave = try attempting(.open, path) { () throws(Errno) in
      try Syscalls.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    }
    try attempting(.configure, path) { () throws(Errno) in
      var settings = try LineSettings(of: slave.number)
      settings.makeRaw()
      try settings.apply(to: slave.number)
    }
    self.init(path, master, slave)
  }

  private init(_ path: String, _ master: consuming OwnedDescriptor, _ slave: consuming OwnedDescriptor) {
    self.path = path
    self.master = master
    self.slave = slave
  }

  deinit {
    removeLink()
  }

  /// Removes the link if it still refers to this pseudo-terminal.
  private func removeLink() {
    if let linkPath, (try? Syscalls.target(ofLink: linkPath)) == path { try? Syscalls.unlink(linkPath) }
  }

  /// The master, for pollers. It belongs to the value.
  public var fileDescriptor: Int32 { master.number }

  /// The rate that the program at the other end has set, baud. ioctl_tty(2), TCGETS2.
  public var baudRate: UInt32 { (try? LineSettings(of: master.number).baudRate) ?? 0 }

  /// Sets the rate that a program finds when it opens the node. tty_ioctl(4), TCSETS2.
  ///
  /// - Throws: ``SerialPortError`` `inputOutput`.
  public func setBaudRate(_ rate: UInt32) throws(SerialPortError) {
    try attempting(.configure, path) { () throws(Errno) in
      var settings = try LineSettings(of: slave.number)
      settings.baudRate = rate
      try settings.apply(to: slave.number)
    }
  }

  /// Takes all bytes that the program at the other end has written, without blocking. read(2).
  ///
  /// - Throws: ``SerialPortError``.
  public func takeWritten() throws(SerialPortError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var span = buffer.mutableSpan
      // Marked unsafe because some types have invalid bit patterns; bytes have none.
      var piece = unsafe span.mutableBytes
      do {
        let count = try Syscalls.read(master.number, into: &piece)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
      } catch {
        if error == .wouldBlock { return bytes }
        throw SerialPortError(error, .read, path)
      }
    }
  }

  /// Writes bytes for the program at the other end, without blocking. write(2).
  ///
  /// - Returns: the number of bytes taken; fewer, or 0, if the program does not read (the buffer has about 4 kB).
  /// - Throws: ``SerialPortError``.
  public func write(_ bytes: RawSpan) throws(SerialPortError) -> Int {
    do {
      return try Syscalls.write(master.number, bytes)
    } catch {
      if error == .wouldBlock { return 0 }
      throw SerialPortError(error, .write, path)
    }
  }

  /// Makes a symbolic link to the node. It is removed when the value is destroyed or gets another link. symlink(2).
  ///
  /// - Parameter link: the path of the link. An existing link to a pseudo-terminal is replaced: an earlier run left it.
  ///   Other files are kept.
  /// - Throws: ``SerialPortError`` `inputOutput`, errno EEXIST if another file is there; `malformed`. The previous link
  ///   is then kept.
  public mutating func link(at link: String) throws(SerialPortError) {
    try refuseNUL(link, .link)
    try attempting(.link, link) { () throws(Errno) in
      if (try? Syscalls.target(ofLink: link))?.hasPrefix("/dev/pts/") == true { try Syscalls.unlink(link) }
      try Syscalls.link(path, at: link)
    }
    if linkPath != link { removeLink() }
    linkPath = link
  }
}
