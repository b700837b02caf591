// SPDX-License-Identifier: Apache-2.0

/// A child program, with pipes at its standard input, output and error.
///
/// Foundation's `Process` is not used: it copies the 256 bytes of a name from directory entries that may be shorter,
/// and therefore reads past the end of its buffer in a program with many descriptors.
///
/// `unsafe` because the calls of the C library take pointers to strings and to values of this file, which are valid
/// until the call returns.
import CLinux
import Glibc

package final class ChildProcess {
  /// The standard output of the child, for pollers. It does not block.
  package var output: Int32 { child.output }
  package var processID: Int32 { child.process }
  private let child: sextant_child
  private var isReaped = false

  /// Starts a program in its own session.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - input: the complete content of its standard input, a few KiB. If nil, the input stays open for the lifetime of
  ///     this value.
  /// - Throws: the system's error.
  package init(_ program: String, _ arguments: [String], input: [UInt8]? = nil) throws(ChildProcessError) {
    var child = sextant_child()
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    let code = unsafe sextant_spawn(program, words, input, input?.count ?? 0, &child)
    unsafe words.forEach { unsafe free($0) }
    if code != 0 { throw ChildProcessError(program, code) }
    self.child = child
  }

  deinit {
    // The end of its input ends the child and its output. A child that hangs is killed.
    if child.input >= 0 { close(child.input) }
    if !isReaped, !wait(for: 0, milliseconds: 1000) { kill() }
    _ = reap()
    close(child.output)
    close(child.error)
  }

  /// Kills the child, unless ``end()`` has recorded its end. The corresponding C function is kill(2).
  package func kill() { if !isReaped { _ = Glibc.kill(child.process, SIGKILL) } }

  /// Waits until there is output, or its end.
  package func waitForOutput() { _ = wait(for: Int16(POLLIN), milliseconds: -1) }

  /// Waits for events at the output, or its end. Returns false after the time limit. The corresponding C function is poll(2).
  private func wait(for events: Int16, milliseconds: Int32) -> Bool {
    var output = pollfd(fd: child.output, events: events, revents: 0)
    var found: Int32
    repeat { found = unsafe poll(&output, 1, milliseconds) } while found < 0 && errno == EINTR
    return found != 0
  }

  /// Reads its output. Returns an empty result if there are no bytes yet, and nil at the end of the output.
  package func read() -> [UInt8]? {
    let bytes = Self.read(child.output)
    return bytes ?? (errno == EAGAIN || errno == EINTR ? [] : nil)
  }

  /// Waits for the end of its output. Returns the output; nil if it is longer than `limit` bytes, or not wanted.
  ///
  /// - Parameter isWanted: whether the output is still wanted, asked every 200 ms while none arrives. If not, the child is killed.
  package func readToEnd(limit: Int, isWanted: (() -> Bool)? = nil) -> [UInt8]? {
    var bytes: [UInt8] = []
    while let piece = read() {
      bytes += piece
      if bytes.count > limit { return nil }
      guard piece.isEmpty else { continue }
      while !wait(for: Int16(POLLIN), milliseconds: isWanted == nil ? -1 : 200) {
        guard isWanted?() == false else { continue }
        kill()
        return nil
      }
    }
    return bytes
  }

  /// The exit code of a child that closed its output, and its lines on standard error. The code is nil if a signal ended
  /// it, or if this program ignores SIGCHLD.
  package func end() -> (exitCode: Int32?, errors: String) {
    var bytes: [UInt8] = []
    while let piece = Self.read(child.error) { bytes += piece }
    return (reap(), String(decoding: bytes, as: UTF8.self))
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
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

/// The reason why a program cannot be started.
package struct ChildProcessError: Error, CustomStringConvertible {
  package let description: String

  fileprivate init(_ program: String, _ code: Int32) {
    let reason = if let text = unsafe strerror(code) { unsafe String(cString: text) } else { "error \(code)" }
    description = "\(program): \(reason)"
  }
}
