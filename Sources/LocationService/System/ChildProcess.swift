// SPDX-License-Identifier: Apache-2.0

/// A program that runs beside this one, with pipes at its standard input, output and error.
///
/// The one place of the module that starts a program. The calls of the C library take pointers to strings and to values of
/// this file, which is the reason for `unsafe`; each lives until the call returns.
import CLinux
import Glibc

final class ChildProcess {
  /// Its standard output, for pollers. It does not block.
  var output: Int32 { child.output }
  private let child: sextant_child
  private var isReaped = false

  /// Starts a program, in a session of its own.
  ///
  /// - Throws: the system's error.
  init(_ program: String, _ arguments: [String]) throws(ChildProcessError) {
    var child = sextant_child()
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    let code = unsafe sextant_spawn(program, words, &child)
    unsafe words.forEach { unsafe free($0) }
    if code != 0 { throw ChildProcessError(program, code) }
    self.child = child
  }

  deinit {
    // The end of its input ends it, and its output with it. One that hangs is killed.
    close(child.input)
    var end = pollfd(fd: child.output, events: 0, revents: 0)
    if !isReaped, unsafe poll(&end, 1, 1000) == 0 { kill(child.process, SIGKILL) }
    _ = reap()
    close(child.output)
    close(child.error)
  }

  /// Reads its output. Returns no bytes if there are none yet, and nil at the end of the output.
  func read() -> [UInt8]? {
    let bytes = Self.read(child.output)
    return bytes ?? (errno == EAGAIN || errno == EINTR ? [] : nil)
  }

  /// The exit code of a child that closed its output, and its lines on standard error. The code is nil if a signal ended
  /// it, or if this program ignores the ends of its children.
  func end() -> (exitCode: Int32?, errors: String) {
    var bytes: [UInt8] = []
    while let piece = Self.read(child.error) { bytes += piece }
    return (reap(), String(decoding: bytes, as: UTF8.self))
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1024)
    errno = 0
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  private func reap() -> Int32? {
    if isReaped { return nil }
    isReaped = true
    var status: Int32 = 0
    var found: pid_t
    repeat { found = unsafe waitpid(child.process, &status, 0) } while found < 0 && errno == EINTR
    // WIFEXITED and WEXITSTATUS of wait(2).
    return found == child.process && status & 0x7F == 0 ? status >> 8 & 0xFF : nil
  }
}

/// Why a program cannot be started.
struct ChildProcessError: Error, CustomStringConvertible {
  let description: String

  fileprivate init(_ program: String, _ code: Int32) {
    let reason = if let text = unsafe strerror(code) { unsafe String(cString: text) } else { "error \(code)" }
    description = "\(program): \(reason)"
  }
}
