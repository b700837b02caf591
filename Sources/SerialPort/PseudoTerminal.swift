import FileSystem
import Glibc
import SystemPackage

/// A pseudo-terminal in raw mode, seen from the device's side: what a simulated receiver sits behind. pty(7).
///
/// The value owns the master and keeps the slave open, so that the line stays raw and alive between two programs that
/// use it. When the value goes, they see a hang-up, as if a USB device was pulled out.
public struct PseudoTerminal: ~Copyable {
  /// The node that programs open: `/dev/pts/N`.
  public let path: String
  /// The link that ``link(at:)`` made; nil if there is none.
  public private(set) var linkPath: String?

  private let master: OwnedDescriptor
  private let slave: OwnedDescriptor

  /// Opens a new pair, 38400 baud until somebody sets another rate. posix_openpt(3).
  ///
  /// - Throws: ``SerialPortError`` `inputOutput` when the system is out of descriptors or pseudo-terminals.
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

  /// Takes the link away, if it still leads here: only then it is this value's.
  private func removeLink() {
    if let linkPath, (try? Syscalls.target(ofLink: linkPath)) == path { try? Syscalls.unlink(linkPath) }
  }

  /// The master, for pollers. It belongs to the value.
  public var fileDescriptor: Int32 { master.number }

  /// The rate in baud that the program at the other end has set. ioctl_tty(2), TCGETS2.
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

  /// Reads what the program at the other end wrote, without waiting. read(2).
  ///
  /// - Throws: ``SerialPortError``.
  @_lifetime(span: copy span)
  public func read(into span: inout MutableRawSpan) throws(SerialPortError) -> SerialPort.ReadResult {
    if span.byteCount == 0 { return .bytes(0) }
    do {
      let count = try Syscalls.read(master.number, into: &span)
      return count > 0 ? .bytes(count) : .endOfInput
    } catch {
      if error == .wouldBlock { return .wouldBlock }
      throw SerialPortError(error, .read, path)
    }
  }

  /// Writes what the program at the other end is to read, without waiting. write(2).
  ///
  /// - Returns: The number of bytes that were taken; fewer, or 0, when the program does not read (some 4 kB wait).
  /// - Throws: ``SerialPortError``.
  public func write(_ bytes: RawSpan) throws(SerialPortError) -> Int {
    do {
      return try Syscalls.write(master.number, bytes)
    } catch {
      if error == .wouldBlock { return 0 }
      throw SerialPortError(error, .write, path)
    }
  }

  /// Gives the node a second name, and takes it away when the value goes, or gets another one. symlink(2).
  ///
  /// - Parameter link: Where the symbolic link is made. One that leads to a pseudo-terminal is replaced: an earlier
  ///   run left it. Anything else stays.
  /// - Throws: ``SerialPortError`` `inputOutput`, errno EEXIST if something else is there; `malformed`. The name before
  ///   it then stays.
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
