import FileSystem
import Glibc
import SystemPackage

/// A program that has a port open.
public struct PortHolder: Sendable, Hashable, CustomStringConvertible {
  /// The process id.
  public let processID: Int32
  /// The program's name as in /proc/PID/comm; empty if it could not be read.
  public let program: String

  /// As in `gpsd (pid 412)`.
  public var description: String { program.isEmpty ? "pid \(processID)" : "\(program) (pid \(processID))" }
}

/// Why an operation on a port failed: the errno, the path, what was tried, and the cause that the caller acts on.
public struct SerialPortError: Error, Sendable, Equatable {
  /// What the caller can do something about.
  public enum Cause: Sendable, Equatable {
    /// There is no such node, or no hardware behind it.
    case notFound
    /// The path leads to a directory.
    case directory
    /// The path leads to something that carries no byte stream: a block device, a socket.
    case unsuitable
    /// What is behind the path is not what it has to be. The text says why, and what to do.
    case malformed(String)
    /// The node may not be opened; `group` is the group that may, if there is one.
    case noPermission(group: String?)
    /// Another program has the port. The list is empty if it could not be found out which.
    case held(by: [PortHolder])
    /// The device went away: it hung up, or answers EIO, ENXIO or ENODEV.
    case gone
    /// Reading, writing or setting failed for another reason.
    case inputOutput
    /// The driver does not offer this rate. `offered` is the one that it set instead; it was not kept.
    case unsupportedBaudRate(requested: UInt32, offered: UInt32?)
    /// This kind of port has no such operation: a file has no baud rate, a port opened for reading takes no bytes.
    case notSupported
  }

  /// What was being done.
  public enum Operation: String, Sendable {
    case open, lock, configure, read, write, wait, link
  }

  /// What the caller can do something about.
  public let cause: Cause
  /// What was being done.
  public let operation: Operation
  /// The path as the caller gave it; empty where no path is concerned (waiting).
  public let path: String
  /// The errno that the system call left; 0 where no call failed (a hang-up that showed as an end of input).
  public let errno: Int32

  init(cause: Cause, operation: Operation, path: String, errno: Int32) {
    self.cause = cause
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  /// The device at `path` is gone, as a line knows that no system call tells it.
  public init(gone path: String) { self.init(cause: .gone, operation: .read, path: path, errno: 0) }

  /// What is behind `path` is not what it has to be: `text` says why, and what to do.
  public init(malformed text: String, path: String) {
    self.init(cause: .malformed(text), operation: .open, path: path, errno: 0)
  }

  /// The program's exit code by sysexits.h.
  public var exitCode: Int32 {
    switch cause {
    case .notFound, .directory, .unsuitable, .malformed: 66  // EX_NOINPUT
    case .noPermission: 77  // EX_NOPERM
    case .held: 75  // EX_TEMPFAIL
    case .gone, .inputOutput: 74  // EX_IOERR
    case .unsupportedBaudRate, .notSupported: 64  // EX_USAGE
    }
  }
}

extension SerialPortError: CustomStringConvertible {
  /// One line: the path, what happened, and what to do about it.
  public var description: String { (path.isEmpty ? "" : path + ": ") + explanation }

