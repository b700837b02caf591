import Foundation
import LocationService
import Positioning

/// What waits for a manager: filled by the service, emptied on the manager's run loop, in order and one at a time (TH-2).
final class DelegateQueue: LocationServiceClient, @unchecked Sendable {
  typealias QueuedEvent = EventQueue.QueuedEvent

  // Sendable: `queue`, `watch` and `isHeard` are touched under the lock; the weak reference is set before anybody else
  // knows the mailbox.
  private let delegateLoop: DelegateRunLoop
  private let log: @Sendable (String) -> Void
  private let lock = NSLock()
  private var queue = EventQueue()
  private var watch = RunLoopStallDetector()
  private weak var manager: CLLocationManager?
  /// Whether a delegate is there.
  private var isHeard = false

  init(delegateLoop: DelegateRunLoop, log: @escaping @Sendable (String) -> Void) {
    self.delegateLoop = delegateLoop
    self.log = log
  }

  /// A delegate was assigned, or taken away. What is put while there is none waits for one until the loop comes to it.
  func setIsHeard(_ isHeard: Bool) { lock.withLock { self.isHeard = isHeard } }

  func belongs(to manager: CLLocationManager) { self.manager = manager }

  func receive(_ event: DelegateEvent, _ ticket: Ticket) { put(.event(event, ticket)) }
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?) {
    put(.temporaryAccuracy(token: token, error))
  }
  func calibrationShows(_ shows: Bool) { put(.calibration(shows)) }

  func put(_ event: QueuedEvent) {
    let now = ProcessInfo.processInfo.systemUptime
    let (isOverdue, isOneMore, nextCheck) = lock.withLock {
      let before = queue.count
      queue.put(event, atSeconds: now, isHeard: isHeard)
      // Who has no delegate misses nothing by not running its loop.
      let isOverdue = isHeard && watch.received(atSeconds: now)
      return (isOverdue, queue.count > before, watch.nextCheck(atSeconds: now))
    }
    if isOverdue { complain() }
    if let nextCheck { checkLoop(in: nextCheck) }
    // One errand a letter: so what several managers are told comes in the order in which it occurred, and a callback that runs
    // the loop itself is told of the next in it. Letters that are put together leave errands with nothing to do.
    if isOneMore { delegateLoop.perform { [weak self] in self?.deliverNext() } }
  }

  /// Where it is looked. Not a global queue: from its first use on libdispatch wakes the process every second.
  private static let checkQueue = DispatchQueue(label: "sextant.loops", qos: .utility)

  /// Looks whether the loop has run by then.
  private func checkLoop(in seconds: Double) {
    Self.checkQueue.asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self else { return }
      let now = ProcessInfo.processInfo.systemUptime
      let (isOverdue, nextCheck) = lock.withLock { (watch.checked(atSeconds: now), watch.nextCheck(atSeconds: now)) }
      if isOverdue { complain() }
      if let nextCheck { checkLoop(in: nextCheck) }
    }
  }

  private func complain() {
    log(
      "a CLLocationManager's events wait: the thread that made it does not run its loop "
        + "(RunLoop.current.run(), or make the manager on the main thread)")
  }

  /// Whether locations wait to be told.
  var holdsLocations: Bool { lock.withLock { queue.holdsLocations } }

  private func deliverNext() {
    let event = lock.withLock {
      watch.ran()
      return queue.take(atSeconds: ProcessInfo.processInfo.systemUptime)
    }
    if let event { manager?.open(event) }
  }
}
