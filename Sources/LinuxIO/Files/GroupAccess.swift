// SPDX-License-Identifier: Apache-2.0

// Files for the members of a group. Each `unsafe` passes a pointer to memory that the call's frame owns, and no pointer
// escapes a call.
import Glibc
import SystemPackage

/// The groups of the system; group(5).
package enum GroupDatabase {
  /// Returns the number of a group; nil if no group has this name. getgrnam_r(3).
  package static func number(of name: String) -> UInt32? {
    var entry = unsafe group()
    var found: UnsafeMutablePointer<group>?
    var strings = [CChar](repeating: 0, count: 16_384)
    let code = unsafe getgrnam_r(name, &entry, &strings, strings.count, &found)
    return unsafe code == 0 && found != nil ? entry.gr_gid : nil
  }
}

extension Syscalls {
  /// Lets the members of a group read and write a file of this process. fchownat(2) without following a link, chmod(2).
  ///
  /// - Throws: `Errno` if the process may not give the file to the group; its permissions are then unchanged.
  package static func share(_ path: String, withGroup group: UInt32) throws(Errno) {
    _ = try retryOnInterrupt { unsafe fchownat(AT_FDCWD, path, .max, group, AT_SYMLINK_NOFOLLOW) }
    _ = try retryOnInterrupt { unsafe chmod(path, 0o660) }
  }
}
