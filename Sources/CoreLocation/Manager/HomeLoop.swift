import Foundation

/// The run loop of the thread that made a manager: where its delegate is called (TH-1), also when that loop sleeps.
///
/// The main thread is reached through its dispatch queue, which its run loop serves, and `dispatchMain` and an asynchronous
/// `main` as well; in those two the main thread ends, and whatever thread serves its queue stands for it. Another thread's
/// loop is woken by a timer that is added to it: a block given to `RunLoop.perform` from outside would wait until something
/// else wakes the loop.
final class HomeLoop: @unchecked Sendable {
  // Sendable: the loop is used from other threads for adding a timer alone, which its lock allows.
  private let loop: RunLoop?
  /// Keeps a loop without sources from returning at once.
  private let anchor: Timer?

  /// Of the calling thread.
  init() {
    if Thread.isMainThread || Self.isOnMainQueue {
      loop = nil
      anchor = nil
    } else {
      let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
      loop = RunLoop.current
      anchor = timer
      RunLoop.current.add(timer, forMode: .common)
    }
  }

  private static let mainQueueMark: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) != nil }

  deinit { anchor?.invalidate() }

  /// Has it run there, soon; what is given first runs first.
  func perform(_ body: @escaping @Sendable () -> Void) {
    guard let loop else { return DispatchQueue.main.async(execute: body) }
    loop.add(Timer(timeInterval: 0, repeats: false) { _ in body() }, forMode: .common)
  }
}