  private var explanation: String {
    switch cause {
    case .notFound where operation == .open && errno != ENOENT && errno != ENOTDIR:
      "no hardware answers behind this node (\(reason)); connect the device, or choose another port"
    case .notFound:
      "no such device or file; connect the device, or correct the path"
    case .directory:
      "is a directory; name a device, a FIFO or a file in it"
    case .unsuitable:
      "is a block device or a socket and carries no byte stream; name a serial port, a FIFO or a file"
    case .malformed(let text):
      text
    case .noPermission(let group?):
      "no permission to open it; join its group with `sudo usermod -aG \(group) $USER`, then log in again"
    case .noPermission(nil):
      "no permission to open it, and no group has one; install a udev rule that gives it a group, or run as root"
    case .held(let holders) where holders.isEmpty:
      "held by another program whose name this user may not see; "
        + (path.isEmpty ? "stop it first" : "find it with `sudo fuser -v \(path)` and stop it first")
    case .held(let holders):
      "held by \(holders.map(\.description).joined(separator: ", ")); stop that program first, or choose another port"
    case .gone:
      "the device went away (\(reason)); connect it again"
    case .inputOutput:
      "cannot \(operation.rawValue) (\(reason)); check the cable and the kernel's log (`dmesg`)"
    case .unsupportedBaudRate(let requested, let offered?):
      "cannot do \(requested) baud, the nearest rate it offers is \(offered); choose another rate"
    case .unsupportedBaudRate(let requested, nil):
      "cannot do \(requested) baud (\(reason)); choose another rate"
    case .notSupported:
      "this kind of port cannot \(operation.rawValue) in this way (\(reason)); choose a serial port opened for writing"
    }
  }

  /// What the system said.
  public var reason: String { errno == 0 ? "hang-up" : Errno(rawValue: errno).description }
}

/// Makes calls on an open port and turns their errno into the error for the caller of the module.
func attempting<Result: ~Copyable>(
  _ operation: SerialPortError.Operation, _ path: String, _ body: () throws(Errno) -> Result
) throws(SerialPortError) -> Result {
  do {
    return try body()
  } catch {
    throw SerialPortError(error, operation, path)
  }
}

/// Makes calls that open a port and turns their errno into the error for the caller of the module.
func opening<Result: ~Copyable>(
  _ path: String, _ body: () throws(Errno) -> Result
) throws(SerialPortError) -> Result {
  do {
    return try body()
  } catch {
    throw SerialPortError(opening: path, error)
  }
}

extension Errno {
  /// Whether a call that asks for a terminal was answered that there is none: drivers without one have their own words.
  var saysNoTerminal: Bool { [.inappropriateIOCTLForDevice, .invalidArgument, .notSupportedOnSocket].contains(self) }
}

/// Refuses a path that the system would cut: C ends a text with the first character of code 0.
func refuseNUL(_ path: String, _ operation: SerialPortError.Operation) throws(SerialPortError) {
  guard path.utf8.contains(0) else { return }
  throw SerialPortError(
    cause: .malformed("has a character of code 0 in it, where the system would cut it; correct the path"),
    operation: operation, path: path, errno: EINVAL)
}

extension SerialPortError {
  /// The error for an errno of a call on an open port.
  init(_ error: Errno, _ operation: Operation, _ path: String) {
    let cause: Cause =
      switch error.rawValue {
      case EIO, ENXIO, ENODEV: .gone
      case ENOTTY, EBADF, EOPNOTSUPP: .notSupported
      default: .inputOutput
      }
    self.init(cause: cause, operation: operation, path: path, errno: error.rawValue)
  }

  /// The error for an errno of stat(2) or open(2): what is `gone` on an open port was never there.
  init(opening path: String, _ error: Errno) {
    let cause: Cause =
      switch error.rawValue {
      case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENXIO, ENODEV, EIO: .notFound
      case EISDIR: .directory
      case EACCES, EPERM: .noPermission(group: groupThatMayOpen(path))
      case EBUSY: .held(by: findHolders(of: path))
      default: .inputOutput
      }
    self.init(cause: cause, operation: .open, path: path, errno: error.rawValue)
  }
}

/// The name of the group that may read and write the node. Nil where joining it would not help, or if it is root's.
private func groupThatMayOpen(_ path: String) -> String? {
  (try? Syscalls.status(ofPath: path))?.groupThatMayOpen
}

extension NodeStatus {
  /// The name of the group that may read and write the node. Nil where joining it would not help, or if it is root's.
  var groupThatMayOpen: String? {
    let readAndWrite: UInt32 = 0o060
    guard mode & readAndWrite == readAndWrite, group != 0 else { return nil }
    return Syscalls.groupName(group)
  }
}
