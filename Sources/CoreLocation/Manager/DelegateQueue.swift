// SPDX-License-Identifier: Apache-2.0
import Foundation
import Messages
import Positioning

/// The events that wait for a manager. The service fills the queue; the manager's run loop empties it, in order and one event
/// at a time (TH-2).
final class DelegateQueue: LocationServiceClient, @unchecked Sendable {
  typealias QueuedEvent = EventQueue.QueuedEvent

  // Sendable: `queue`, `watch` and `hasDelegate` are used under the lock; the weak reference is set before any other thread
  // has the queue.
  private let delegateLoop: DelegateRunLoop
  private let log: @Sendable (String) -> Void
  private let lock = NSLock()
  private var queue = EventQueue()
  private var watch = RunLoopStallDetector()
  private weak var manager: CLLocationManager?
  private var hasDelegate = false

  init(delegateLoop: DelegateRunLoop, log: @escaping @Sendable (String) -> Void) {
    self.delegateLoop = delegateLoop
    self.log = log
  }

  /// Sets whether a delegate is assigned. Events that are queued without a delegate wait until the loop runs.
  func setHasDelegate(_ hasDelegate: Bool) { lock.withLock { self.hasDelegate = hasDelegate } }

  func connect(to manager: CLLocationManager) { self.manager = manager }

  func receive(_ event: DelegateEvent, _ ticket: Ticket) { put(.event(event, ticket)) }
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?) {
    put(.temporaryAccuracy(token: token, error))
  }
  func calibrationShows(_ shows: Bool) { put(.calibration(shows)) }

  func put(_ event: QueuedEvent) {
    let now = ProcessInfo.processInfo.systemUptime
    let (isOverdue, isOneMore, nextCheck) = lock.withLock {
      let before = queue.count
      queue.put(event, atSeconds: now, hasDelegate: hasDelegate)
      // A manager without a delegate loses no events if its loop does not run.
      let isOverdue = hasDelegate && watch.received(atSeconds: now)
      return (isOverdue, queue.count > before, watch.nextCheck(atSeconds: now))
    }
    if isOverdue { logStall() }
    if let nextCheck { checkLoop(in: nextCheck) }
    // One block per event: so the events of several managers are delivered in the order in which they occurred, and a
    // callback that runs the loop itself gets the next event inside. Coalesced events leave no-op blocks in the queue.
    if isOneMore { delegateLoop.perform { [weak self] in self?.deliverNext() } }
  }

  /// The queue of the checks. After the first use of a global queue, libdispatch would wake the process every second.
  private static let checkQueue = DispatchQueue(label: "sextant.loops", qos: .utility)

  /// Schedules a check after this time whether the loop has run.
  private func checkLoop(in seconds: Double) {
    Self.checkQueue.asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self else { return }
      let now = ProcessInfo.processInfo.systemUptime
      let (isOverdue, nextCheck) = lock.withLock { (watch.checked(atSeconds: now), watch.nextCheck(atSeconds: now)) }
      if isOverdue { logStall() }
      if let nextCheck { checkLoop(in: nextCheck) }
    }
  }

  private func logStall() {
    log(
      "a CLLocationManager's events wait: the thread that made it does not run its loop "
        + "(RunLoop.current.run(), or make the manager on the main thread)")
  }

  /// Whether locations wait for delivery.
  var hasLocations: Bool { lock.withLock { queue.hasLocations } }

  private func deliverNext() {
    let event = lock.withLock {
      watch.ran()
      return queue.take(atSeconds: ProcessInfo.processInfo.systemUptime)
    }
    if let event { manager?.deliver(event) }
  }
}
