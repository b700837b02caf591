// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage
import WireBytes

/// Checks that the program that a process executes now has opened its connection.
///
/// A process may connect, pass a copy of the connection on and execute another program (execve(2)) before the service
/// looks up its executable: the second program would have the permission, and the first one would receive the
/// locations. A descriptor that is closed on exec (O_CLOEXEC) cannot come from an earlier program of the process.
/// Therefore the process must have the connection's other end open with this flag. The check also covers reused process
/// ids.
enum OpenedConnection {
  /// The number of descriptors that are checked, and the number of the lowest and of the highest of them.
  static let descriptorLimit = 2048
  static let checkedAtEachEnd = 1024

  /// Whether the kernel reports the other end of a connection: Linux 5.14 and later with CONFIG_UNIX_DIAG. Determined
  /// at the start of the service, while descriptors are available.
  static let isReported: Bool = {
    var ends: [Int32] = [-1, -1]
    // The call's frame owns the two numbers.
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return false }
    let one = UnixSocket(adopting: ends[0])
    let other = UnixSocket(adopting: ends[1])
    let text = AttributeFile.read("/proc/self/fdinfo/\(other.descriptor)")
    guard let found = text.flatMap({ DescriptorInformation($0) }) else { return false }
    return (try? one.peerInode()) == found.inode
  }()

  /// Returns the reason not to trust the process: another program may have opened the connection, or the kernel does not
  /// show who has; also if the process has no descriptors. Returns nil for a trusted one, and if the kernel does not report
  /// the other end.
  static func refusal(_ socket: borrowing UnixSocket, of process: Int32) -> PeerExecutable.Reason? {
    guard isReported else { return nil }
    let inode: UInt64?
    do throws(Errno) { inode = try socket.peerInode() } catch {
      // A socket created in another network namespace is not listed.
      return error == .noSuchFileOrDirectory ? .namespace : .connection
    }
    let folder = "/proc/\(process)/fdinfo"
    let numbers = FileLookup.names(in: folder).compactMap { Int32($0) }.sorted()
    let isFound = checked(numbers).contains { number in
      guard let text = AttributeFile.read("\(folder)/\(number)"), let found = DescriptorInformation(text) else {
        return false
      }
      return found.inode == inode && found.isClosedOnExec
    }
    if isFound { return nil }
    return numbers.count > descriptorLimit ? .descriptors : .connection
  }

  /// Returns the descriptors to check: a program has usually opened its connection as one of the first or of the last.
  static func checked(_ numbers: [Int32]) -> ArraySlice<Int32> {
    numbers.count > descriptorLimit
      ? numbers.prefix(checkedAtEachEnd) + numbers.suffix(checkedAtEachEnd) : numbers[...]
  }
}

/// The content of /proc/PID/fdinfo/N (proc(5)).
struct DescriptorInformation: Equatable {
  var inode: UInt64
  var isClosedOnExec: Bool

  /// Returns nil if the inode is missing, which Linux reports since 5.14.
  init?(_ text: String) {
    var values: [Substring: Substring] = [:]
    for line in text.lines {
      let words = line.words
      if words.count == 2 { values[words[0]] = words[1] }
    }
    guard let inode = values["ino:"].flatMap({ UInt64($0) }),
      let flags = values["flags:"].flatMap({ Int32($0, radix: 8) })
    else { return nil }
    self.inode = inode
    isClosedOnExec = flags & O_CLOEXEC != 0
  }
}
