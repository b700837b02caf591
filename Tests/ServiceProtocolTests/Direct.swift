// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning

/// The engine, called by a program in its own process.
struct Direct {
  var engine: PositioningEngine
  var answered: Set<ClientID> = []
  var waiting: [ClientID: [(event: DelegateEvent, ticket: Ticket)]] = [:]
  /// The elements of live updates.
  var live: [LiveUpdate] = []

  mutating func takeOutputs() {
    for output in engine.outputs {
      switch output {
      case .event(let id, let event, let ticket):
        if ticket.isAnswer { answered.insert(id) }
        waiting[id, default: []].append((event, ticket))
      case .live(_, let update): live.append(update)
      default: break
      }
    }
    engine.outputs = []
  }

  mutating func call(_ call: ClientCall, by id: ClientID, at now: Instant) {
    // A request is pending until its answer is delivered (RQ-8).
    if call == .requestLocation, answered.contains(id) { return }
    if call.endsRequest { answered.remove(id) }
    engine.call(call, by: id, at: now)
    takeOutputs()
  }

  mutating func delivered(_ id: ClientID) -> [String] {
    let queue = waiting.removeValue(forKey: id) ?? []
    return queue.flatMap { event, ticket in
      if ticket.isAnswer { answered.remove(id) }
      return engine.isCurrent(ticket, for: id) && engine.isWanted(event, by: id) ? Connected.words(event) : []
    }
  }

  mutating func wait(_ duration: Double, from start: Instant) {
    var instant = start
    let end = start.moved(by: duration)
    while let deadline = engine.deadline, deadline <= end {
      instant = max(instant, deadline)
      engine.wake(at: Connected.moment(instant))
      takeOutputs()
    }
  }
}
