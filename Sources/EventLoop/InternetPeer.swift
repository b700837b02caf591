// SPDX-License-Identifier: Apache-2.0

// The other end of a TCP connection on this machine. Each `unsafe` passes a pointer to memory that the call's own frame owns, and no
// pointer leaves a call.
import CLinux
import FileSystem
import Glibc
import SystemPackage

/// The user at the other end of a TCP connection over the loopback interface. TCP does not name it, but the kernel lists the
/// sockets of the machine with their users: proc(5), /proc/net/tcp.
package enum InternetPeer {
  /// Returns the user; nil for a connection from another machine, and for one that the other side has closed.
  package static func user(of descriptor: Int32) -> UInt32? {
    // The kernel finds one socket without the table, whose length other users choose.
    let found = clinux_tcp_user(descriptor)
    if found >= 0 { return UInt32(exactly: found) }
    if Errno(rawValue: Int32(clamping: -found)) == .socketNotConnected { return nil }
    guard let own = unsafe port(of: descriptor, getsockname), let other = unsafe port(of: descriptor, getpeername)
    else {
      return nil
    }
    for (file, address) in [("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")] {
      guard let table = try? UserFile.read("/proc/self/net/\(file)", limit: 1 << 24) else { continue }
      if let user = user(
        inTable: table, local: "\(address):\(hexadecimal(other))", remote: "\(address):\(hexadecimal(own))")
      {
        return user
      }
    }
    return nil
  }

  /// Returns the user of a socket in the text of /proc/net/tcp. A socket that its process has closed has no inode, and the table has
  /// user 0 for it: it counts as gone.
  package static func user(inTable text: String, local: String, remote: String) -> UInt32? {
    for line in text.split(separator: "\n") {
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode; 01 is an open connection.
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[1] == local, fields[2] == remote, fields[3] == "01", fields[9] != "0" else {
        continue
      }
      return UInt32(fields[7])
    }
    return nil
  }

  private static func hexadecimal(_ port: UInt16) -> String {
    let digits = String(port, radix: 16, uppercase: true)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Returns the port of an end of a connection; both families of addresses have it at the same place.
  private static func port(
    of descriptor: Int32, _ end: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> UInt16? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe end(descriptor, $0, &length) }
    }
    let family = Int32(address.sin6_family)
    return code == 0 && (family == AF_INET || family == AF_INET6) ? UInt16(bigEndian: address.sin6_port) : nil
  }
}

/// The users who may open a file, by its owner, group, mode and access control list.
package enum FileAccess {
  /// Whether a user may read and write a file; false if that cannot be found out.
  package static func mayReadAndWrite(_ path: String, user: UInt32) -> Bool {
    if user == 0 { return true }
    return (try? NodeAccess(ofPath: path))?.permits(user: user, groups: groups(of: user)) ?? false
  }

  /// The groups of a user: getgrouplist(3).
  private static func groups(of user: UInt32) -> [UInt32] {
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
