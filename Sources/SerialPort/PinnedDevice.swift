// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import LinuxIO
import SystemPackage

/// A serial line that a user has named to a service with more rights than the user.
///
/// The user may control the links in the named path, and a pseudo-terminal's number belongs to another user after its
/// end. Therefore the path is resolved once, and each opening must reach the same device while the user may open it.
package struct PinnedDevice: Equatable, Sendable {
  /// The path without links.
  package let path: String
  /// The number of the device.
  private let device: UInt64
  private let user: UInt32
  private let groups: [UInt32]

  /// Resolves the name of a device. The device is not opened, so that its modem lines and its other users are unaffected.
  ///
  /// - Throws: ``SerialPortError``: `notFound`; `unsuitable` for everything that is not a serial line; `noPermission` if
  ///   the user may not open it.
  package init(_ name: String, user: UInt32, groups: [UInt32]) throws(SerialPortError) {
    try refuseNUL(name, .open)
    guard let path = FileLookup.resolved(name) else { throw SerialPortError(opening: name, .noSuchFileOrDirectory) }
    let node = try NodeHandle(path)
    guard node.status.isReceiverLine else {
      throw SerialPortError(cause: .unsuitable, operation: .open, path: name, errno: EINVAL)
    }
    guard try node.access().permits(user: user, groups: groups) else {
      throw SerialPortError(cause: .noPermission(group: nil), operation: .open, path: name, errno: EACCES)
    }
    self.path = path
    self.device = node.status.device
    self.user = user
    self.groups = groups
  }

  /// The access of the node at a path; nil if it is not this device.
  package func access(at path: String) -> NodeAccess? {
    guard let node = try? NodeHandle(path), isDevice(node.status) else { return nil }
    return try? node.access()
  }

  /// Opens a path if it leads to this device, and if the user may open it. The checks and the opening concern one inode.
  func open(_ path: String, _ access: SerialPort.Access) throws(SerialPortError) -> OwnedDescriptor {
    let node = try NodeHandle(path)
    guard isDevice(node.status) else {
      throw SerialPortError(malformed: "is not the device that was added; remove it, and add it again", path: path)
    }
    guard try node.access().permits(user: user, groups: groups) else {
      throw SerialPortError(
        malformed: "the user who added it may not open it any more; remove it, and add it again", path: path)
    }
    return try node.open(access)
  }

  private func isDevice(_ status: NodeStatus) -> Bool { status.isReceiverLine && status.device == device }
}

/// A node that is found and not opened; O_PATH of open(2).
private struct NodeHandle: ~Copyable {
  let status: NodeStatus
  private let path: String
  private let descriptor: OwnedDescriptor

  /// - Throws: ``SerialPortError``: `notFound`, also for a link.
  init(_ path: String) throws(SerialPortError) {
    try refuseNUL(path, .open)
    let found = try opening(path) { () throws(Errno) in try Syscalls.open(path, clinux_o_path | O_NOFOLLOW) }
    let status = try opening(path) { () throws(Errno) in try Syscalls.status(of: found.number) }
    self.init(status, path, found)
  }

  private init(_ status: NodeStatus, _ path: String, _ descriptor: consuming OwnedDescriptor) {
    self.status = status
    self.path = path
    self.descriptor = descriptor
  }

  /// The link of the kernel to this inode; proc_pid_fd(5).
  private var link: String { "/proc/self/fd/\(descriptor.number)" }

  func access() throws(SerialPortError) -> NodeAccess {
    try opening(path) { () throws(Errno) in try NodeAccess(ofPath: link) }
  }

  func open(_ access: SerialPort.Access) throws(SerialPortError) -> OwnedDescriptor {
    let direction = access == .readWrite ? O_RDWR : O_RDONLY
    return try opening(path) { () throws(Errno) in try Syscalls.open(link, direction | O_NONBLOCK) }
  }
}

extension NodeStatus {
  /// Whether the kernel has the node as a terminal or a receiver (`/dev/gnss0`). Aliases and multiplexers such as
  /// `/dev/tty` and `/dev/ptmx` (major number 5) do not count; Linux's Documentation/admin-guide/devices.txt.
  fileprivate var isReceiverLine: Bool {
    guard type == .character, major != 5 else { return false }
    // Pseudo-terminals are not in /sys.
    if isPseudoTerminal { return true }
    let subsystem = FileLookup.resolved("/sys/dev/char/\(major):\(minor)/subsystem")
    return ["tty", "gnss"].contains(subsystem?.split(separator: "/").last)
  }
}
