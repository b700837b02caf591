// How a node is opened: the direction that its type asks for, what is refused, and how it is taken alone.
import FileSystem
import Glibc
import SystemPackage

/// Opens the node without waiting for a carrier, without making it the controlling terminal, closed in child programs.
func openNode(_ path: String, _ access: SerialPort.Access) throws(SerialPortError) -> OwnedDescriptor {
  try refuseNUL(path, .open)
  let flags = O_NOCTTY | O_CLOEXEC | O_NONBLOCK
  // The type is looked at first: a socket or a block device must not even be opened.
  let node = try opening(path) { () throws(Errno) in try Syscalls.status(ofPath: path) }
  try refuseUnsuitable(node, path)
  return try opening(path) { () throws(Errno) in
    switch node.type {
    case .fifo where !Syscalls.isAnonymousPipe(path):
      // With a writing end of its own, a reader never sees the end of the FIFO (fifo(7)), as a serial line has none.
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

/// Refuses what carries no byte stream.
func refuseUnsuitable(_ node: NodeStatus, _ path: String) throws(SerialPortError) {
  switch node.type {
  case .character, .fifo, .regular: return
  case .directory: throw SerialPortError(cause: .directory, operation: .open, path: path, errno: EISDIR)
  case .block, .socket, .link, .other:
    throw SerialPortError(cause: .unsuitable, operation: .open, path: path, errno: EINVAL)
  }
}

/// The settings of a terminal; nil if the descriptor is none.
func lineSettings(of descriptor: Int32) throws(Errno) -> LineSettings? {
  do throws(Errno) {
    return try LineSettings(of: descriptor)
  } catch  where error.saysNoTerminal {
    return nil
  }
}

/// Keeps other readers away: two readers of one line get half the bytes each.
///
/// flock(2) keeps away the programs that ask for it, and TIOCEXCL (ioctl_tty(2)) all others that are not privileged.
/// A pseudo-terminal gets the lock alone: its exclusive mode outlives a reader that was killed, for as long as the
/// program at the other end runs, and would then keep the next reader out.
func lockExclusively(
  _ descriptor: Int32, _ path: String, _ node: NodeStatus, _ kind: SerialPort.Kind
) throws(SerialPortError) {
  // A privileged open succeeds in spite of another program's exclusive mode, which is to be respected nevertheless.
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
    // Some file systems have no locks; a port on one of them is used without.
    if ![.noLocks, .notSupportedOnSocket, .noFunction].contains(error) {
      throw SerialPortError(error, .lock, path)
    }
  }
}
