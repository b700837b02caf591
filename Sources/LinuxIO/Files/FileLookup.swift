// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Questions about paths. Symbolic links are followed.
package enum FileLookup {
  /// Whether there is anything at a path, if this user may see it. The corresponding C function is access(2).
  package static func exists(_ path: String) -> Bool { Syscalls.exists(path) }

  /// Whether there is a regular file.
  package static func isRegularFile(_ path: String) -> Bool {
    (try? Syscalls.status(ofPath: path))?.type == .regular
  }

  /// Whether a symbolic link, on the way to a path that does not exist or at its end, has a target that does not exist.
  package static func leadsNowhere(_ path: String) -> Bool {
    var part = FilePath(path)
    while !part.isEmpty {
      if let status = try? Syscalls.status(ofPath: part.string, ofLink: true) {
        return status.type == .link && isAbsent(part.string)
      }
      if !part.removeLastComponent() { return false }
    }
    return false
  }

  /// Whether nothing is at a path, or its links lead in a circle. A folder on the way that may not be entered does not show that.
  private static func isAbsent(_ path: String) -> Bool {
    do throws(Errno) {
      _ = try Syscalls.status(ofPath: path)
      return false
    } catch {
      return error == .noSuchFileOrDirectory || error == .tooManySymbolicLinkLevels
    }
  }

  /// The names in a folder without `.` and `..`, sorted; empty if it cannot be listed.
  package static func names(in folder: String) -> [String] {
    guard let descriptor = try? Syscalls.open(folder, OpenFlags.path) else { return [] }
    return ((try? Syscalls.names(in: descriptor.number)) ?? []).sorted()
  }

  /// Returns the absolute path without symbolic links; nil if the path does not exist.
  package static func resolved(_ path: String) -> String? { Syscalls.resolved(path) }

  /// The identity of a file, independent of its paths.
  package struct Identity: Hashable, Sendable {
    var fileSystem: UInt64
    var inode: UInt64
  }

  /// The file that a path leads to; nil if it does not exist. The corresponding C function is stat(2).
  package static func identity(_ path: String) -> Identity? {
    (try? Syscalls.status(ofPath: path)).map { Identity(fileSystem: $0.fileSystem, inode: $0.inode) }
  }

  /// The same; nil only if there is no file at the path.
  ///
  /// - Throws: `Errno` for a path that may not be looked up.
  package static func identity(ofFileAt path: String) throws(Errno) -> Identity? {
    do throws(Errno) {
      let status = try Syscalls.status(ofPath: path)
      return Identity(fileSystem: status.fileSystem, inode: status.inode)
    } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
      throw error
    }
  }

  /// Whether two paths lead to the same file.
  package static func areSame(_ path: String, _ other: String) -> Bool {
    identity(path).map { $0 == identity(other) } ?? false
  }

  /// The identity, the size and the modification time of the file at a path. A different value means different content.
  package struct Mark: Hashable, Sendable {
    private let fileSystem: UInt64
    private let inode: UInt64
    private let size: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: NodeStatus) {
      (fileSystem, inode, size) = (status.fileSystem, status.inode, status.size)
      (seconds, nanoseconds) = status.modified
    }
  }

  /// The mark of a file; nil if it does not exist. The corresponding C function is stat(2).
  package static func mark(_ path: String) -> Mark? {
    (try? Syscalls.status(ofPath: path)).map(Mark.init)
  }

  /// Splits a path into its folder and the name in it. The folder of a plain name is `.`.
  static func split(_ path: String) -> (folder: String, name: String) {
    let path = FilePath(path)
    let folder = path.removingLastComponent().string
    return (folder.isEmpty ? "." : folder, path.lastComponent?.string ?? ".")
  }
}

/// The complete content of a file.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Reads a regular file from its start. The size that the system states is not used: files of /proc and /sys state 0.
///
/// - Parameter descriptor: open for reading without blocking.
func readWhole(_ descriptor: borrowing OwnedDescriptor, _ path: String, limit: Int) throws(FileError) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 16_384)
  while true {
    let count: Int
    do { count = try Syscalls.read(descriptor.number, into: &buffer) } catch { throw FileError(path, error) }
    if count == 0 { return bytes }
    bytes += buffer[..<count]
    if bytes.count > limit { throw FileError(path, .longerThan(bytes: limit)) }
  }
}

/// Rejects everything except regular files. Opening a device or a FIFO has side effects, so this is also checked before
/// opening.
func requireRegular(_ status: NodeStatus, _ path: String) throws(FileError) {
  switch status.type {
  case .regular: return
  case .directory: throw FileError(path, .isDirectory)
  case .link: throw FileError(path, .link)
  default: throw FileError(path, .notRegular)
  }
}
