// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Work that would block the thread of a poller: syncing a file, looking up a host.
///
/// `unsafe` because pthread_create(3) takes a pointer, to an object that the new thread owns.
public enum BackgroundWork {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` once in a new thread that blocks all signals, which belong to the program. pthread_create(3).
  ///
  /// - Returns: false if the system cannot start a thread. `body` is not run then.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer = unsafe pointer else { return nil }
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
        unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      unsafe work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
