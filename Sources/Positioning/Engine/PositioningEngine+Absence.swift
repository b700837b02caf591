// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// An event for a program that does not run. It waits until the program is started and requests it (SC-8, BG-5).
package enum WaitingEvent: Equatable, Codable, Sendable {
  /// The crossing of a border, a visit, or a location of the significant-change service.
  case delegate(DelegateEvent)
  /// An event of the CLMonitor of this name.
  case monitor(String, Monitor.Event)
}

/// A waiting event, with its number.
package struct NumberedEvent: Equatable, Sendable {
  package var number: Int
  package var event: WaitingEvent

  package init(number: Int, _ event: WaitingEvent) {
    self.number = number
    self.event = event
  }
}

/// A program that does not run: its regions, visits, conditions and significant-change service continue, and their
/// events wait for it (SC-7, RG-18, VI-2).
extension PositioningEngine {
  /// Whether anything continues without the program, apart from the significant-change service, which belongs to a
  /// manager.
  package var isRegistered: Bool { !regions.isEmpty || visits.isRunning || monitors.contains { !$0.records.isEmpty } }

  /// The names of the open monitors.
  package var monitorNames: [String] { monitors.map(\.name) }

  /// The time of the last delivery by the significant-change service of any manager; nil before.
  package var significantDeliveredAt: Instant? { clients.compactMap(\.significant.deliveredAt).max() }

  /// Adds a manager in place of the program's managers. It receives the events that start the program.
  ///
  /// - Parameters:
  ///   - id: the manager.
  ///   - wantsSignificant: whether the program has started, and not stopped, the significant-change service.
  ///   - significantDeliveredAt: the time of that service's last delivery, from which the next interval counts (SC-3).
  ///   - monitors: the program's monitors with their stored conditions.
  ///   - waiting: the events that already wait, whose states count as reported.
  ///   - now: the current instant.
  package mutating func beginAbsence(
    _ id: ClientID, wantsSignificant: Bool, significantDeliveredAt: Instant? = nil,
    monitors: [(name: String, records: [Monitor.Record])], waiting: [WaitingEvent], at now: Instant
  ) {
    assume(waiting, at: now)
    add(id)
    call(.setDelegate([.takesLocations, .takesErrors]), by: id, at: now)
    if wantsSignificant {
      call(.startSignificantChanges, by: id, at: now)
      clients[clients.count - 1].significant.resume(deliveredAt: significantDeliveredAt)
    }
    for monitor in monitors { openMonitor(monitor.name, restored: monitor.records, at: now) }
    for case .monitor(let name, let event) in waiting {
      if let index = self.monitors.firstIndex(where: { $0.name == name }) {
        self.monitors[index].expect(event, at: now)
      }
    }
    // The cached location is not a change, and the events that wait in monitors are known (SC-1).
    outputs.removeAll { $0.isOfAbsence }
  }

  /// Adopts the states that events have reported: the events are stored before the states.
  package mutating func assume(_ waiting: [WaitingEvent], at now: Instant) {
    for event in waiting {
      switch event {
      case .delegate(.didEnter(let region)): regions.assume(.inside, of: region, at: now)
      case .delegate(.didExit(let region)): regions.assume(.outside, of: region, at: now)
      case .delegate(.didVisit(let visit)): visits.assume(visit)
      case .delegate, .monitor: break
      }
    }
  }

  /// Returns the event of an output of ``beginAbsence``'s manager that waits for the program; nil for any other output.
  package func waitingEvents(of output: PositioningOutput, at now: UTCTime) -> [WaitingEvent] {
    switch output {
    case .event(_, let event, _):
      switch event {
      case .didEnter, .didExit, .didDetermineState, .didVisit, .didUpdateLocations: [.delegate(event)]
      default: []
      }
    case .monitorHasEvent(let name): waitingEvents(of: name, at: now).map { .monitor(name, $0) }
    default: []
    }
  }

  /// Delivers events that have waited to the managers of the program, which runs again: crossings and visits to a manager with
  /// a delegate, locations to a manager that has started the significant-change service, and events of a monitor once
  /// it is open.
  ///
  /// - Returns: the numbers of the delivered events.
  package mutating func deliver(waiting events: [NumberedEvent], at now: Instant) -> Set<Int> {
    let receivers = clients.indices.filter { clients[$0].services.delegate != nil }
    let delivered = events.filter { waiting in
      switch waiting.event {
      case .delegate(.didUpdateLocations(let locations)):
        let receivers = receivers.filter { clients[$0].services.wantsSignificant && clients[$0].isAuthorized }
        for index in receivers { deliverSignificant(locations, waiting.number, to: clients[index]) }
        return !receivers.isEmpty
      case .delegate(let event):
        for index in receivers { clients[index].emit(event, number: waiting.number, &outputs) }
        return !receivers.isEmpty
      case .monitor(let name, let event):
        guard let index = monitors.firstIndex(where: { $0.name == name }) else { return false }
        monitors[index].expect(event, at: now)
        outputs.append(.monitorHasEvent(name))
        return true
      }
    }
    return Set(delivered.map(\.number))
  }

  /// The start of the service has emitted the newest location (SC-1): the waiting events precede it, and none is
  /// delivered twice.
  private mutating func deliverSignificant(_ locations: [Location], _ number: Int, to client: ClientSession) {
    let newest = outputs.firstIndex { output in
      guard case .event(client.id, .didUpdateLocations, let ticket) = output else { return false }
      return ticket.significantRun == client.services.significantRun && !ticket.isAnswer && ticket.waitingNumber == nil
    }
    guard let newest, case .event(let id, .didUpdateLocations(let emitted), let ticket) = outputs[newest] else {
      return client.emit(.didUpdateLocations(locations), by: .significant, number: number, &outputs)
    }
    let others = emitted.filter { location in !locations.contains { $0.timestamp == location.timestamp } }
    var waiting = ticket
    waiting.waitingNumber = number
    outputs[newest] = .event(id, .didUpdateLocations(locations), waiting)
    if !others.isEmpty { outputs.insert(.event(id, .didUpdateLocations(others), ticket), at: newest + 1) }
  }
}

extension PositioningOutput {
  /// Whether this output would be stored as an event for a program that does not run.
  fileprivate var isOfAbsence: Bool {
    switch self {
    case .event, .monitorHasEvent: true
    default: false
    }
  }
}
