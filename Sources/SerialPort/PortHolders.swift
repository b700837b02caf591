// SPDX-License-Identifier: Apache-2.0

// The programs that use a port: the owner of its lock if there is one, otherwise all programs that have it open.
import LinuxIO

/// The programs that have the node open, including the calling one.
func findHolders(of path: String) -> [PortHolder] {
  guard let node = try? Syscalls.status(ofPath: path) else { return [] }
  return findHolders(of: node)
}

/// The programs that have the node open, without the calling one if there are others.
func otherHolders(of node: NodeStatus) -> [PortHolder] {
  let holders = findHolders(of: node)
  let others = holders.filter { $0.processID != Syscalls.processID }
  return others.isEmpty ? holders : others
}

/// The owner of the node's flock(2); if there is none, every program that has the node open and is visible to this
/// user.
///
/// The owner is preferred because it reads the line: an emulator or a terminal multiplexer may have the other end of
/// the same line.
func findHolders(of node: NodeStatus) -> [PortHolder] {
  if let locks = try? UserFile.read("/proc/locks"), let owner = lockOwner(of: node, inLocks: locks) {
    return [PortHolder(processID: owner, program: programName(of: owner))]
  }
  return processesWithOpenDescriptor(on: node)
}

/// The process of an flock(2) of this node in /proc/locks; nil if there is no lock, or if the process is outside this
/// process namespace (the kernel then writes 0 or a negative number).
func lockOwner(of node: NodeStatus, inLocks locks: String) -> Int32? {
  for line in locks.split(separator: "\n") {
    // proc_locks(5): `1: FLOCK  ADVISORY  WRITE 412 00:18:7 0 EOF`; device in hexadecimal, inode in decimal.
    let fields = line.split(separator: " ")
    guard fields.count >= 6, fields[1] == "FLOCK", let owner = Int32(fields[4]), owner > 0 else { continue }
    let place = fields[5].split(separator: ":")
    guard place.count == 3, let major = UInt32(place[0], radix: 16), let minor = UInt32(place[1], radix: 16),
      let inode = UInt64(place[2])
    else { continue }
    if node.isFile(onMajor: major, minor: minor, inode: inode) { return owner }
  }
  return nil
}

/// The other programs that have a line open and are visible to this user: they read part of its bytes, even without a
/// lock. The process at a pseudo-terminal's other end does not count; it often has both ends open.
///
/// A process that such a process forks has both ends until it executes its program. It may have the slave open when it
/// is found, and neither end when its master is searched; therefore a reader must still have the line open after that.
func findOtherReaders(of node: NodeStatus) -> [PortHolder] {
  guard node.isLine else { return [] }
  let own = Syscalls.processID
  return processesWithOpenDescriptor(on: node).filter { holder in
    if holder.processID == own { return false }
    guard node.isPseudoTerminal else { return true }
    return !isMaster(holder.processID, ofIndex: node.minor) && hasOpen(node, holder.processID)
  }
}

/// Whether the process has the master of this pseudo-terminal open: proc_pid_fdinfo(5), `tty-index` of /dev/ptmx.
private func isMaster(_ processID: Int32, ofIndex index: UInt32) -> Bool {
  let folder = "/proc/\(processID)/fdinfo"
  return FileLookup.names(in: folder).contains { name in
    guard let text = AttributeFile.read("\(folder)/\(name)") else { return false }
    return text.split(separator: "\n").contains { line in
      let words = line.split(whereSeparator: \.isWhitespace)
      return words.count == 2 && words[0] == "tty-index:" && UInt32(words[1]) == index
    }
  }
}

extension NodeStatus {
  /// Whether it can be a line with bytes for one reader: not a memory device such as /dev/null (major number 1), and
  /// not an alias such as /dev/tty (major number 5), according to Linux's Documentation/admin-guide/devices.txt.
  fileprivate var isLine: Bool { type == .character && major != 1 && major != 5 }

  /// Whether it is the slave side of a pseudo-terminal.
  var isPseudoTerminal: Bool { type == .character && (136...143).contains(major) }
}

private func processesWithOpenDescriptor(on node: NodeStatus) -> [PortHolder] {
  FileLookup.names(in: "/proc").compactMap { Int32($0) }.sorted().filter { hasOpen(node, $0) }
    .map { PortHolder(processID: $0, program: programName(of: $0)) }
}

private func hasOpen(_ node: NodeStatus, _ processID: Int32) -> Bool {
  let folder = "/proc/\(processID)/fd"
  return FileLookup.names(in: folder).contains { name in
    // stat(2) through the link in /proc does not open the device.
    (try? Syscalls.status(ofPath: "\(folder)/\(name)"))?.isSame(as: node) ?? false
  }
}

private func programName(of processID: Int32) -> String {
  String((AttributeFile.read("/proc/\(processID)/comm") ?? "").prefix { $0 != "\n" })
}
