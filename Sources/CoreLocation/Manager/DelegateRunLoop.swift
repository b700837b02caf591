// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The run loop of the thread that made a manager, on which its delegate is called (TH-1), even when that loop sleeps
/// or is run inside a callback.
final class DelegateRunLoop: Sendable {
  private let queue: RunLoopQueue

  /// Uses the run loop of the calling thread.
  init() {
    queue = RunLoopQueue.ofThread
    queue.begin()
  }

  deinit { queue.end() }

  /// Schedules a block on the loop. Blocks of all managers run in their order.
  func perform(_ body: @escaping @Sendable () -> Void) { queue.add(body) }
}

/// The blocks to run on a thread, in order: one block in each turn of its loop, so that timers and other sources of the loop
/// run as well.
///
/// The main thread is reached through its dispatch queue too, for programs with `dispatchMain` or an asynchronous
/// `main`, in which the main thread ends, and another thread serves its queue.
private final class RunLoopQueue: @unchecked Sendable {
  // Sendable: `waiting` and `users` are used under the lock, `source` is set before any other thread has the object.
  private let isMain: Bool
  private let lock = NSLock()
  private var waiting: [@Sendable () -> Void] = []
  private var users = 0
  private var source: RunLoopSource?

  private init(isMain: Bool) {
    self.isMain = isMain
    source = RunLoopSource(isMain: isMain) { [weak self] in self?.runNext() }
  }

  private static let ofMain = RunLoopQueue(isMain: true)

  private static let mainQueueMark: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// The queue of the calling thread, which keeps it.
  static var ofThread: RunLoopQueue {
    if Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil { return ofMain }
    let key = "Sextant.LoopBlocks"
    if let kept = Thread.current.threadDictionary[key] as? RunLoopQueue { return kept }
    let queue = RunLoopQueue(isMain: false)
    Thread.current.threadDictionary[key] = queue
    return queue
  }

  /// Adds a user. While there is one, a loop without other sources does not return at once.
  func begin() {
    lock.withLock {
      users += 1
      if users == 1 { source?.attach() }
    }
  }

  func end() {
    lock.withLock {
      users -= 1
      if users == 0 { source?.detach() }
    }
  }

  func add(_ body: @escaping @Sendable () -> Void) {
    lock.withLock { waiting.append(body) }
    let isLoopAsleep = source?.isLoopWaiting ?? false
    source?.signal()
    // The source wakes a loop that sleeps. A loop that does not sleep may never run again.
    if isMain, !isLoopAsleep { DispatchQueue.main.async { [self] in runNext() } }
  }

  /// A block leaves the queue before it runs: inside a block that runs the loop itself, the next one runs.
  private func runNext() {
    let (body, hasMore) = lock.withLock { (waiting.isEmpty ? nil : waiting.removeFirst(), !waiting.isEmpty) }
    if hasMore { source?.signal() }
    body?()
  }
}
