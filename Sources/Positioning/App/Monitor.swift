// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream

/// The conditions of one CLMonitor and their states (rules MO).
///
/// A condition has at most one unhandled event, and is not evaluated until that event is handled (MO-4). An iteration
/// handles an event from the call that returns it until the next call: then the record has the event (MO-5), so that a
/// program that ends while it handles an event receives it again.
///
///     evaluated ──a change──▶ waiting ──take──▶ handled by an iteration ──its next take, or its end──▶ evaluated
public struct Monitor: Sendable {
  /// The raw values equal those of CLMonitor.Event.State.
  public enum State: UInt, Codable, Sendable {
    case unknown = 0
    case satisfied = 1
    case unsatisfied = 2
    case unmonitored = 3

    init(_ state: RegionState) {
      switch state {
      case .unknown: self = .unknown
      case .inside: self = .satisfied
      case .outside: self = .unsatisfied
      }
    }

    var region: RegionState {
      switch self {
      case .satisfied: .inside
      case .unsatisfied: .outside
      case .unknown, .unmonitored: .unknown
      }
    }
  }

  /// A change of a condition: the content of a CLMonitor.Event.
  public struct Event: Hashable, Codable, Sendable {
    public var identifier: String
    public var state: State
    public var date: UTCTime
    /// The beacon that was received, if the condition does not identify it fully (MO-6).
    public var refinement: BeaconIdentity?
    public var diagnostic: Diagnostic = []

    public init(
      identifier: String, state: State, date: UTCTime, refinement: BeaconIdentity? = nil, diagnostic: Diagnostic = []
    ) {
      self.identifier = identifier
      self.state = state
      self.date = date
      self.refinement = refinement
      self.diagnostic = diagnostic
    }
  }

  /// The state of a condition that is stored between runs (MO-1).
  public struct Record: Hashable, Codable, Sendable {
    public var condition: Region.Shape
    /// The last event whose handling is complete (MO-5).
    public var lastEvent: Event

    public init(condition: Region.Shape, lastEvent: Event) {
      self.condition = condition
      self.lastEvent = lastEvent
    }
  }

  private struct Entry {
    var record: Record
    /// Nil: the condition exceeds the limit, or no hardware can monitor it.
    var watch: RegionWatch?
    /// The event that waits, or that an iteration handles.
    var waiting: Event?
    /// The obstacle that the last event reported.
    var hindrance: Diagnostic = []
    var handled: Handled?

    /// Marks the condition as not monitored. Until that is delivered, the flag next to the former state reports it to
    /// later runs.
    mutating func refuse(_ refusal: Diagnostic, at date: UTCTime) {
      watch = nil
      record.lastEvent.diagnostic.formUnion(refusal)
      waiting = Event(
        identifier: record.lastEvent.identifier, state: .unmonitored, date: date, diagnostic: refusal)
    }

    var isReported: Bool { record.lastEvent.state == .unmonitored }

    /// The record that a program reads: without a refusal that it has not handled (MO-5).
    var readRecord: Record {
      var record = record
      if let refusal = waiting?.diagnostic, refusal.isRefusal { record.lastEvent.diagnostic.subtract(refusal) }
      return record
    }

    var isWaiting: Bool { waiting != nil && handled == nil }
  }

  /// An event that an iteration has received and not completed.
  private struct Handled {
    var event: Event
    var iteration: Int
  }

  /// The name that it was opened with.
  public let name: String
  private var entries: [Entry] = []

  /// - Parameters:
  ///   - room: the number of conditions that the app may still monitor.
  ///   - isPossible: whether there is hardware to monitor a condition.
  init(
    _ name: String, restored: [Record] = [], room: Int = Regions.limit, at now: Instant,
    isPossible: (Record) -> Bool = { _ in true }
  ) {
    self.name = name
    for record in restored {
      var entry = Entry(record: record)
      let diagnostic = record.lastEvent.diagnostic
      let wasLacking = diagnostic.contains(.conditionUnsupported)
      if diagnostic.contains(.conditionLimitExceeded) || monitoredCount >= room {
        if !entry.isReported || !diagnostic.isRefusal {
          entry.refuse(.conditionLimitExceeded, at: record.lastEvent.date)
        }
      } else if wasLacking, !isPossible(record) {
        if !entry.isReported { entry.refuse(.conditionUnsupported, at: record.lastEvent.date) }
      } else {
        entry.watch = RegionWatch(record.condition, state: record.lastEvent.state.region, at: now)
        entry.record.lastEvent.diagnostic.remove(.conditionUnsupported)
      }
      entries.append(entry)
    }
  }

