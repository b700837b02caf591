// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO

/// A folder for one test, removed with its contents.
public struct TemporaryFolder: ~Copyable {
  public let path: String

  public init() throws {
    var template = Array("/tmp/sextant-test-XXXXXX".utf8CString)
    // mkdtemp(3) writes the name into the array, which outlives the call.
    _ = try retryOnInterrupt { unsafe mkdtemp(&template) == nil ? -1 : 0 }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in FileLookup.names(in: path) where (try? Syscalls.unlink("\(path)/\(name)")) == nil {
      remove("\(path)/\(name)")
    }
    try? Syscalls.unlink(path, isFolder: true)
  }

  /// The names in the folder, sorted.
  public var names: [String] { FileLookup.names(in: path) }

  /// Creates a file; returns its path.
  public func file(_ name: String, _ bytes: [UInt8] = []) throws -> String {
    let path = "\(path)/\(name)"
    let file = try AppendOnlyFile(path, permissions: 0o600)
    // Bytes have no padding that a raw view could show.
    try unsafe file.append(bytes.span.bytes)
    return path
  }

  /// Creates a FIFO; returns its path.
  public func fifo(_ name: String) throws -> String {
    let path = "\(path)/\(name)"
    _ = try retryOnInterrupt { unsafe mkfifo(path, 0o600) }
    return path
  }

  /// Creates a symbolic link; returns its path.
  public func link(_ name: String, to target: String) throws -> String {
    let path = "\(path)/\(name)"
    try Syscalls.link(target, at: path)
    return path
  }
}
