// SPDX-License-Identifier: Apache-2.0

/// The signals that request termination, received by a dedicated thread: the process ends even if the main thread waits
/// for a reader, a device or the system.
///
/// `unsafe`, because the calls of the C library take pointersto local values that are valid during the call.
import Dispatch
import Glibc
import LinuxIO
import Synchronization

enum EndSignals {
  /// The time within which the main thread must start the termination, seconds.
  private static let timeoutSeconds = 2

  private static var signals: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in signalsToEnd { unsafe sigaddset(&set, number) }
    return set
  }

  /// Blocks the signals in this thread and in those that it starts later.
  static func block() {
    var set = signals
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Starts the thread.
  ///
  /// - Parameter arrived: called on the main thread for each signal.
  /// - Returns: false if the system cannot create a thread.
  static func start(_ arrived: @escaping @Sendable () -> Void) -> Bool {
    BackgroundWork.start {
      while true {
        wait(seconds: nil)
        requestEnd()
        let isTaken = Taken()
        DispatchQueue.main.async {
          isTaken.set()
          arrived()
        }
        // Another signal ends this wait early.
        if wait(seconds: timeoutSeconds), isTaken.value { DispatchQueue.main.async(execute: arrived) }
        if !isTaken.value {
          printNotice(
            "the program does not respond, and ends; the next start gives the receiver its former settings back")
          _exit(SystemExitCode.systemResource.rawValue)
        }
      }
    }
  }

  private final class Taken: Sendable {
    private let flag = Atomic(false)
    var value: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
  }

  /// Waits for a signal. Returns false if none came within the time.
  @discardableResult
  private static func wait(seconds: Int?) -> Bool {
    var set = signals
    while true {
      let number: Int32
      if let seconds {
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        number = unsafe sigtimedwait(&set, nil, &limit)
      } else {
        number = unsafe sigwaitinfo(&set, nil)
      }
      if number > 0 { return true }
      if errno != EINTR { return false }
    }
  }
}
