// SPDX-License-Identifier: Apache-2.0
import CLinux
import SystemPackage

/// The permission to read and write a node, from its owner, its group and its access control list. acl(5).
package struct NodeAccess: Equatable, Sendable {
  package var owner: UInt32
  package var group: UInt32
  /// The permission bits.
  package var mode: UInt32
  /// The entries of its access control list; empty if there is none.
  var entries: [Entry] = []

  /// An entry of an access control list: linux/posix_acl_xattr.h.
  struct Entry: Equatable {
    enum Tag: UInt16 { case owner = 0x01, user = 0x02, owningGroup = 0x04, group = 0x08, mask = 0x10, others = 0x20 }
    var tag: Tag
    var permissions: UInt16
    var identifier: UInt32
  }

  package init(owner: UInt32, group: UInt32, mode: UInt32, list: [UInt8] = []) {
    self.owner = owner
    self.group = group
    self.mode = mode
    entries = Self.entries(list)
  }

  /// Reads the access of a node. stat(2), getxattr(2).
  package init(ofPath path: String) throws(Errno) {
    let status = try Syscalls.status(ofPath: path)
    self.init(
      owner: status.owner, group: status.group, mode: status.mode,
      list: Syscalls.attribute("system.posix_acl_access", ofPath: path) ?? [])
  }

  /// Reads the access of an opened file, also of one without a path.
  package init(of descriptor: Int32) throws(Errno) { try self.init(ofPath: "/proc/self/fd/\(descriptor)") }

  /// Whether a user with these groups may read and write the node. path_resolution(7), acl(5) "Access check algorithm".
  package func permits(user: UInt32, groups: [UInt32]) -> Bool {
    let wanted: UInt16 = 6
    func has(_ permissions: UInt16) -> Bool { permissions & wanted == wanted }
    if user == 0 { return true }
    if user == owner { return has(UInt16(truncatingIfNeeded: mode >> 6 & 7)) }
    let middle = UInt16(truncatingIfNeeded: mode >> 3 & 7)
    let others = UInt16(truncatingIfNeeded: mode & 7)
    guard !entries.isEmpty else { return has(groups.contains(group) ? middle : others) }
    let mask = entries.first { $0.tag == .mask }?.permissions ?? 7
    if let entry = entries.first(where: { $0.tag == .user && $0.identifier == user }) {
      return has(entry.permissions & mask)
    }
    let ofGroups = entries.filter { entry in
      entry.tag == .owningGroup && groups.contains(group)
        || entry.tag == .group && groups.contains(entry.identifier)
    }
    return ofGroups.isEmpty ? has(others) : ofGroups.contains { has($0.permissions & mask) }
  }

  /// The group whose members may read and write the node; nil if there is none, and for root's group.
  package var permittedGroup: UInt32? { mode & 0o060 == 0o060 && group != 0 ? group : nil }

  /// Reads version 2 of the attribute: the version, then entries of 8 bytes, little-endian.
  private static func entries(_ list: [UInt8]) -> [Entry] {
    func number(_ at: Int, _ size: Int) -> UInt32 {
      (0..<size).reduce(0) { $0 | UInt32(list[at + $1]) << UInt32(8 * $1) }
    }
    guard list.count >= 4, number(0, 4) == 2 else { return [] }
    return stride(from: 4, through: list.count - 8, by: 8).compactMap { at in
      Entry.Tag(rawValue: UInt16(number(at, 2))).map {
        Entry(tag: $0, permissions: UInt16(number(at + 2, 2)), identifier: number(at + 4, 4))
      }
    }
  }
}

extension Syscalls {
  /// Returns an extended attribute of at most 4 kB; nil if it is absent. The corresponding C function is getxattr(2).
  static func attribute(_ name: String, ofPath path: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe getxattr(path, name, $0.baseAddress, $0.count) }
    return count < 0 ? nil : Array(bytes[..<count])
  }
}