  /// The conditions, in the order in which they were added, as they are stored.
  public var records: [Record] { entries.map(\.record) }
  /// The same as a program reads them.
  package var readRecords: [Record] { entries.map(\.readRecord) }
  /// The identifiers of the conditions.
  public var identifiers: [String] { entries.map(\.record.lastEvent.identifier) }

  /// The number of conditions that count for the app's limit.
  var monitoredCount: Int { entries.count { $0.watch != nil } }

  /// Whether a condition with this name is monitored and counts for the limit.
  func monitors(_ identifier: String) -> Bool { index(of: identifier).map { entries[$0].watch != nil } ?? false }

  /// The record of a condition, as a program reads it; nil for an unknown identifier.
  public func record(_ identifier: String) -> Record? { index(of: identifier).map { entries[$0].readRecord } }

  /// Adds a condition, in place of one with the same identifier (MO-2).
  ///
  /// - Parameters:
  ///   - assuming: the initial state.
  ///   - refusal: the reason why it is not monitored, which an event reports (MO-3); nil when it is.
  mutating func add(
    _ condition: Region.Shape, identifier: String, assuming state: State = .unknown, refusal: Diagnostic?,
    at now: Moment
  ) {
    var entry = Entry(
      record: Record(condition: condition, lastEvent: Event(identifier: identifier, state: state, date: now.utc)),
      watch: RegionWatch(condition, state: state.region, isAssumed: true, at: now.instant))
    if let refusal { entry.refuse(refusal, at: now.utc) }
    if let index = index(of: identifier) { entries[index] = entry } else { entries.append(entry) }
  }

  /// Monitors conditions that could not be monitored before (GE-6). The silence of a beacon counts from `restart`.
  ///
  /// - Parameter room: the number of conditions that the app may still monitor.
  /// - Returns: the number of additionally monitored conditions.
  mutating func hostCapabilitiesCame(room: Int, isPossible: (Record) -> Bool) -> Int {
    var count = 0
    for index in entries.indices where count < room && entries[index].watch == nil {
      let record = entries[index].record
      guard record.lastEvent.diagnostic.contains(.conditionUnsupported), isPossible(record) else { continue }
      entries[index].watch = RegionWatch(record.condition, state: record.lastEvent.state.region, at: .zero)
      // A client that received the refusal receives the state at the next fix.
      if !entries[index].isReported { entries[index].record.lastEvent.diagnostic.remove(.conditionUnsupported) }
      entries[index].waiting = nil
      count += 1
    }
    return count
  }

  mutating func remove(_ identifier: String) {
    entries.removeAll { $0.record.lastEvent.identifier == identifier }
  }

  var hasWaiting: Bool { entries.contains(where: \.isWaiting) }

  /// Completes the event that an iteration handles (MO-5). Returns whether there was one.
  mutating func complete(_ iteration: Int) -> Bool {
    var hasCompleted = false
    for index in entries.indices {
      guard let handled = entries[index].handled, handled.iteration == iteration else { continue }
      entries[index].record.lastEvent = handled.event
      entries[index].handled = nil
      if entries[index].waiting == handled.event { entries[index].waiting = nil }
      hasCompleted = true
    }
    return hasCompleted
  }

  /// Returns the next event for an iteration, which has completed the previous one.
  mutating func take(by iteration: Int) -> Event? {
    guard let index = entries.firstIndex(where: \.isWaiting), let event = entries[index].waiting else { return nil }
    entries[index].handled = Handled(event: event, iteration: iteration)
    return event
  }

  /// The same while monitoring is not permitted: each condition reports the reason once.
  mutating func takeHindrance(_ hindrance: Diagnostic, by iteration: Int, at now: UTCTime) -> Event? {
    guard
      let index = entries.firstIndex(where: {
        $0.watch != nil && $0.handled == nil && $0.hindrance != hindrance && !hindrance.isEmpty
      })
    else { return nil }
    let event = Event(
      identifier: entries[index].record.lastEvent.identifier, state: .unmonitored, date: now, diagnostic: hindrance)
    entries[index].hindrance = hindrance
    entries[index].handled = Handled(event: event, iteration: iteration)
    return event
  }

