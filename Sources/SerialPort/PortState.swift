// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// The state of a port without opening it: opening a line raises its modem lines, which resets some boards.
public struct PortState: Sendable, Hashable {
  /// The programs that use it: the owner of the lock if there is one, otherwise all programs that have it open and are
  /// visible to this user.
  public let holders: [PortHolder]
  /// Whether this user may read and write it.
  public let isPermitted: Bool
  /// The group of the node if its members may read and write it; nil if there is no such group, and for root's.
  public let group: String?
  /// One line with the next step if this user may not open it.
  public let cure: String?

  public init(holders: [PortHolder], isPermitted: Bool, group: String?, cure: String?) {
    self.holders = holders
    self.isPermitted = isPermitted
    self.group = group
    self.cure = cure
  }

  /// Reads the state of a port. The corresponding C functions are stat(2) and faccessat(2).
  ///
  /// - Throws: ``SerialPortError`` `notFound`, `inputOutput`.
  public init(of path: String) throws(SerialPortError) {
    let node = try opening(path) { () throws(Errno) in try Syscalls.status(ofPath: path) }
    holders = findHolders(of: node)
    isPermitted = Syscalls.mayReadAndWrite(path)
    group = node.groupThatMayOpen
    cure = Self.cure(of: path, isPermitted: isPermitted)
  }

  /// Returns ``cure`` without a search for the programs that use the port: that search reads the descriptors of all
  /// processes.
  ///
  /// - Throws: the errors of ``init(of:)``.
  package static func cure(of path: String) throws(SerialPortError) -> String? {
    _ = try opening(path) { () throws(Errno) in try Syscalls.status(ofPath: path) }
    return cure(of: path, isPermitted: Syscalls.mayReadAndWrite(path))
  }

  private static func cure(of path: String, isPermitted: Bool) -> String? {
    isPermitted ? nil : SerialPortError(opening: path, Errno.permissionDenied).description
  }
}
