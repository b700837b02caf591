import Glibc

/// Work that would hold up the thread of the poller: bringing a file to the disk, asking for a host's address.
///
/// `unsafe`, because pthread_create(3) takes a pointer: to a box that the new thread alone owns.
public enum BackgroundWork {
  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` once in a thread of its own. pthread_create(3).
  ///
  /// - Returns: false when the system has no thread left; `body` is not run then.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = unsafe Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer = unsafe pointer else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
