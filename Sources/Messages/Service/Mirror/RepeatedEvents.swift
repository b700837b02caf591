// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The last crossing and state of each region, and the last visit, that a manager has received.
///
/// The service stores a crossing or a visit after it has sent it, so that a service that is killed in between loses no
/// event. The next process of the service sends that event again.
struct RepeatedEvents: Sendable {
  private var last: [DelegateEvent] = []
  /// The events before the loss of the connection that no other event has followed.
  private var beforeLoss: [DelegateEvent] = []

  mutating func connectionLost() { beforeLoss = last }

  /// Handles an event. Returns whether it repeats an event from before the disconnect.
  ///
  /// - Parameter hasWaited: whether it has a number, with which the mirror recognises a repetition.
  mutating func note(_ event: DelegateEvent, hasWaited: Bool) -> Bool {
    // Any other event has no subject.
    guard event.hasSubject(of: event) else { return false }
    let isRepetition = beforeLoss.contains { $0.hasContent(of: event) }
    beforeLoss.removeAll { $0.hasSubject(of: event) }
    last.removeAll { $0.hasSubject(of: event) }
    if isRepetition || !hasWaited { last.append(event) }
    return isRepetition
  }

  /// Records that the monitoring of a region restarts or ends.
  mutating func forget(_ region: Region) {
    let crossing = DelegateEvent.didEnter(region)
    let state = DelegateEvent.didDetermineState(.unknown, region)
    for event in [crossing, state] {
      last.removeAll { $0.hasSubject(of: event) }
      beforeLoss.removeAll { $0.hasSubject(of: event) }
    }
  }

  mutating func forgetVisits() {
    last.removeAll { $0.isVisit }
    beforeLoss.removeAll { $0.isVisit }
  }
}

extension DelegateEvent {
  fileprivate var isVisit: Bool { if case .didVisit = self { true } else { false } }

  /// Whether both events report the same region, or visits.
  fileprivate func hasSubject(of other: DelegateEvent) -> Bool {
    switch (self, other) {
    case (.didEnter(let region), .didEnter(let second)), (.didEnter(let region), .didExit(let second)),
      (.didExit(let region), .didEnter(let second)), (.didExit(let region), .didExit(let second)),
      (.didDetermineState(_, let region), .didDetermineState(_, let second)):
      region.isSame(as: second)
    case (.didVisit, .didVisit): true
    default: false
    }
  }

  /// Whether both events report the same content. The times of a visit are measured again.
  fileprivate func hasContent(of other: DelegateEvent) -> Bool {
    switch (self, other) {
    case (.didEnter(let region), .didEnter(let second)), (.didExit(let region), .didExit(let second)):
      region.isSame(as: second)
    case (.didDetermineState(let state, let region), .didDetermineState(let secondState, let second)):
      state == secondState && region.isSame(as: second)
    case (.didVisit(let visit), .didVisit(let second)): (visit.departure == nil) == (second.departure == nil)
    default: false
    }
  }
}