  /// The events that `take` and `takeHindrance` would return, in their order.
  func waitingEvents(_ hindrance: Diagnostic, at now: UTCTime) -> [Event] {
    var events = entries.compactMap(\.waiting)
    for entry in entries where entry.watch != nil && entry.hindrance != hindrance && !hindrance.isEmpty {
      events.append(
        Event(
          identifier: entry.record.lastEvent.identifier, state: .unmonitored, date: now, diagnostic: hindrance))
    }
    return events
  }

  /// Records that an event was handled. An event from an earlier process becomes the condition's last event.
  ///
  /// - Parameter isHindered: whether monitoring is not permitted now; otherwise an earlier obstacle no longer applies.
  mutating func complete(_ event: Event, isHindered: Bool, at now: Instant) {
    guard let index = index(of: event.identifier) else { return }
    entries[index].record.lastEvent = event
    if entries[index].waiting == event {
      entries[index].waiting = nil
    } else if event.state != .unmonitored {
      entries[index].waiting = nil
      if entries[index].watch != nil {
        entries[index].watch = RegionWatch(entries[index].record.condition, state: event.state.region, at: now)
      }
    } else if isHindered, !event.diagnostic.isRefusal {
      entries[index].hindrance = event.diagnostic.subtracting(.persistenceUnavailable)
    }
  }

  /// Requeues an event from an earlier process whose condition still has the event's state.
  mutating func expect(_ event: Event, at now: Instant) {
    guard let index = index(of: event.identifier), entries[index].watch != nil,
      event.state != entries[index].record.lastEvent.state
    else { return }
    entries[index].waiting = event
    entries[index].watch = RegionWatch(entries[index].record.condition, state: event.state.region, at: now)
  }

  var deadline: Instant? {
    var next: Instant?
    for entry in entries where entry.waiting == nil { next = Instant.earlier(next, entry.watch?.deadline) }
    return next
  }

  /// Monitoring is permitted again after a break.
  mutating func restart(at now: Instant) {
    for index in entries.indices {
      if entries[index].hindrance.isEmpty {
        entries[index].watch?.restart(at: now)
      } else {
        // A client that received the obstacle receives the state again.
        entries[index].hindrance = []
        entries[index].watch = RegionWatch(entries[index].record.condition, at: now)
      }
    }
  }

  /// Each function returns whether there is a new event.
  mutating func receive(_ sample: Sample) -> Bool {
    update(date: sample.location.timestamp, sighting: nil) { watch in _ = watch.receive(sample) }
  }

  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    // A condition with a waiting event is not evaluated (MO-4); the time until it is delivered does not count as
    // silence.
    for index in entries.indices where entries[index].waiting != nil { entries[index].watch?.note(sighting) }
    return update(date: sighting.received.utc, sighting: sighting) { watch in _ = watch.receive(sighting) }
  }

  mutating func wake(at now: Moment) -> Bool {
    update(date: now.utc, sighting: nil) { watch in _ = watch.wake(at: now.instant) }
  }

  @inline(__always)
  private mutating func update(date: UTCTime, sighting: BeaconSighting?, _ change: (inout RegionWatch) -> Void) -> Bool
  {
    var hasEvents = false
    for index in entries.indices where entries[index].waiting == nil {
      guard var watch = entries[index].watch else { continue }
      let before = watch.state
      change(&watch)
      entries[index].watch = watch
      let after = watch.state
      guard after != before else { continue }
      var event = Event(identifier: entries[index].record.lastEvent.identifier, state: State(after), date: date)
      if after == .inside, let sighting, case .beacon(let identity) = entries[index].record.condition,
        identity.major == nil || identity.minor == nil
      {
        event.refinement = BeaconIdentity(uuid: sighting.uuid, major: sighting.major, minor: sighting.minor)
      }
      entries[index].waiting = event
      hasEvents = true
    }
    return hasEvents
  }

  private func index(of identifier: String) -> Int? {
    entries.firstIndex { $0.record.lastEvent.identifier == identifier }
  }

  /// The nearest border of the circles.
  func nearestBorder(from point: SurfacePoint) -> (metres: Double, isCrossing: Bool)? {
    entries.lazy.compactMap(\.watch).nearestBorder(from: point)
  }

  /// Whether no fix has shown the side of a circle.
  var hasUnknownCircle: Bool { entries.contains { !$0.record.condition.isBeacon && $0.watch?.state == .unknown } }
  var hasCircles: Bool { entries.contains { $0.watch != nil && !$0.record.condition.isBeacon } }
  var hasBeacons: Bool { entries.contains { $0.watch != nil && $0.record.condition.isBeacon } }
}
