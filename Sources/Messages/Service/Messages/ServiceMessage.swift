// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A message of the service to a program.
package enum ServiceMessage: Equatable, Codable, Sendable {
  case update(ServiceUpdate)
  /// The service ends, for the given reason; the program waits for its return.
  case goodbye(reason: String)
}

/// The events of one round of the service, oldest first, and the changes of state that belong to them: either both or
/// neither arrive.
package struct ServiceUpdate: Equatable, Codable, Sendable {
  package var events: [ServiceEvent]
  package var changes: ProgramState.Changes

  package init(events: [ServiceEvent] = [], changes: ProgramState.Changes) {
    self.events = events
    self.changes = changes
  }

  /// The numbers of the events that have waited while the program did not run.
  package var waitingNumbers: [Int] {
    events.compactMap { if case .delegate(_, _, let ticket) = $0 { ticket.waitingNumber } else { nil } }
  }
}

/// An event for a part of the program.
package enum ServiceEvent: Equatable, Codable, Sendable {
  case delegate(manager: Int, DelegateEvent, Ticket)
  /// A request for full accuracy ended; without an error if there was a prompt. An older service sends no refusal.
  case temporaryAccuracy(manager: Int, token: Int, PositioningError?, refusal: AccuracyRefusal?)
  case calibration(manager: Int, shows: Bool)
  case live(Int, LiveUpdate)
  /// Only sent to a program that shows prompts.
  case prompt(Authorization.Prompt)
  /// A line for the program's log.
  case log(String)
}
