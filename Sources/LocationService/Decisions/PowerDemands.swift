// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power

/// The demands of one program: from its managers, and from its regions, visits and streams.
struct ProgramDemand: Equatable, Sendable {
  var program = ProgramID.own
  /// Whether the receiver stays on for a while after its last demand.
  var lingers = true
  var managers: [(id: Positioning.ClientID, demand: Positioning.Demand)]
  var shared: Positioning.Demand

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
  /// The interval of fixes that detects a stay (rule VI-1): arrivals take five minutes, departures one.
  static var visitSeconds: Double { 120 }
  /// The time before the end of a deferral at which its fixes are read, so that all have arrived when it ends.
  static var earlySeconds: Double { 0.05 }
  /// A crossing counts after 20 s on the other side (rule RG-13); the deciding fix must not be too early.
  static var dwellSeconds: Double { 20.3 }

  /// The demands that were reported to the policy.
  private var reported: [PolicyClient: Positioning.Demand] = [:]
  /// The current demands, whose end may not have been reported to the policy yet.
  private var present: [PolicyClient: Positioning.Demand] = [:]
  /// The last arguments of `update`, because most fixes do not change them.
  private var last: [ProgramDemand]?
  /// The time since when a possible crossing of a program's border is in progress.
  private var crossingSince: [PolicyClient: Instant] = [:]
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
    var next: [PolicyClient: Positioning.Demand] = [:]
    var nextLingers = false
    for program in demands {
      // The program is number 0 of its block, and its managers follow.
      let block = UInt64(program.program.number) << 32
      for (id, demand) in program.managers where demand.needsPosition {
        // A program of the daemon chooses its managers' numbers; none may be in another program's block.
        next[PolicyClient(block | (UInt64(UInt32(truncatingIfNeeded: id.number) & .max >> 1) + 1))] = demand
        nextLingers = nextLingers || program.lingers
      }
      guard program.shared.needsPosition else { continue }
      next[PolicyClient(block)] = program.shared
      nextLingers = nextLingers || program.lingers
    }
    present = next
    isDeferring = next.values.contains { $0.standard?.deferral?.mayBatch == true }
    hasStandard = next.values.contains { $0.standard != nil }
    isPaused = next.values.contains { $0.standard?.isPaused == true }
    noteCrossings(at: now)
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
      events.append(.demand(id, translated(next[id]!, of: id, at: now)))
    }
    reported = next
    return events
  }

  private mutating func noteCrossings(at now: Instant) {
    crossingSince = crossingSince.filter { present[$0.key]?.border?.isCrossing == true }
    for (id, demand) in present where demand.border?.isCrossing == true && crossingSince[id] == nil {
      crossingSince[id] = now
    }
  }

  private func translated(_ demand: Positioning.Demand, of id: PolicyClient, at now: Instant) -> PolicyDemand {
    var translated = PolicyDemand()
    if let standard = demand.standard {
      // Movement resumes a paused client, which receives nothing before that.
      if standard.isPaused { translated.movement = true } else { translated.updates = updates(standard, at: now) }
    } else if demand.live {
      translated.updates = PolicyDemand.Updates(accuracy: .best)
    } else {
      translated.movement = demand.liveIsStationary
    }
    translated.oneShot = demand.oneShot != nil
    translated.significantChange = demand.significantChange != nil
    if demand.visits { translated.everySeconds = Self.visitSeconds }
    if let border = demand.border {
      let dwell = crossingSince[id].map { max(0, Self.dwellSeconds - now.seconds(since: $0)) }
      translated.border = .init(distanceMetres: border.metres ?? 0, dwellSeconds: dwell)
    }
    return translated
  }

  private func updates(_ standard: Positioning.Demand.Standard, at now: Instant) -> PolicyDemand.Updates {
    var updates = PolicyDemand.Updates(
      accuracy: accuracy(standard.desiredAccuracyMetres), distanceFilterMetres: max(0, standard.distanceFilterMetres),
      activity: activity(standard.activity))
    if let deferral = standard.deferral, deferral.mayBatch {
      updates.deferral = .init(
        untilTravelledMetres: deferral.remainingMetres.isFinite ? deferral.remainingMetres : nil,
        timeoutSeconds: deferral.ends.map { max(0, $0.seconds(since: now) - Self.earlySeconds) })
    }
    return updates
  }

  private func accuracy(_ metres: Double) -> PolicyDemand.Accuracy {
    // kCLLocationAccuracyBestForNavigation is -2, kCLLocationAccuracyBest -1.
    metres <= -2 ? .navigation : metres > 0 ? .metres(metres) : .best
  }

  private func activity(_ activity: Activity) -> PolicyDemand.Activity {
    switch activity {
    case .other: .other
    case .automotiveNavigation: .automotiveNavigation
    case .fitness: .fitness
    case .otherNavigation: .otherNavigation
    case .airborne: .airborne
    }
  }
}
