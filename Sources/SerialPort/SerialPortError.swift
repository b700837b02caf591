// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// A program that has a port open.
public struct PortHolder: Sendable, Hashable, CustomStringConvertible {
  /// The process id.
  public let processID: Int32
  /// The name of the program from /proc/PID/comm; empty if it could not be read.
  public let program: String

  /// Such as `gpsd (pid 412)`.
  public var description: String { program.isEmpty ? "pid \(processID)" : "\(program) (pid \(processID))" }
}

/// The reason why an operation on a port failed: the errno, the path, the operation, and the cause.
public struct SerialPortError: Error, Sendable, Equatable {
  /// The cause, classified by the possible reaction of the caller.
  public enum Cause: Sendable, Equatable {
    /// The node does not exist, or has no hardware.
    case notFound
    /// The path is a directory.
    case directory
    /// The path is a node without a byte stream: a block device, a socket.
    case unsuitable
    /// The node or the address has the wrong form. The text has the reason and the next step.
    case malformed(String)
    /// The user may not open the node; `group` is the group that may, if there is one.
    case noPermission(group: String?)
    /// Another program uses the port. The list is empty if it could not be identified.
    case held(by: [PortHolder])
    /// The device was removed: it hung up, or returns EIO, ENXIO or ENODEV.
    case gone
    /// Reading, writing or setting failed for another reason.
    case inputOutput
    /// The driver does not support this rate. `offered` is the rate that it set instead, which was reverted.
    case unsupportedBaudRate(requested: UInt32, offered: UInt32?)
    /// A network source cannot be reached, or has ended. The text has the reason and the next step. `isHeld`: another
    /// program has it.
    case unreachable(String, isHeld: Bool)
    /// This kind of port does not support the operation: a file has no baud rate, a port opened for reading does not
    /// accept bytes.
    case notSupported
  }

  /// The operation that failed.
  public enum Operation: String, Sendable {
    case open, lock, configure, read, write, wait, link
  }

  /// The cause, classified by the possible reaction of the caller.
  public let cause: Cause
  /// The operation that failed.
  public let operation: Operation
  /// The path, as given by the caller; empty for an operation without a path (waiting).
  public let path: String
  /// The errno of the system call; 0 if none failed (a hang-up that appeared as an end of input).
  public let errno: Int32

  init(cause: Cause, operation: Operation, path: String, errno: Int32) {
    self.cause = cause
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  /// Makes the error for a removed device that no system call has reported.
  public init(gone path: String) { self.init(cause: .gone, operation: .read, path: path, errno: 0) }

  /// Makes the error for a node or an address that has the wrong form; `text` has the reason and the next step.
  public init(malformed text: String, path: String) {
    self.init(cause: .malformed(text), operation: .open, path: path, errno: 0)
  }

  /// Makes the error for a network source; `text` has the reason and the next step.
  public init(unreachable text: String, isHeld: Bool = false, path: String) {
    self.init(cause: .unreachable(text, isHeld: isHeld), operation: .open, path: path, errno: 0)
  }

  /// The exit code of a program, from sysexits.h.
  public var exitCode: Int32 { systemExitCode.rawValue }

  private var systemExitCode: SystemExitCode {
    if errno == EMFILE || errno == ENFILE || errno == ENOMEM { return .systemResource }
    return switch cause {
    case .notFound, .directory, .unsuitable, .malformed: .noInput
    case .noPermission: .noPermission
    case .held, .unreachable(_, isHeld: true): .held
    case .unreachable(_, isHeld: false): .unavailable
    case .gone, .inputOutput: .inputOutput
    case .unsupportedBaudRate, .notSupported: .usage
    }
  }
}

extension SerialPortError: CustomStringConvertible {
  /// One line: the path, what happened, and the next step.
  public var description: String { (path.isEmpty ? "" : path + ": ") + explanation }

  /// The problem and the next step, without the path.
  package var explanation: String {
    switch cause {
    case .notFound where operation == .open && errno != ENOENT && errno != ENOTDIR:
      "no hardware replies behind this node (\(reason)); connect the device, or choose another port"
    case .notFound:
      "no such device or file; connect the device, or correct the path"
    case .directory:
      "is a directory; name a device, a FIFO or a file in it"
    case .unsuitable:
      "is a block device or a socket and carries no byte stream; name a serial port, a FIFO or a file"
    case .malformed(let text), .unreachable(let text, _):
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
    case .inputOutput where errno == EMFILE || errno == ENFILE:
      "cannot \(operation.rawValue) (\(reason)); raise the limit of open files (ulimit -n)"
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

  /// The error text of the system.
  public var reason: String { errno == 0 ? "hang-up" : Errno(rawValue: errno).description }
}

/// Runs calls on an open port, and converts their errno to an error.
func attempting<Result: ~Copyable>(
  _ operation: SerialPortError.Operation, _ path: String, _ body: () throws(Errno) -> Result
) throws(SerialPortError) -> Result {
  do {
    return try body()
  } catch {
    throw SerialPortError(error, operation, path)
  }
}

/// Runs calls that open a port, and converts their errno to an error.
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
  /// Whether the error of a terminal request means that the node is not a terminal; drivers use different errors.
  var meansNoTerminal: Bool { [.inappropriateIOCTLForDevice, .invalidArgument, .notSupportedOnSocket].contains(self) }
}

/// Rejects a path with a NUL character, at which the system would truncate it.
func refuseNUL(_ path: String, _ operation: SerialPortError.Operation) throws(SerialPortError) {
  guard path.utf8.contains(0) else { return }
  throw SerialPortError(
    cause: .malformed("the path contains a NUL character; correct the path"),
    operation: operation, path: path, errno: EINVAL)
}

extension SerialPortError {
  /// The error for the errno of a call on an open port.
  init(_ error: Errno, _ operation: Operation, _ path: String) {
    let cause: Cause =
      switch error.rawValue {
      case EIO, ENXIO, ENODEV: .gone
      case ENOTTY, EBADF, EOPNOTSUPP: .notSupported
      default: .inputOutput
      }
    self.init(cause: cause, operation: operation, path: path, errno: error.rawValue)
  }

  /// The error for the errno of stat(2) or open(2). A `gone` errno means here that the device was never present.
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

/// The name of the group that may read and write the node; nil if membership would not help, and for root.
private func groupThatMayOpen(_ path: String) -> String? {
  (try? Syscalls.status(ofPath: path))?.groupThatMayOpen
}

extension NodeStatus {
  /// The name of the group that may read and write the node; nil if membership would not help, and for root.
  var groupThatMayOpen: String? {
    let readAndWrite: UInt32 = 0o060
    guard mode & readAndWrite == readAndWrite, group != 0 else { return nil }
    return Syscalls.groupName(group)
  }
}

extension SerialPortError {
  /// The failure of the poller that waits for a port.
  package init(_ error: PollerError) { self.init(error.errno, .wait, "") }
}
