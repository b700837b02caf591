import Foundation

/// The run loop of the thread that made a manager: where its delegate is called (TH-1), also when that loop sleeps, and when it
/// is turned within a callback.
///
/// The main thread is reached through its dispatch queue as well, for programs with `dispatchMain` or an asynchronous `main`: in
/// those the main thread ends, and whatever thread serves its queue stands for it.
final class HomeLoop: Sendable {
  private let isMain: Bool
  private let errands = Errands()
  /// Also keeps a loop without other sources from returning at once.
  private let source: LoopSource

  /// Of the calling thread.
  init() {
    isMain = Thread.isMainThread || Self.isOnMainQueue
    source = LoopSource(isMain: isMain) { [errands] in errands.run() }
  }

  private static let mainQueueMark: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) != nil }

  /// Has it run there, soon; what is given first runs first.
  func perform(_ body: @escaping @Sendable () -> Void) {
    errands.add(body)
    let isLoopAsleep = source.isLoopWaiting
    source.signal()
    // A loop that sleeps is woken by the source; of one that does not, nobody knows whether it will ever run.
    if isMain, !isLoopAsleep { DispatchQueue.main.async { [errands] in errands.run() } }
  }
}

/// What is to be run on a thread, in order; whoever comes first runs it.
private final class Errands: @unchecked Sendable {
  // Sendable: `waiting` is touched under the lock.
  private let lock = NSLock()
  private var waiting: [@Sendable () -> Void] = []

  func add(_ body: @escaping @Sendable () -> Void) { lock.withLock { waiting.append(body) } }

  /// Runs those that wait now; what they add is for the loop's next turn. One leaves the queue when it is run: one that turns
  /// the loop itself has the next run in it.
  func run() {
    for _ in 0..<lock.withLock({ waiting.count }) {
      guard let body = lock.withLock({ waiting.isEmpty ? nil : waiting.removeFirst() }) else { return }
      body()
    }
  }
}
