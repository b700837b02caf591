// SPDX-License-Identifier: Apache-2.0

// The process at the other end of a socket. Each `unsafe` passes a pointer to memory that the call's frame owns, and no
// pointer escapes a call.
import CLinux
import Glibc
import SystemPackage

/// The process at the other end of a socket, as reported by the kernel: SO_PEERCRED in unix(7).
package struct PeerCredentials: Hashable, Sendable {
  package let process: Int32
  package let user: UInt32
  package let group: UInt32
}

/// The process that has connected, while its folder in /proc is read: process ids are reused. Linux 6.5 and later pin
/// the process itself (SO_PEERPIDFD in unix(7), pidfd_open(2)).
package struct PeerProcess: ~Copyable {
  /// Nil if the kernel does not support it.
  private let descriptor: OwnedDescriptor?

  fileprivate init(_ descriptor: consuming OwnedDescriptor?) { self.descriptor = consume descriptor }

  /// Whether the process still exists, so that its id was not reused; nil if the kernel does not report it.
  package var isRunning: Bool? {
    switch descriptor {
    case .some(let descriptor):
      // A process that has ended is readable.
      var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&entry, 1, 0) == 0
    case nil: return nil
    }
  }
}

extension UnixSocket {
  /// The process at the other end when it connected; nil if the socket has none.
  package var peer: PeerCredentials? {
    var peer = clinux_peer()
    guard unsafe clinux_get_peer(descriptor, &peer) == 0 else { return nil }
    return PeerCredentials(process: peer.process, user: peer.user, group: peer.group)
  }

  /// Returns the process at the other end; nil if it has ended and was waited for.
  package func peerProcess() -> PeerProcess? {
    let found = clinux_get_peer_process(descriptor)
    if found >= 0 { return PeerProcess(OwnedDescriptor(found)) }
    return Errno(rawValue: -found) == .noSuchProcess ? nil : PeerProcess(nil)
  }

  /// Returns the number of the other end's inode, which is also in /proc/PID/fdinfo of each process that has it open (proc(5));
  /// nil if the other end is closed.
  ///
  /// - Throws: `Errno` if the kernel does not report it.
  package func peerInode() throws(Errno) -> UInt64? {
    let found = clinux_peer_inode(descriptor)
    if found < 0 { throw Errno(rawValue: Int32(-found)) }
    return found > 0 ? UInt64(found) : nil
  }
}
