// SPDX-License-Identifier: Apache-2.0
import PowerControl

/// A client of the day with its promise. It replaces the work of `Positioning` with fixes.
struct BenchClient: Sendable {
  let id: ClientID
  let script: Day.Client
  var isActive = false
  private(set) var crossings: [Double] = []
  private(set) var worstStaleness = 0.0
  private(set) var late = 0
  private(set) var delivered = 0
  private var lastFix: (seconds: Double, place: Path.Place)?
  private var lastDelivery = 0.0
  /// Whether an accelerometer detects movement: then no fix is needed during a pause.
  private let watchesMovement: Bool
  /// The assumed side of the client's border, and the time since which fixes contradict it.
  private var isInside: Bool?
  private var otherSince: Double?
  private var wasPaused = false

  init(id: ClientID, script: Day.Client, watchesMovement: Bool) {
    self.id = id
    self.watchesMovement = watchesMovement
    self.script = script
  }

  /// The demand at the beginning.
  func opening() -> [Demand] {
    switch script.desired {
    case .demand(let demand): [demand]
    case .region: [Demand(border: Demand.Border(distanceMetres: 0))]
    case .deferring(let updates): [Demand(updates: updates)]
    }
  }

  /// The deferral has ended: updates come for an instant as they are made, then the next deferral begins.
  func deferralEnded() -> [Demand] {
    guard case .deferring(let updates) = script.desired else { return [] }
    var plain = updates
    plain.deferral = nil
    return [Demand(updates: plain), Demand(updates: updates)]
  }

  /// Handles a fix at a place; returns a new demand if the fix changes it.
  mutating func receive(
    _ place: Path.Place, truth: Path.Place, at seconds: Double, path: Path, isPaused: Bool, skySince: Double
  ) -> Demand? {
    defer { wasPaused = isPaused }
    switch script.desired {
    case .demand(let demand): judge(demand, truth, at: seconds, path, isPaused, skySince)
    case .region(let centre, let radius): return cross(centre, radius, place, at: seconds)
    case .deferring: delivered += 1
    }
    return nil
  }

  mutating func receiveBatch(_ count: Int, at seconds: Double) {
    delivered += count
    lastFix = nil
  }

  /// Whether the fix came in time for its demand.
  private mutating func judge(
    _ demand: Demand, _ truth: Path.Place, at seconds: Double, _ path: Path, _ isPaused: Bool, _ skySince: Double
  ) {
    defer { lastDelivery = seconds }
    guard let last = lastFix else {
      lastFix = (seconds, truth)
      delivered += 1
      return
    }
    // Without a sky the only promise is a fix after its return.
    let hasHadSky = skySince <= lastDelivery
    let staleness = hasHadSky ? seconds - lastDelivery : 0
    if let every = demand.everySeconds {
      delivered += 1
      worstStaleness = max(worstStaleness, staleness)
      if staleness > every { late += 1 }
    } else if let updates = demand.updates {
      let filter = updates.distanceFilterMetres
      if !watchesMovement || !(isPaused || wasPaused) { worstStaleness = max(worstStaleness, staleness) }
      if isPaused { return }
      guard truth.metres(to: last.place) >= filter else { return }
      delivered += 1
      let limit = filter > 0 && updates.allowsSavingWhileMoving ? updates.lateSeconds + 2 : 5
      let lateness = filter > 0 && hasHadSky ? overdue(filter, last, until: seconds, path) : staleness
      if !wasPaused, lateness > limit { late += 1 }
    }
    lastFix = (seconds, truth)
  }

  /// Seconds since the distance of the filter was reached.
  private func overdue(
    _ metres: Double, _ last: (seconds: Double, place: Path.Place), until seconds: Double, _ path: Path
  ) -> Double {
    var time = seconds
    while time > last.seconds, path.place(at: time - 0.5).metres(to: last.place) >= metres { time -= 0.5 }
    return seconds - time
  }

  private mutating func cross(
    _ centre: Path.Place, _ radius: Double, _ place: Path.Place, at seconds: Double
  ) -> Demand? {
    delivered += 1
    let distance = place.metres(to: centre) - radius
    let inside = distance < 0
    var dwell: Double?
    if isInside == nil { isInside = inside }
    if inside == isInside {
      otherSince = nil
    } else {
      let since = otherSince ?? seconds
      otherSince = since
      let left = PowerPolicy.standard.dwellSeconds - (seconds - since)
      if left <= 0 {
        isInside = inside
        otherSince = nil
        crossings.append(seconds)
      } else {
        dwell = left
      }
    }
    return Demand(border: Demand.Border(distanceMetres: abs(distance), dwellSeconds: dwell))
  }
}

extension [BenchClient] {
  /// The time of the next scripted start or end of a client, seconds of the day.
  func nextScripted(after seconds: Double) -> Double {
    reduce(.infinity) { next, client in
      client.isActive
        ? Swift.min(next, client.script.untilSeconds)
        : client.script.untilSeconds > seconds ? Swift.min(next, Swift.max(client.script.fromSeconds, 0.001)) : next
    }
  }
}
