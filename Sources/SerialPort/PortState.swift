import FileSystem
import Glibc
import SystemPackage

/// What can be known of a port without opening it: opening a line raises its modem lines, and some boards reset at that.
public struct PortState: Sendable, Hashable {
  /// The programs that have it: the one with the lock if there is one, else all that have it open, as far as this user
  /// may see them.
  public let holders: [PortHolder]
  /// Whether this user may read and write it.
  public let isPermitted: Bool
  /// The group that the node belongs to and that may read and write it; nil if there is none, or if it is root's.
  public let group: String?
  /// Where this user may not: one line that says what to do.
  public let cure: String?

  /// A state as it was found.
  public init(holders: [PortHolder], isPermitted: Bool, group: String?, cure: String?) {
    self.holders = holders
    self.isPermitted = isPermitted
    self.group = group
    self.cure = cure
  }

  /// Looks at a port. The corresponding C functions are stat(2) and faccessat(2).
  ///
  /// - Throws: ``SerialPortError`` `notFound`, `inputOutput`.
  public init(of path: String) throws(SerialPortError) {
    let node = try opening(path) { () throws(Errno) in try Syscalls.status(ofPath: path) }
    holders = findHolders(of: node)
    isPermitted = Syscalls.mayReadAndWrite(path)
    group = node.groupThatMayOpen
    cure = isPermitted ? nil : SerialPortError(opening: path, Errno.permissionDenied).description
  }
}
