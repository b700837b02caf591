// SPDX-License-Identifier: Apache-2.0

/// The terminal of the screen: keys without Return and echo, job control, and its former state at the end.
///
/// `unsafe`, because the calls of the C library take pointers: to local values that live as long as the call.
import Glibc

final class TerminalControl {
  /// The state to restore; nil while nothing is changed.
  private var former: termios?

  deinit { if let former, !isInBackground { Self.set(former) } }

  /// The descriptor of the keys.
  static var keys: Int32 { STDIN_FILENO }
  /// Whether keys are read.
  var hasKeys: Bool { former != nil }

  /// Whether another job has the terminal: drawing would disturb it, and changing the terminal would stop this process
  /// (SIGTTOU).
  var isInBackground: Bool {
    let foreground = tcgetpgrp(STDOUT_FILENO)
    return foreground > 0 && foreground != getpgrp()
  }

  /// Makes keys readable at once, without echo. ^C and ^Z remain signals; ^\ would end the process without the terminal's
  /// state being restored, and ^S would stop the screen.
  func enter() {
    var state = termios()
    guard former == nil, unsafe tcgetattr(STDIN_FILENO, &state) == 0 else { return }
    former = state
    state.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL)
    state.c_iflag &= ~tcflag_t(IXON)
    unsafe withUnsafeMutableBytes(of: &state.c_cc) { characters in
      unsafe characters[Int(VMIN)] = 1
      unsafe characters[Int(VTIME)] = 0
      unsafe characters[Int(VQUIT)] = 0
    }
    Self.set(state)
  }

  /// Restores the terminal.
  func leave() {
    guard let former else { return }
    self.former = nil
    if !isInBackground { Self.set(former) }
  }

  /// Returns the bytes of pressed keys; nil at the end of the terminal.
  static func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    if count > 0 { return Array(bytes[..<count]) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }

  /// Stops this process as ^Z does by default, and returns when it is continued. The kernel ignores the request if no shell
  /// could continue the process.
  static func stop() {
    var signal = sigset_t()
    unsafe sigemptyset(&signal)
    unsafe sigaddset(&signal, SIGTSTP)
    kill(getpid(), SIGTSTP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signal, nil)
    unsafe pthread_sigmask(SIG_BLOCK, &signal, nil)
  }

  private static func set(_ state: termios) {
    var state = state
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &state)
  }
}
