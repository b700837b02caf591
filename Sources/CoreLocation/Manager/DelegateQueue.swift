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
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?, _ refusal: AccuracyRefusal?) {
    put(.temporaryAccuracy(token: token, error, refusal))
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

/// Detects a thread that does not run its loop, so that the events of its manager wait.
struct RunLoopStallDetector {
  /// The longest wait of events that is not a stall: a program's callback may take some time.
  static var timeoutSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isReported = false
  private var isCheckScheduled = false

  /// Handles an event. Returns whether to report a stall, which is reported once.
  mutating func received(atSeconds now: Double) -> Bool {
    guard let since = waitingSince else {
      waitingSince = now
      return false
    }
    guard !isReported, now - since >= Self.timeoutSeconds else { return false }
    isReported = true
    return true
  }

  /// Returns the time until the check that detects a stall without further events, seconds; nil if one is scheduled already.
  mutating func nextCheck(atSeconds now: Double) -> Double? {
    guard !isReported, !isCheckScheduled, let since = waitingSince else { return nil }
    isCheckScheduled = true
    return max(0, since + Self.timeoutSeconds - now)
  }

  /// Handles the check at its time. Returns whether to report a stall.
  mutating func checked(atSeconds now: Double) -> Bool {
    isCheckScheduled = false
    guard !isReported, let since = waitingSince, now - since >= Self.timeoutSeconds else { return false }
    isReported = true
    return true
  }

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
