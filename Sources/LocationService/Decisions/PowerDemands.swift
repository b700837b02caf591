import MonotonicTime
import Positioning
import PowerControl
import ReceiverPower

/// What clients need, in the words of the power policy.
///
/// A demand is told when it has changed. When the last one goes, the policy is told a little later: who asks for one
/// location often asks again, and a receiver that sleeps has to wake first.
struct PowerDemands: Sendable {
  /// For how long the receiver stays on when nobody needs it.
  static var linger: Milliseconds { Milliseconds(5000) }
  /// A fix so often shows where one stays (rule VI-1): arrivals take five minutes, departures one.
  static var visitSeconds: Double { 120 }
  /// A deferral's fixes are wanted this much before its end: all are in when it ends.
  static var earlySeconds: Double { 0.05 }
  /// A crossing is believed after 20 s on the other side (rule RG-13); the fix that decides must not be early.
  static var dwellSeconds: Double { 20.3 }

  private var told: [PolicyClient: Positioning.Demand] = [:]
  /// What is needed now, also where the policy is told later.
  private var present: [PolicyClient: Positioning.Demand] = [:]
  /// What was given last: most fixes change nothing of it.
  private var last: (managers: [(id: Positioning.ClientID, demand: Positioning.Demand)], shared: Positioning.Demand)?
  private var crossingSince: Instant?
  private var lingersUntil: Instant?

  /// When the last demand is taken back.
  var deadline: Instant? { lingersUntil }

  /// Whether somebody has fixes kept for later.
  var isDeferring: Bool { present.values.contains { $0.standard?.deferral?.mayBatch == true } }

  /// Whether the standard service runs for somebody.
  var hasStandard: Bool { present.values.contains { $0.standard != nil } }

  /// Whether a client is paused: movement is looked for.
  var isPaused: Bool { present.values.contains { $0.standard?.isPaused == true } }

  /// The managers' demands and the app's are these; what has changed, for the policy.
  mutating func update(
    _ managers: [(id: Positioning.ClientID, demand: Positioning.Demand)], shared: Positioning.Demand, at now: Instant
  ) -> [PowerEvent] {
    if let last, lingersUntil == nil, last.shared == shared, last.managers.elementsEqual(managers, by: ==) { return [] }
    last = (managers, shared)
    var next: [PolicyClient: Positioning.Demand] = [:]
    for (id, demand) in managers where demand.needsPosition {
      // 0 is the app's.
      next[PolicyClient(UInt32(clamping: id.number) &+ 1)] = demand
    }
    if shared.needsPosition { next[PolicyClient(0)] = shared }
    present = next
    noteCrossing(shared.border, at: now)
    if next.isEmpty, !told.isEmpty {
      let until = lingersUntil ?? now + Self.linger
      lingersUntil = until
      guard now >= until else { return [] }
    }
    lingersUntil = nil
    var events: [PowerEvent] = []
    for id in told.keys.sorted() where next[id] == nil { events.append(.demand(id, nil)) }
    for id in next.keys.sorted() where next[id] != told[id] {
      events.append(.demand(id, translated(next[id]!, at: now)))
    }
    told = next
    return events
  }

  private mutating func noteCrossing(_ border: Positioning.Demand.Border?, at now: Instant) {
    guard border?.isCrossing == true else { return crossingSince = nil }
    if crossingSince == nil { crossingSince = now }
  }

  private func translated(_ demand: Positioning.Demand, at now: Instant) -> PolicyDemand {
    var translated = PolicyDemand()
    translated.updates = demand.standard.map { updates($0, at: now) } ?? live(demand)
    translated.oneShot = demand.oneShot != nil
    translated.significantChange = demand.significantChange != nil
    if demand.visits { translated.everySeconds = Self.visitSeconds }
    if let border = demand.border {
      let dwell = crossingSince.map { max(0, Self.dwellSeconds - now.seconds(since: $0)) }
      translated.border = .init(distanceMetres: border.metres ?? 0, dwellSeconds: dwell)
    }
    return translated
  }

  private func updates(_ standard: Positioning.Demand.Standard, at now: Instant) -> PolicyDemand.Updates {
    var updates = PolicyDemand.Updates(
      accuracy: accuracy(standard.desiredAccuracyMetres), distanceFilterMetres: max(0, standard.distanceFilterMetres),
      activity: activity(standard.activity), pausing: .decidedElsewhere(isPaused: standard.isPaused))
    if let deferral = standard.deferral, deferral.mayBatch {
      updates.deferral = .init(
        untilTravelledMetres: deferral.remainingMetres.isFinite ? deferral.remainingMetres : nil,
        timeoutSeconds: deferral.ends.map { max(0, $0.seconds(since: now) - Self.earlySeconds) })
    }
    return updates
  }

  /// Streams of live updates: every fix while one of them moves, looks while all stand still.
  private func live(_ demand: Positioning.Demand) -> PolicyDemand.Updates? {
    guard demand.live || demand.liveIsStationary else { return nil }
    return .init(accuracy: .best, pausing: .decidedElsewhere(isPaused: !demand.live))
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
