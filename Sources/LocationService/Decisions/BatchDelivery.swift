import MonotonicTime
import Positioning
import Receiver
import ReceiverStream

/// Fixes between the receiver's memory and their clients: what is delivered is noted, so that a process that dies leaves
/// neither a loss nor a repetition; and calls that would end a deferral wait until what it is owed is read.
struct BatchDelivery: Sendable {
  /// A call waits no longer than the policy waits for a read-out.
  static var longestWait: Milliseconds { Milliseconds(60_000) }

  /// Fixes that were read and not delivered, with the journal as it is once they are.
  private var undelivered: [(time: UTCTime, journal: BatchJournal)] = []
  private var calls: [(call: ClientCall, id: Positioning.ClientID)] = []
  private var callsWaitUntil: Instant?
  /// What is being read was collected by an earlier process.
  var isLeftover = false
  /// What the line brings is kept.
  private(set) var isKept = false
  private var hasRead = false

  var deadline: Instant? { callsWaitUntil }
  var hasWaitingCalls: Bool { !calls.isEmpty }

  mutating func begin() { isKept = true }

  mutating func read(_ fix: Fix, _ journal: BatchJournal) {
    (isKept, hasRead) = (true, true)
    if let time = fix.time, fix.hasPosition { undelivered.append((time, journal)) }
  }

  /// Locations up to a time reached their client; nil: nobody waits for any. The journal to note, if there is news.
  mutating func delivered(until time: UTCTime?) -> BatchJournal? {
    guard let time else {
      defer { undelivered = [] }
      return undelivered.last?.journal
    }
    let count = undelivered.prefix { $0.time <= time }.count
    guard count > 0 else { return nil }
    let journal = undelivered[count - 1].journal
    undelivered.removeFirst(count)
    return journal
  }

  /// Nothing is left to deliver of what was read: true once for each time that something was.
  ///
  /// - Parameter collects: whether the receiver goes on collecting.
  mutating func isAllDelivered(collects: Bool) -> Bool {
    guard undelivered.isEmpty, hasRead || isKept && !collects else { return false }
    hasRead = false
    isKept = collects
    return true
  }

  // MARK: Locations that came by the line while they are deferred

  /// Those that an earlier process had kept and not delivered.
  var restored: [Location] = []
  /// Some are on the disk.
  private var hasStored = false

  /// Those up to a time, or all.
  mutating func takeRestored(until time: UTCTime?) -> [Location] {
    guard !restored.isEmpty else { return [] }
    hasStored = true
    let count = time.map { time in restored.prefix { $0.timestamp <= time }.count } ?? restored.count
    defer { restored.removeFirst(count) }
    return Array(restored.prefix(count))
  }

  mutating func stored() { hasStored = true }

  /// All of them are delivered, or nobody waits for any: true once.
  mutating func areAllDelivered(isDeferring: Bool) -> Bool {
    guard hasStored, !isDeferring else { return false }
    hasStored = false
    return true
  }

  // MARK: Calls that wait

  mutating func wait(_ call: ClientCall, of id: Positioning.ClientID, at now: Instant) {
    calls.append((call, id))
    if callsWaitUntil == nil { callsWaitUntil = now + Self.longestWait }
  }

  mutating func wake(at now: Instant) {
    if let until = callsWaitUntil, now >= until { callsWaitUntil = nil }
  }

  /// The calls whose time has come.
  mutating func takeCalls(isReading: Bool) -> [(call: ClientCall, id: Positioning.ClientID)] {
    guard !calls.isEmpty, !isReading || callsWaitUntil == nil else { return [] }
    callsWaitUntil = nil
    defer { calls = [] }
    return calls
  }
}

extension ClientCall {
  /// Whether the call ends a deferral, or replaces it: what was kept until then is delivered first.
  var endsDeferral: Bool {
    switch self {
    case .stopUpdatingLocation, .allowDeferredUpdates, .disallowDeferredUpdates, .setDesiredAccuracy,
      .setDistanceFilter:
      true
    default: false
    }
  }
}
