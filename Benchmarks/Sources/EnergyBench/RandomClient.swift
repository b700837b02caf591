// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power

/// A client of a random day: its demand of the policy, as the rules of clients would change it.
struct RandomClient: Sendable {
  let id: ClientID
  let script: Script
  var isActive = false
  /// The assumed side of the client's border, and the time since which fixes contradict it.
  private var isInside: Bool?
  private var otherSince: Double?
  /// The place of the last movement, and its time.
  private var anchor: (place: Path.Place, seconds: Double)?

  /// The demand between two times.
  struct Script: Sendable {
    var fromSeconds: Double
    var untilSeconds: Double
    var request: Request
  }

  enum Request: Sendable {
    case demand(Demand)
    /// The distance to the border is reported at each fix, and a crossing waits for its dwell time.
    case region(centre: Path.Place, radiusMetres: Double)
    /// Repeated deferral: the next begins as soon as one has ended.
    case deferring(Demand.Updates, metres: Double?, seconds: Double?)
    /// Updates while the client moves; at rest it waits for a movement.
    case whileMoving(Demand.Updates)
  }

  init(id: ClientID, script: Script) {
    self.id = id
    self.script = script
  }

  /// The demand at the beginning.
  func opening(at now: Instant) -> Demand {
    switch script.request {
    case .demand(let demand): demand
    case .region: Demand(border: Demand.Border(metres: 0))
    case .whileMoving(let updates): Demand(updates: updates)
    case .deferring(let updates, let metres, let seconds): Self.deferring(updates, metres, seconds, at: now)
    }
  }

  private static func deferring(
    _ updates: Demand.Updates, _ metres: Double?, _ seconds: Double?, at now: Instant
  ) -> Demand {
    var deferring = updates
    deferring.delivery = .deferred(
      Demand.Deferral(remainingMetres: metres, ends: seconds.map { now.moved(by: $0) }))
    return Demand(updates: deferring)
  }

  /// The deferral has ended: updates come for an instant as they are made, then the next deferral begins.
  func deferralEnded(at now: Instant) -> [Demand] {
    guard case .deferring(let updates, let metres, let seconds) = script.request else { return [] }
    return [Demand(updates: updates), Self.deferring(updates, metres, seconds, at: now)]
  }

  /// Takes a fix; returns a new demand if the fix changes it.
  mutating func receive(_ place: Path.Place, at seconds: Double) -> Demand? {
    switch script.request {
    case .region(let centre, let radius): demand(atBorderOf: centre, radius, place, at: seconds)
    case .whileMoving(let updates): demand(updates, place, at: seconds)
    case .demand, .deferring: nil
    }
  }

  private mutating func demand(_ updates: Demand.Updates, _ place: Path.Place, at seconds: Double) -> Demand {
    if let anchor, place.metres(to: anchor.place) < 50 {
      return seconds - anchor.seconds < 900 ? Demand(updates: updates) : Demand(updates: .init(delivery: .paused))
    }
    anchor = (place, seconds)
    return Demand(updates: updates)
  }

  private mutating func demand(
    atBorderOf centre: Path.Place, _ radius: Double, _ place: Path.Place, at seconds: Double
  ) -> Demand {
    let distance = place.metres(to: centre) - radius
    let inside = distance < 0
    if isInside == nil { isInside = inside }
    if inside == isInside {
      otherSince = nil
    } else {
      let since = otherSince ?? seconds
      otherSince = since
      if seconds - since >= PowerPolicy.standard.dwellSeconds {
        isInside = inside
        otherSince = nil
      }
    }
    return Demand(border: Demand.Border(metres: abs(distance), isCrossing: otherSince != nil))
  }
}

extension [RandomClient] {
  /// The time of the next scripted start or end of a client, seconds of the day.
  func nextScripted(after seconds: Double) -> Double {
    reduce(.infinity) { next, client in
      client.isActive
        ? Swift.min(next, client.script.untilSeconds)
        : client.script.untilSeconds > seconds ? Swift.min(next, Swift.max(client.script.fromSeconds, 0.001)) : next
    }
  }
}
