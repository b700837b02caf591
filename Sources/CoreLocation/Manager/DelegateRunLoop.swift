import Foundation

/// The run loop of the thread that made a manager: where its delegate is called (TH-1), also when that loop sleeps, and when it
/// is turned within a callback.
final class DelegateRunLoop: Sendable {
  private let queue: RunLoopQueue

  /// Of the calling thread.
  init() {
    queue = RunLoopQueue.ofThread
    queue.begin()
  }

  deinit { queue.end() }

  /// Has it run there, soon; what is given first runs first, whichever manager gave it.
  func perform(_ body: @escaping @Sendable () -> Void) { queue.add(body) }
}

/// What is to be run on a thread, in order: one errand in each turn of its loop, so that timers and whatever else the loop serves
/// have their turns as well.
///
/// The main thread is reached through its dispatch queue too, for programs with `dispatchMain` or an asynchronous `main`: in
/// those the main thread ends, and whatever thread serves its queue stands for it.
private final class RunLoopQueue: @unchecked Sendable {
  // Sendable: `waiting` and `users` are touched under the lock, `source` is set before anybody else knows the object.
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

  /// Those of the calling thread, which keeps them.
  static var ofThread: RunLoopQueue {
    if Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil { return ofMain }
    let key = "Sextant.LoopErrands"
    if let kept = Thread.current.threadDictionary[key] as? RunLoopQueue { return kept }
    let queue = RunLoopQueue(isMain: false)
    Thread.current.threadDictionary[key] = queue
    return queue
  }

  /// As long as somebody may give errands, a loop without other sources does not return at once.
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
    // A loop that sleeps is woken by the source; of one that does not, nobody knows whether it will ever run.
    if isMain, !isLoopAsleep { DispatchQueue.main.async { [self] in runNext() } }
  }

  /// An errand leaves the queue before it is run: one that turns the loop itself has the next run in it.
  private func runNext() {
    let (body, hasMore) = lock.withLock { (waiting.isEmpty ? nil : waiting.removeFirst(), !waiting.isEmpty) }
    if hasMore { source?.signal() }
    body?()
  }
}
