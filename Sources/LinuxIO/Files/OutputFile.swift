// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// A file that is written incrementally: existing content is kept, and only one program at a time writes to it.
package final class OutputFile: Sendable {
  package let path: String
  package let isRegular: Bool
  /// Whether the file did not exist before it was opened.
  package let isNew: Bool
  private let descriptor: OwnedDescriptor

  /// Opens a file that the user named at its end, and creates it if it does not exist: by default accessible only to
  /// this user, because positions are private.
  package convenience init(_ path: String, permissions: UInt32 = 0o600) throws(FileError) {
    do throws(Errno) {
      self.init(path, try Syscalls.open(path, OpenFlags.newRecordingForUser, permissions: permissions), isNew: true)
      return
    } catch {
      if error != .fileExists { throw FileError(path, error) }
    }
    self.init(
      path,
      try naming(path) { () throws(Errno) in
        try Syscalls.open(path, OpenFlags.recordingForUser, permissions: permissions)
      })
  }

  /// Standard output as an output file.
  package static func standardOutput() throws(FileError) -> OutputFile {
    let path = "standard output"
    return OutputFile(
      path, try naming(path) { () throws(Errno) in try Syscalls.duplicate(Syscalls.standardOutput) })
  }

  private init(_ path: String, _ descriptor: consuming OwnedDescriptor, isNew: Bool = false) {
    self.path = path
    self.isNew = isNew
    isRegular = (try? Syscalls.status(of: descriptor.number))?.type == .regular
    self.descriptor = descriptor
  }

  /// Locks the file for this program; false if another program has locked it. A file system without locks is not an
  /// obstacle.
  package func lock() -> Bool {
    do throws(Errno) { try Syscalls.lockExclusively(descriptor.number) } catch { return error != .wouldBlock }
    return true
  }

  /// Unlocks the file for other programs, even while a sync or a child process still has it open.
  package func unlock() { try? Syscalls.unlock(descriptor.number) }

  /// Bytes.
  package func size() throws(FileError) -> UInt64 {
    try naming(path) { () throws(Errno) in try Syscalls.status(of: descriptor.number).size }
  }

  /// Continues to read after the last position, into the beginning of `buffer`; 0 at the end.
  package func read(into buffer: inout [UInt8]) throws(FileError) -> Int {
    do { return try Syscalls.read(descriptor.number, into: &buffer) } catch { throw FileError(path, error) }
  }

  /// Writes at the end; returns the number of written bytes.
  package func write(_ bytes: RawSpan) throws(FileError) -> Int {
    do { return try Syscalls.write(descriptor.number, bytes) } catch { throw FileError(path, error) }
  }

  /// Truncates the file at a position.
  package func cut(to length: UInt64) throws(FileError) {
    guard isRegular else { return }
    try naming(path) { () throws(Errno) in try Syscalls.truncate(descriptor.number, to: length) }
  }

  /// Flushes the content to the disk. This may take seconds.
  package func sync() throws(FileError) {
    try naming(path) { () throws(Errno) in try Syscalls.syncData(descriptor.number) }
  }

  /// Deletes the file if this value has created it and its name still leads to it.
  package func removeIfNew() {
    if isNew, let status = try? Syscalls.status(of: descriptor.number) { NamedFile(path, status).remove() }
  }

  /// Renames a file within its folder.
  package static func rename(_ path: String, to newPath: String) throws(FileError) {
    try naming(path) { () throws(Errno) in try Syscalls.rename(path, to: newPath) }
  }

  /// Flushes the name of a file to the disk.
  package static func syncName(of path: String) {
    guard let folder = try? Syscalls.open(FileLookup.split(path).folder, OpenFlags.path) else { return }
    syncFolder(folder.number)
  }
}

/// The end of the standard output's file.
package enum StandardOutput {
  /// The file behind standard output; nil if that is not a regular file.
  package static var file: (device: UInt64, inode: UInt64, size: UInt64)? {
    guard let status = try? Syscalls.status(of: Syscalls.standardOutput), status.type == .regular else { return nil }
    return (status.fileSystem, status.inode, status.size)
  }

  /// The last bytes of that file; empty if it is shorter or cannot be read.
  package static func last(_ count: Int) -> [UInt8] {
    // A redirection opens the file for writing only.
    guard let size = file?.size, size >= UInt64(count),
      let copy = try? Syscalls.open("/proc/self/fd/\(Syscalls.standardOutput)", OpenFlags.read),
      let bytes = try? Syscalls.read(copy.number, count: count, at: size - UInt64(count))
    else { return [] }
    return bytes.count == count ? bytes : []
  }
}
