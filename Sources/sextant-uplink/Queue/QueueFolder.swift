// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The files of a queue: a folder, or a simulated disk in tests.
protocol QueueStorage {
  /// The names of the files.
  func names() -> [String]
  /// Returns a file's bytes.
  func read(_ name: String) throws(FileError) -> [UInt8]
  /// Returns `count` bytes of a file, or fewer at its end.
  func read(_ name: String, from offset: Int, count: Int) throws(FileError) -> [UInt8]
  /// Adds bytes to a file, and creates it if it is missing. A killed process has added all of them or none.
  mutating func append(_ bytes: [UInt8], to name: String) throws(FileError)
  /// Deletes what follows the first bytes of a file; possible on a full disk.
  mutating func truncate(_ name: String, to count: Int) throws(FileError)
  /// Replaces a file in one step, also over a loss of power.
  mutating func replace(_ name: String, with bytes: [UInt8]) throws(FileError)
  mutating func remove(_ name: String) throws(FileError)
  /// Brings what was added to a file to the disk.
  mutating func sync(_ name: String)
}

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

/// Files in memory: for a dry run, and for tests, which see the calls.
struct MemoryStorage: QueueStorage {
  private(set) var files: [String: [UInt8]] = [:]

  func names() -> [String] { files.keys.sorted() }
  func read(_ name: String) throws(FileError) -> [UInt8] { files[name] ?? [] }
  func read(_ name: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    Array((files[name] ?? []).dropFirst(offset).prefix(count))
  }
  mutating func append(_ bytes: [UInt8], to name: String) throws(FileError) { files[name, default: []] += bytes }
  mutating func truncate(_ name: String, to count: Int) throws(FileError) {
    files[name] = Array((files[name] ?? []).prefix(count))
  }
  mutating func replace(_ name: String, with bytes: [UInt8]) throws(FileError) { files[name] = bytes }
  mutating func remove(_ name: String) throws(FileError) { files[name] = nil }
  mutating func sync(_ name: String) {}
}
