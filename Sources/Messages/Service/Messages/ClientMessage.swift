// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A message of a program to the service.
package struct ClientMessage: Hashable, Codable, Sendable {
  /// Counts the messages of a program, over all its connections; `ProgramState.includes` refers to it.
  package var number: Int
  package var action: ClientAction

  package init(number: Int, _ action: ClientAction) {
    self.number = number
    self.action = action
  }
}

/// The calls of a program. Numbers of managers, streams, sessions and activities are chosen by the program.
package enum ClientAction: Hashable, Codable, Sendable {
  case addManager(Int)
  /// A manager that an earlier process of the service had.
  case resumeManager(Int, ClientResumption)
  case removeManager(Int)
  case call(manager: Int, ClientCall)

  case beginLiveUpdates(Int, LiveUpdates.Configuration)
  case endLiveUpdates(Int)
  case beginSession(Int, goal: ServiceGoal, fullAccuracyPurpose: String?)
  case endSession(Int)
  case beginBackgroundActivity(Int)
  /// An activity that began in the foreground, and that an earlier process of the service had.
  case resumeBackgroundActivity(Int)
  case endBackgroundActivity(Int)

  case openMonitor(String)
  case addCondition(Region.Shape, identifier: String, assuming: Monitor.State, monitor: String)
  case removeCondition(String, monitor: String)
  /// The program has handled this event of the state's waiting ones (MO-5).
  case takeEvent(Monitor.Event, monitor: String)
  /// The delegate gets the event with this number, which has waited for the program (``Ticket/waitingNumber``). Since
  /// version 2.
  case takeWaitingEvent(Int)

  case application(ApplicationState)
  /// The answer to a prompt that the program has shown.
  case answer(Authorization.Answer, to: Authorization.Prompt)
  /// Requests the newest location, which changes without a message.
  case refreshNewest
  /// Requests the host's current capabilities.
  case refreshHostCapabilities

  /// The first version of the messages that has it.
  var version: Int { if case .takeWaitingEvent = self { 2 } else { 1 } }
}
