// SPDX-License-Identifier: Apache-2.0

// Opening a node: the direction for its type, rejected types, and the exclusive lock.
import Glibc
import LinuxIO
import SystemPackage

/// Opens the node without waiting for a carrier, not as the controlling terminal, and closed in child programs.
///
/// - Parameter pin: the device that the path must lead to; nil for any.
func openNode(
  _ path: String, _ access: SerialPort.Access, _ pin: PinnedDevice?
) throws(SerialPortError) -> OwnedDescriptor {
  if let pin { return try pin.open(path, access) }
  try refuseNUL(path, .open)
  let flags = O_NOCTTY | O_CLOEXEC | O_NONBLOCK
  // The type is checked first: a socket or a block device must not be opened at all.
  let node = try opening(path) { () throws(Errno) in try Syscalls.status(ofPath: path) }
  try refuseUnsuitable(node, path)
  return try opening(path) { () throws(Errno) in
    switch node.type {
    case .fifo where !Syscalls.isAnonymousPipe(path):
      // With its own writing end, a reader never reaches the end of the FIFO (fifo(7)), as with a serial line.
      do throws(Errno) {
        return try Syscalls.open(path, O_RDWR | flags)
      } catch  where error == .permissionDenied {
        return try Syscalls.open(path, O_RDONLY | flags)
      }
    case .character where access == .readWrite:
      return try Syscalls.open(path, O_RDWR | flags)
    default:
      return try Syscalls.open(path, O_RDONLY | flags)
    }
  }
}

/// Rejects nodes without a byte stream.
func refuseUnsuitable(_ node: NodeStatus, _ path: String) throws(SerialPortError) {
  switch node.type {
  case .character, .fifo, .regular: return
  case .directory: throw SerialPortError(cause: .directory, operation: .open, path: path, errno: EISDIR)
  case .block, .socket, .link, .other:
    throw SerialPortError(cause: .unsuitable, operation: .open, path: path, errno: EINVAL)
  }
}

/// Returns the settings of a terminal; nil if the descriptor is not a terminal.
func lineSettings(of descriptor: Int32) throws(Errno) -> LineSettings? {
  do throws(Errno) {
    return try LineSettings(of: descriptor)
  } catch  where error.meansNoTerminal {
    return nil
  }
}

/// Locks the port exclusively: two readers of one line would get half the bytes each.
///
/// flock(2) excludes the programs that use it, and TIOCEXCL (ioctl_tty(2)) all others without privileges. A
/// pseudo-terminal gets only the lock: its exclusive mode would outlive a killed reader for as long as the program at
/// the other end runs, and exclude the next reader.
func lockExclusively(
  _ descriptor: Int32, _ path: String, _ node: NodeStatus, _ kind: SerialPort.Kind
) throws(SerialPortError) {
  // A privileged open succeeds despite the exclusive mode of another program, so the mode is checked.
  if kind.hasLineSettings && Syscalls.isExclusive(descriptor) {
    throw SerialPortError(cause: .held(by: otherHolders(of: node)), operation: .lock, path: path, errno: EBUSY)
  }
  do {
    try Syscalls.lockExclusively(descriptor)
    if kind == .terminal { try Syscalls.setExclusive(descriptor, true) }
  } catch {
    if error == .wouldBlock {
      throw SerialPortError(
        cause: .held(by: findHolders(of: node)), operation: .lock, path: path, errno: error.rawValue)
    }
    // Some file systems have no locks; a port on these is used without a lock.
    if ![.noLocks, .notSupportedOnSocket, .noFunction].contains(error) {
      throw SerialPortError(error, .lock, path)
    }
  }
}
