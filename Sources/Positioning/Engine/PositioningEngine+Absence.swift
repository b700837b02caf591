// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// An event for a program that does not run. It waits until the program is started and asks for it (SC-8, BG-5).
package enum WaitingEvent: Equatable, Codable, Sendable {
  /// The crossing of a border, a visit, or a location of the significant-change service.
  case delegate(DelegateEvent)
  /// An event of the CLMonitor of this name.
  case monitor(String, Monitor.Event)
}

/// A program that does not run: its regions, visits, conditions and its significant-change service go on, and their events wait
/// for it (SC-7, RG-18, VI-2).
extension PositioningEngine {
  /// Whether anything goes on without the program, beside the significant-change service, which belongs to a manager.
  package var isRegistered: Bool { !regions.isEmpty || visits.isRunning || monitors.contains { !$0.records.isEmpty } }

  /// The names of the open monitors.
  package var monitorNames: [String] { monitors.map(\.name) }

  /// Adds a manager in place of those of the program. It takes the events that start the program.
  ///
  /// - Parameters:
  ///   - id: the manager.
  ///   - wantsSignificant: whether the program has started the significant-change service and not stopped it.
  ///   - monitors: the program's monitors with their stored conditions.
  ///   - waiting: the events that wait already, whose states count as reported.
  ///   - now: the present instant.
  package mutating func beginAbsence(
    _ id: ClientID, wantsSignificant: Bool, monitors: [(name: String, records: [Monitor.Record])],
    waiting: [WaitingEvent], at now: Instant
  ) {
    for event in waiting {
      switch event {
      case .delegate(.didEnter(let region)): regions.assume(.inside, of: region, at: now)
      case .delegate(.didExit(let region)): regions.assume(.outside, of: region, at: now)
      case .delegate(.didVisit(let visit)): visits.assume(visit)
      case .delegate, .monitor: break
      }
    }
    add(id)
    call(.setDelegate([.takesLocations, .takesErrors]), by: id, at: now)
    if wantsSignificant { call(.startSignificantChanges, by: id, at: now) }
    for monitor in monitors { openMonitor(monitor.name, restored: monitor.records, at: now) }
    for case .monitor(let name, let event) in waiting {
      if let index = self.monitors.firstIndex(where: { $0.name == name }) {
        self.monitors[index].expect(event, at: now)
      }
    }
    // The cached location is no change, and what has waited in monitors is known (SC-1).
    outputs.removeAll { $0.isOfAbsence }
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
  /// a delegate, locations to one that has started the significant-change service, those of a monitor once it is open.
  ///
  /// - Returns: the events that still wait.
  package mutating func deliver(waiting events: [WaitingEvent], at now: Instant) -> [WaitingEvent] {
    let receivers = clients.indices.filter { clients[$0].services.delegate != nil }
    return events.filter { event in
      switch event {
      case .delegate(.didUpdateLocations(let locations)):
        let receivers = receivers.filter { clients[$0].services.wantsSignificant && clients[$0].isAuthorized }
        for index in receivers { deliverSignificant(locations, to: clients[index]) }
        return receivers.isEmpty
      case .delegate(let event):
        for index in receivers { clients[index].emit(event, &outputs) }
        return receivers.isEmpty
      case .monitor(let name, let event):
        guard let index = monitors.firstIndex(where: { $0.name == name }) else { return true }
        monitors[index].expect(event, at: now)
        outputs.append(.monitorHasEvent(name))
        return false
      }
    }
  }

  /// The start of the service has emitted the newest location (SC-1): what has waited comes with it, oldest first and none twice.
  private mutating func deliverSignificant(_ locations: [Location], to client: ClientSession) {
    let first = outputs.firstIndex { output in
      guard case .event(client.id, .didUpdateLocations, let ticket) = output else { return false }
      return ticket.significantRun == client.services.significantRun && !ticket.isAnswer
    }
    guard let first, case .event(let id, .didUpdateLocations(let emitted), let ticket) = outputs[first] else {
      return client.emit(locations, by: .significant, &outputs)
    }
    let others = locations.filter { location in !emitted.contains { $0.timestamp == location.timestamp } }
    outputs[first] = .event(
      id, .didUpdateLocations((others + emitted).sorted { $0.timestamp < $1.timestamp }), ticket)
  }
}

extension PositioningOutput {
  /// Whether it would be taken for an event of a program that does not run.
  fileprivate var isOfAbsence: Bool {
    switch self {
    case .event, .monitorHasEvent: true
    default: false
    }
  }
}
