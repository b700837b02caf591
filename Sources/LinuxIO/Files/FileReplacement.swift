// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Replaces a file of an open folder in one step, so that it survives a loss of power: the file and its new name are flushed to
/// the disk. The temporary file has the name of the file, a dot and the id of this
/// process. It must be new: an existing one was left by a killed process.
///
/// - Parameter owner: the user and group that get the file; nil for the ones of this process.
func replaceFile(
  _ name: String, in folder: Int32, with bytes: [UInt8], permissions: UInt32,
  owner: (user: UInt32, group: UInt32)?
) throws(Errno) {
  let temporary = "\(name).\(Syscalls.processID)"
  do throws(Errno) {
    let file = try create(temporary, in: folder, permissions)
    try unsafe Syscalls.writeAll(file.number, bytes.span.bytes)
    if let owner { try Syscalls.changeOwner(file.number, to: owner.user, owner.group) }
    try Syscalls.sync(file.number)
    try Syscalls.rename(temporary, to: name, in: folder)
  } catch {
    try? Syscalls.unlink(temporary, in: folder)
    throw error
  }
  syncFolder(folder)
}

private func create(_ name: String, in folder: Int32, _ permissions: UInt32) throws(Errno) -> OwnedDescriptor {
  do throws(Errno) {
    return try Syscalls.open(name, OpenFlags.create, permissions: permissions, in: folder)
  } catch {
    guard error == .fileExists else { throw error }
    try Syscalls.unlink(name, in: folder)
    return try Syscalls.open(name, OpenFlags.create, permissions: permissions, in: folder)
  }
}

/// Flushes the names in a folder to the disk. Some file systems cannot; the files are flushed in any case.
func syncFolder(_ folder: Int32) {
  guard let descriptor = try? Syscalls.open(".", OpenFlags.folder, in: folder) else { return }
  try? Syscalls.sync(descriptor.number)
}
