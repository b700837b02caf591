// SPDX-License-Identifier: Apache-2.0

/// Files, standard output and standard error.
///
/// The only file of the benchmarks with calls of the C library for them. The calls take pointers to memory that is
/// lent for the call, which is the reason for `unsafe`.
import Glibc

/// The failure of a benchmark: a line with the next step, and an exit code of sysexits.h.
struct BenchFailure: Error, CustomStringConvertible {
  var exitCode: Int32
  var description: String

  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let cannotCreate: Int32 = 73
  static let inputOutput: Int32 = 74

  fileprivate init(file: String, _ code: Int32, otherwise exitCode: Int32) {
    let next =
      switch code {
      case ENOENT: "; check the name"
      case EISDIR: "; name a recording in it"
      case EACCES, EPERM: "; ask its owner"
      default: ""
      }
    self.exitCode = code == ENOENT || code == EISDIR ? Self.noInput : code == EACCES || code == EPERM ? 77 : exitCode
    description = "\(file): \(unsafe String(cString: strerror(code)))\(next)"
  }

  init(exitCode: Int32, description: String) {
    self.exitCode = exitCode
    self.description = description
  }
}

/// Reads all bytes of a file; `-` is standard input.
func readAll(_ path: String) throws -> [UInt8] {
  let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw BenchFailure(file: path, errno, otherwise: BenchFailure.inputOutput) }
  defer { if descriptor != STDIN_FILENO { close(descriptor) } }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    if count == 0 { return bytes }
    if count > 0 {
      bytes += piece[..<count]
    } else if errno != EINTR {
      throw BenchFailure(file: path, errno, otherwise: BenchFailure.inputOutput)
    }
  }
}

enum Output {
  /// Writes to standard output.
  static func write(_ text: String) throws { try write(text, to: STDOUT_FILENO, named: "standard output") }

  /// Writes a new file.
  static func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw BenchFailure(file: path, errno, otherwise: BenchFailure.cannotCreate) }
    defer { close(descriptor) }
    try write(text, to: descriptor, named: path)
  }

  private static func write(_ text: String, to descriptor: Int32, named name: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EPIPE {
        // The reader of the pipe has ended, as `head` does.
        leave(with: 0)
      } else if errno != EINTR {
        throw BenchFailure(file: name, errno, otherwise: BenchFailure.cannotCreate)
      }
    }
  }
}

/// Prints a line on standard error.
func printError(_ text: String) {
  let line = Array("sextant-bench: \(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Ends the process.
func leave(with code: Int32) -> Never { exit(code) }

/// Turns a closed pipe into an error of `write`; by default it kills the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
