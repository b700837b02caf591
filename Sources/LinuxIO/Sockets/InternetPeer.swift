// SPDX-License-Identifier: Apache-2.0

// The other end of a TCP connection on this machine. Each `unsafe` passes a pointer to memory that the call's frame
// owns, and no pointer escapes a call.
import CLinux
import Glibc
import SystemPackage

/// The user at the other end of a TCP connection on this machine. TCP does not identify it, but the kernel lists the
/// sockets of the machine with their users: proc(5), /proc/net/tcp. The other end is on this machine only if the whole
/// pair of addresses is listed there: the same port at another address, such as 127.0.0.2, is another socket.
package enum InternetPeer: Equatable, Sendable {
  case user(UInt32)
  /// The other end is on this machine, and its process has closed it: its user is not known any more.
  case unknownUser
  /// Another machine, or another network namespace of this one.
  case remote

  /// The other end of a connection, for callers that admit other machines: a user of this one who is not known is not remote.
  package init(of descriptor: Int32) {
    if let user = Self.user(of: descriptor) {
      self = .user(user)
    } else if let other = unsafe Self.end(of: descriptor, getpeername), !other.isOnThisMachine {
      self = .remote
    } else {
      self = .unknownUser
    }
  }

  /// Returns the user; nil for a connection from another machine or network namespace, and for one that the other side has closed.
  package static func user(of descriptor: Int32) -> UInt32? {
    // The kernel finds one socket without the table, whose length other users control.
    let found = clinux_tcp_user(descriptor)
    if found >= 0 { return UInt32(exactly: found) }
    if Errno(rawValue: Int32(clamping: -found)) == .socketNotConnected { return nil }
    guard let own = unsafe end(of: descriptor, getsockname), let other = unsafe end(of: descriptor, getpeername) else {
      return nil
    }
    for (file, addresses) in [("tcp", \InternetEnd.version4), ("tcp6", \InternetEnd.version6)] {
      guard let table = try? UserFile.read("/proc/self/net/\(file)", limit: 1 << 24),
        let local = other[keyPath: addresses], let remote = own[keyPath: addresses]
      else { continue }
      if let user = user(inTable: table, local: local, remote: remote) { return user }
    }
    return nil
  }

  /// Returns the user of a socket in the text of /proc/net/tcp. A socket that its process has closed has no inode, and
  /// the table lists user 0 for it: it counts as closed. One that it has only shut down for writing still has its user.
  package static func user(inTable text: String, local: String, remote: String) -> UInt32? {
    for line in text.split(separator: "\n") {
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode.
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[1] == local, fields[2] == remote, fields[9] != "0" else {
        continue
      }
      return UInt32(fields[7])
    }
    return nil
  }

  /// Returns an end of a connection; nil for another family of addresses.
  private static func end(
    of descriptor: Int32, _ end: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> InternetEnd? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe end(descriptor, $0, &length) }
    }
    guard code == 0 else { return nil }
    // The port is at the same offset in both families, and the IPv4 address is at the offset of the IPv6 flow label.
    let port = UInt16(bigEndian: address.sin6_port)
    switch Int32(address.sin6_family) {
    case AF_INET:
      let bytes = unsafe withUnsafeBytes(of: &address.sin6_flowinfo) { unsafe Array($0) }
      return InternetEnd(address: bytes, port: port)
    case AF_INET6:
      let bytes = unsafe withUnsafeBytes(of: &address.sin6_addr) { unsafe Array($0) }
      return InternetEnd(address: bytes, port: port)
    default: return nil
    }
  }
}

/// An end of a TCP connection in the form of /proc/net/tcp and tcp6: the words of the address in the byte order of the
/// machine, in hexadecimal digits.
package struct InternetEnd: Equatable, Sendable {
  /// The bytes of the IPv6 address; IPv4 addresses are mapped (RFC 4291, 2.5.5.2), as for a socket of both families.
  private let bytes: [UInt8]
  private let port: UInt16

  /// - Parameter address: four or sixteen bytes, in network byte order.
  package init(address: [UInt8], port: UInt16) {
    bytes = address.count == 4 ? Self.mapped + address : address
    self.port = port
  }

  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

  /// Whether it is an address of this machine: of the loopback network, or of an interface.
  package var isOnThisMachine: Bool {
    let isLoopback = bytes.starts(with: Self.mapped) ? bytes[12] == 127 : bytes == Self.loopback
    return isLoopback || InternetInterfaces.addresses().contains { InternetEnd(address: $0, port: port) == self }
  }

  private static let loopback: [UInt8] = Array(repeating: 0, count: 15) + [1]

  /// The form in /proc/net/tcp; nil for an address that is only IPv6.
  package var version4: String? { bytes.starts(with: Self.mapped) ? text(bytes[12...]) : nil }

  /// The form in /proc/net/tcp6. An IPv6 socket that is connected over IPv4 has the mapped address.
  package var version6: String? { text(bytes[...]) }

  private func text(_ bytes: ArraySlice<UInt8>) -> String {
    var text = ""
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 4) {
      let word = UInt32(bigEndian: bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
      text += Self.digits(UInt64(word), 8)
    }
    return text + ":" + Self.digits(UInt64(port), 4)
  }

  private static func digits(_ value: UInt64, _ count: Int) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: count - digits.count) + digits
  }
}

/// The users who may open a file, from its owner, group, mode and access control list.
package enum FileAccess {
  /// Whether a user may read and write a file; false if that cannot be determined.
  package static func mayReadAndWrite(_ path: String, user: UInt32) -> Bool {
    if user == 0 { return true }
    return (try? NodeAccess(ofPath: path))?.permits(user: user, groups: groups(of: user)) ?? false
  }

  /// The groups of a user: getgrouplist(3).
  package static func groups(of user: UInt32) -> [UInt32] {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16_384)
    guard unsafe getpwuid_r(user, &entry, &text, text.count, &found) == 0, unsafe found != nil else { return [] }
    var count: Int32 = 256
    var groups = [gid_t](repeating: 0, count: Int(count))
    guard unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return [] }
    return Array(groups.prefix(Int(count)))
  }
}
