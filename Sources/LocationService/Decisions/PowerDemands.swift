// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power

/// The demands of one program: from its managers, and from its regions, visits and streams.
struct ProgramDemand: Equatable, Sendable {
  var program = ProgramID.own
  /// Whether the receiver stays on for a while after its last demand.
  var lingers = true
  var managers: [(id: ClientID, demand: Demand)]
  var shared: Demand

  static func == (a: ProgramDemand, b: ProgramDemand) -> Bool {
    a.program == b.program && a.lingers == b.lingers && a.shared == b.shared
      && a.managers.elementsEqual(b.managers, by: ==)
  }
}

/// The clients' demands as events of the power policy.
///
/// Only a changed demand causes an event. The end of the last demand is reported after `linger`: a program that
/// requests one location often requests another, and a sleeping receiver has to wake first. If no demand followed the
/// last end within that time, `shortLinger` applies until one does: a start costs less than five seconds of tracking. A
/// program that requests locations at known times does not linger.
struct PowerDemands: Sendable {
  /// The time for which the receiver stays on after the last demand.
  static var linger: Milliseconds { Milliseconds(5000) }
  /// The same while demands are rare; it covers the calls within one turn of a program's run loop.
  static var shortLinger: Milliseconds { Milliseconds(100) }

  /// The demands that were reported to the policy.
  private var reported: [ClientID: Demand] = [:]
  /// The last arguments of `update`, because most fixes do not change them.
  private var last: [ProgramDemand]?
  private var lingersUntil: Instant?
  /// When the last demand ended; nil while there is one, and before the first.
  private var endedAt: Instant?
  /// Whether the last end was followed by no demand within `linger`.
  private var areRare = false
  /// Whether one of the programs with a reported demand lingers.
  private var lingers = false

  /// The time at which the end of the last demand is reported.
  var deadline: Instant? { lingersUntil }

  /// Whether a client has fixes kept for later.
  private(set) var isDeferring = false
  /// Whether the standard service runs for any client.
  private(set) var hasStandard = false
  /// Whether a client is paused, so that movement must be detected.
  private(set) var isPaused = false

  /// Updates the demands of the programs. Returns the changes for the policy.
  mutating func update(_ demands: [ProgramDemand], at now: Instant) -> [PowerEvent] {
    if lingersUntil == nil, last == demands { return [] }
    last = demands
    var next: [ClientID: Demand] = [:]
    var nextLingers = false
    for program in demands {
      // The program is number 0 of its block, and its managers follow.
      let block = Int(program.program.number) << 32
      for (id, demand) in program.managers where demand.needsPosition {
        // A program of the daemon chooses its managers' numbers; none may be in another program's block.
        next[ClientID(block | (Int(UInt32(truncatingIfNeeded: id.number) & .max >> 1) + 1))] = demand
        nextLingers = nextLingers || program.lingers
      }
      guard program.shared.needsPosition else { continue }
      next[ClientID(block)] = program.shared
      nextLingers = nextLingers || program.lingers
    }
    isDeferring = next.values.contains(where: \.isDeferring)
    hasStandard = next.values.contains { $0.updates?.service == .standard }
    isPaused = next.values.contains { $0.isPaused && $0.updates?.service == .standard }
    if next.isEmpty, !reported.isEmpty {
      endedAt = endedAt ?? now
      let until = lingersUntil ?? now + (areRare ? Self.shortLinger : Self.linger)
      if lingers, now < until {
        lingersUntil = until
        return []
      }
    }
    lingersUntil = nil
    lingers = nextLingers
    if !next.isEmpty, let end = endedAt {
      areRare = now >= end + Self.linger
      endedAt = nil
    }
    var events: [PowerEvent] = []
    for id in reported.keys.sorted() where next[id] == nil { events.append(.demand(id, nil)) }
    for id in next.keys.sorted() where next[id] != reported[id] {
      events.append(.demand(id, next[id]))
    }
    reported = next
    return events
  }
}
