// SPDX-License-Identifier: Apache-2.0
import Positioning

// Updates for a program that does not read.
extension ServiceUpdate {
  /// The largest number of joined events, where each location counts: an hour of locations at 1 Hz.
  package static var joinLimit: Int { 3600 }

  /// Joins a later update, for a program that does not read: locations of a manager become one event (SU-16). Above the limit
  /// the oldest recurring ones are dropped.
  package mutating func join(_ later: ServiceUpdate) {
    for event in later.events {
      changes.apply(event)
      join(event)
    }
    changes.join(later.changes)
    var excess = events.reduce(-Self.joinLimit) { $0 + $1.weight }
    while excess > 0, let index = heaviest {
      let before = events[index].weight
      if let shorter = events[index].withoutOldest(excess) {
        events[index] = shorter
        excess -= before - shorter.weight
      } else {
        events.remove(at: index)
        excess -= before
      }
    }
  }

  /// The approximate memory of the events, bytes.
  package var approximateBytes: Int { events.reduce(0) { $0 + $1.weight * 256 } }

  private mutating func join(_ event: ServiceEvent) {
    if case .delegate(let id, .didUpdateLocations(let more), let ticket) = event,
      let index = events.lastIndex(where: { $0.manager == id }),
      case .delegate(_, .didUpdateLocations(let locations), let last) = events[index], ticket.goes(with: last)
    {
      events[index] = .delegate(manager: id, .didUpdateLocations(locations + more), last)
    } else {
      events.append(event)
    }
  }

  /// The first of the recurring events with the most locations; nil if there is none.
  private var heaviest: Int? {
    let recurring = events.indices.filter { events[$0].comesAgain }
    guard let most = recurring.map({ events[$0].weight }).max() else { return nil }
    return recurring.first { events[$0].weight == most }
  }
}

extension ServiceEvent {
  fileprivate var manager: Int? { if case .delegate(let id, _, _) = self { id } else { nil } }

  /// The number of locations, which is never 0; 1 for another event.
  fileprivate var weight: Int {
    if case .delegate(_, .didUpdateLocations(let locations), _) = self { locations.count } else { 1 }
  }

  /// Whether another event of its kind follows soon.
  fileprivate var comesAgain: Bool {
    switch self {
    case .delegate(_, .didUpdateLocations, let ticket): !ticket.isAnswer && ticket.waitingNumber == nil
    case .delegate(_, .didUpdateHeading, _), .delegate(_, .didRange, _), .live, .log: true
    case .delegate, .temporaryAccuracy, .calibration, .prompt: false
    }
  }

  /// Returns the event without its oldest locations, at most half of them; nil for an event that cannot be shortened.
  fileprivate func withoutOldest(_ count: Int) -> ServiceEvent? {
    guard case .delegate(let id, .didUpdateLocations(let locations), let ticket) = self, locations.count > 1 else {
      return nil
    }
    return .delegate(
      manager: id, .didUpdateLocations(Array(locations.dropFirst(min(count, locations.count / 2)))), ticket)
  }
}
