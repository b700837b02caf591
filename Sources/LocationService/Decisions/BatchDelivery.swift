// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream

/// The delivery of fixes from the receiver's memory to clients. Each delivery is recorded in a journal, so that a
/// killed process neither loses nor repeats fixes. Calls that would end a deferral wait until its fixes are read.
struct BatchDelivery: Sendable {
  /// The longest wait of a call, which is also the power policy's longest wait for a read-out.
  static var longestWait: Milliseconds { Milliseconds(60_000) }

  private enum Journal: Sendable {
    case closed
    /// The receiver collects fixes, and received bytes are stored.
    case open
    /// The same, with fixes read since the journal was opened.
    case read
  }

  private var journal = Journal.closed
  /// Fixes that were read and not delivered, each with the journal to record after its delivery.
  private var undelivered: [(time: UTCTime, journal: BatchJournal)] = []
  private var waiting: (until: Instant, calls: [(call: ClientCall, id: ManagerID)])?
  /// Whether an earlier process started the collection that is being read.
  private(set) var isLeftover = false
  /// Locations that an earlier process kept for a deferral and did not deliver.
  private var restored: [Location]
  var hasRestored: Bool { !restored.isEmpty }
  /// Whether the file of deferred locations is not empty.
  private var hasStored = false

  init(restored: [Location] = []) { self.restored = restored }

  // MARK: The receiver's memory

  /// Whether the journal is open.
  var isKept: Bool { journal != .closed }

  mutating func begin() { if journal == .closed { journal = .open } }

  mutating func beginLeftover() {
    isLeftover = true
    begin()
  }

  mutating func readOutEnded() { isLeftover = false }

  mutating func read(_ fix: Fix, _ journal: BatchJournal) {
    self.journal = .read
    if let time = fix.time, fix.hasPosition { undelivered.append((time, journal)) }
  }

  /// Records the delivery of locations up to a time; nil if no client waits for locations. Returns the journal to
  /// record, if it has changed.
  mutating func delivered(until time: UTCTime?) -> BatchJournal? {
    guard let time else {
      defer { undelivered = [] }
      return undelivered.last?.journal
    }
    let count = undelivered.prefix { $0.time <= time }.count
    guard count > 0 else { return nil }
    defer { undelivered.removeFirst(count) }
    return undelivered[count - 1].journal
  }

  /// Whether everything that was read is delivered; true once per read-out.
  ///
  /// - Parameter collects: whether the receiver continues to collect.
  mutating func takeReadOutDelivered(collects: Bool) -> Bool {
    guard undelivered.isEmpty, journal == .read || journal == .open && !collects else { return false }
    journal = collects ? .open : .closed
    return true
  }

  // MARK: Locations that came by the line while they are deferred

  /// Returns the restored locations up to a time, or all of them, once.
  mutating func takeRestored(until time: UTCTime?) -> [Location] {
    guard !restored.isEmpty else { return [] }
    hasStored = true
    let count = time.map { time in restored.prefix { $0.timestamp <= time }.count } ?? restored.count
    defer { restored.removeFirst(count) }
    return Array(restored.prefix(count))
  }

  mutating func stored() { hasStored = true }

  /// Whether all stored locations are delivered, or no client waits for them; true once.
  mutating func takeStoredDelivered(isDeferring: Bool) -> Bool {
    guard hasStored, !isDeferring else { return false }
    hasStored = false
    return true
  }

  // MARK: Calls that wait

  /// The time at which the calls are applied even if the read-out of the receiver is not complete.
  var deadline: Instant? { waiting?.until }
  func hasWaitingCalls(of program: ProgramID) -> Bool {
    waiting?.calls.contains { $0.id.program == program } ?? false
  }

  mutating func wait(_ call: ClientCall, of id: ManagerID, at now: Instant) {
    waiting = (waiting?.until ?? now + Self.longestWait, (waiting?.calls ?? []) + [(call, id)])
  }

  /// Returns the calls to apply now.
  mutating func takeCalls(isReading: Bool, at now: Instant) -> [(call: ClientCall, id: ManagerID)] {
    guard let (until, calls) = waiting, !isReading || now >= until else { return [] }
    waiting = nil
    return calls
  }
}

extension ClientCall {
  /// Whether the call ends a deferral, or replaces it: the locations kept until then are delivered first.
  var endsDeferral: Bool {
    switch self {
    case .stopUpdatingLocation, .allowDeferredUpdates, .disallowDeferredUpdates, .setDesiredAccuracy,
      .setDistanceFilter:
      true
    default: false
    }
  }
}
