// SPDX-License-Identifier: Apache-2.0
import EventLoop
import FileSystem
import Glibc
import SystemPackage

/// Whether the program that a process executes now has opened its connection.
///
/// A process may connect, pass a copy of the connection on and execute another program (execve(2)) before the service looks its
/// executable up: that program would have the permission, and the first one the locations. A descriptor that is closed on exec
/// (O_CLOEXEC) cannot come from an earlier program of the process. So the process has to have the connection's other end open in this
/// way. This holds for a number of a process that was used again, too.
enum OpenedConnection {
  /// The largest number of descriptors that are looked at; the lowest first.
  static let descriptorLimit = 1024

  /// Whether the kernel reports the other end of a connection: Linux 5.14 and later with CONFIG_UNIX_DIAG. It is found out at the start
  /// of the service, while descriptors are left.
  static let isReported: Bool = {
    var ends: [Int32] = [-1, -1]
    // The call's own frame owns the two numbers.
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return false }
    let one = UnixSocket(adopting: ends[0])
    let other = UnixSocket(adopting: ends[1])
    let text = AttributeFile.read("/proc/self/fdinfo/\(other.descriptor)")
    guard let found = text.flatMap({ DescriptorInformation($0) }) else { return false }
    return (try? one.peerInode()) == found.inode
  }()

  /// Returns false if another program may have opened the connection. Where the kernel does not report it, the result is
  /// true. So it is for a process without visible descriptors, which may have ended.
  static func isOwn(_ socket: borrowing UnixSocket, of process: Int32) -> Bool {
    guard isReported else { return true }
    // A socket that was made in another network namespace is not listed.
    guard let inode = try? socket.peerInode() else { return false }
    let folder = "/proc/\(process)/fdinfo"
    let numbers = FileLookup.names(in: folder).compactMap { Int32($0) }.sorted().prefix(descriptorLimit)
    return numbers.isEmpty
      || numbers.contains { number in
        guard let text = AttributeFile.read("\(folder)/\(number)"), let found = DescriptorInformation(text) else {
          return false
        }
        return found.inode == inode && found.isClosedOnExec
      }
  }
}

/// The content of /proc/PID/fdinfo/N (proc(5)).
struct DescriptorInformation: Equatable {
  var inode: UInt64
  var isClosedOnExec: Bool

  /// Nil without the inode, which Linux has since 5.14.
  init?(_ text: String) {
    var values: [Substring: Substring] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count == 2 { values[words[0]] = words[1] }
    }
    guard let inode = values["ino:"].flatMap({ UInt64($0) }),
      let flags = values["flags:"].flatMap({ Int32($0, radix: 8) })
    else { return nil }
    self.inode = inode
    isClosedOnExec = flags & O_CLOEXEC != 0
  }
}
