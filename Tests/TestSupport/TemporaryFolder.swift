// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder for one test, removed with its contents.
public struct TemporaryFolder: ~Copyable {
  public let path: String

  public init() throws {
    path = "/tmp/sextant-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names in the folder, sorted.
  public var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

  /// Creates a file; returns its path.
  public func file(_ name: String, _ bytes: [UInt8] = []) throws -> String {
    let path = "\(path)/\(name)"
    guard
      FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    return path
  }

  /// Creates a FIFO; returns its path.
  public func fifo(_ name: String) throws -> String {
    let path = "\(path)/\(name)"
    guard unsafe mkfifo(path, 0o600) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return path
  }

  /// Creates a symbolic link; returns its path.
  public func link(_ name: String, to target: String) throws -> String {
    let path = "\(path)/\(name)"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    return path
  }
}
