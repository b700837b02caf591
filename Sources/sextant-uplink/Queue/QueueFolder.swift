// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The files of a queue in a folder of state.
struct QueueFolder: QueueStorage {
  let path: String

  func names() -> [String] { PrivateFile.names(in: path) }

  func read(_ name: String) throws(FileError) -> [UInt8] {
    try PrivateFolder(path).readBytes(name, limit: 1 << 30)
  }

  func read(_ name: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    try PrivateFolder(path).readBytes(name, from: offset, count: count)
  }

  func append(_ bytes: [UInt8], to name: String) throws(FileError) {
    try unsafe AppendOnlyFile(private: "\(path)/\(name)").append(bytes.span.bytes)
  }

  func replace(_ name: String, with bytes: [UInt8]) throws(FileError) {
    try PrivateFolder(path, makingWith: 0o700).replace(name, with: bytes)
  }

  func remove(_ name: String) throws(FileError) { try PrivateFolder(path).remove(name) }

  func truncate(_ name: String, to count: Int) throws(FileError) {
    try AppendOnlyFile(private: "\(path)/\(name)").truncate(to: count)
  }

  func sync(_ name: String) { (try? AppendOnlyFile(private: "\(path)/\(name)"))?.sync() }
}
