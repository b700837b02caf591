// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The program's side of its connection to the location service: managers read from the mirror, which sends their calls
/// to the service and returns the service's events.
///
///     away ──opened──▶ open ──connectionLost──▶ away
///
/// The effect of a call is visible in every later read at once, because the mirror predicts it; the service's state
/// replaces the prediction. While the service is unreachable, calls change the content that is recreated at its return,
/// and no calls are queued.
///
/// The driver calls a method, then takes `outputs` and `messages`, and calls `wake` at `deadline`.
package struct ProgramMirror: Sendable {
  /// An action for the driver, in order.
  package enum Output: Equatable, Sendable {
    /// An event for a manager's delegate; call `isCurrent` immediately before the delivery.
    case deliver(ClientID, DelegateEvent, Ticket)
    case temporaryAccuracy(ClientID, token: Int, PositioningError?)
    case showCalibration(ClientID, Bool)
    case live(Int, LiveUpdate)
    /// The monitor of this name has an event, or its conditions have arrived.
    case monitorHasEvent(String)
    /// The diagnostic of the sessions has changed.
    case sessions(Diagnostic)
    /// Prompts the user; the answer goes to `answer`.
    case prompt(Authorization.Prompt)
    case receiverProblem(ReceiverProblem?)
    /// A line for the log.
    case log(String)
  }

  /// An event of a monitor that an iteration has received and not completed.
  struct HandledEvent: Sendable {
    var monitor: String
    var iteration: Int
    var event: Monitor.Event
  }

  private struct TakenEvent: Hashable {
    var number: Int
    var manager: Int
  }

  enum Connection: Sendable {
    /// The service has been unreachable since this instant.
    case away(since: Instant, isReported: Bool)
    /// The service has returned at this instant.
    case open(since: Instant)
  }

  /// Actions, oldest first; the driver takes them.
  package var outputs: [Output] = []
  /// Messages to send, oldest first; the driver takes them while the connection is open.
  package var messages: [ClientMessage] = []

  var connection: Connection
  /// Whether the service has sent its state: until then, permission and hardware are unknown.
  var isStateKnown = false
  /// The service's state with the effect of the messages that it does not include.
  package internal(set) var state = ProgramState()
  /// The state as the service has sent it.
  var confirmed = ProgramState()
  /// Messages that were sent and are not in `confirmed`.
  var pending: [ClientMessage] = []
  /// Actions for the return of the service that the program's state does not imply.
  var kept: [ClientAction] = []
  /// The program's objects, to be created again at the return of the service.
  var program: ProgramContent
  /// The events of monitors that the program handles now.
  var handled: [HandledEvent] = []
  /// Managers whose request was answered, and whose delegate has not received the answer yet.
  var answered: Set<Int> = []
  /// The version of the messages that the service reads.
  var serviceVersion = ServiceVersion.current
  /// Waiting events that the program's delegates have received: a killed service sends those again for which it got no
  /// acknowledgement.
  private var taken: Set<TakenEvent> = []
  private var lastMessage = 0
  private var lastNumber = 0

  /// The number of unanswered messages above which the oldest ones count as received.
  static var pendingLimit: Int { 256 }

  /// - Parameters:
  ///   - application: whether the program is in the foreground.
  ///   - now: the current instant. Until `opened` the service is unreachable.
  package init(application: ApplicationState, at now: Instant) {
    connection = .away(since: now, isReported: false)
    program = ProgramContent(application: application)
  }

  package var isOpen: Bool { if case .open = connection { true } else { false } }

  /// A number for a manager, stream, session or activity that the program has not used.
  mutating func takeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Reads

  /// The manager's `location` (rules LC). Call `refreshNewest` first.
  package func location(of id: ClientID) -> Location? { state.location(of: id.number) }

  package func heading(of id: ClientID) -> Heading? { state.managers[id.number]?.heading }

  package func headingOrientation(of id: ClientID) -> DeviceOrientation {
    program.managers[id.number]?.headingOrientation ?? .portrait
  }

  package func rangedTargets(of id: ClientID) -> [Ranging.Target] {
    state.managers[id.number]?.services.rangedTargets ?? []
  }

  package var authorizationStatus: AuthorizationStatus { state.status }
  package var accuracyAuthorization: AccuracyAuthorization { state.accuracy }
  package var servicesAreEnabled: Bool { state.servicesAreEnabled }

  /// The reason why the service refuses a request for temporary full accuracy; nil if it prompts (AU-20).
  package func refusal(ofFullAccuracy purpose: String, keys: UsageKeys) -> AccuracyRefusal? {
    // The service also prompts in the background, through agents.
    AccuracyRefusal(
      purpose, keys: keys, status: state.status, accuracy: state.accuracy, isInForeground: true,
      isAsking: state.prompt != nil)
  }

  package var hostCapabilities: HostCapabilities { state.hostCapabilities }
  /// −1 if monitoring is not supported (RG-7).
  package var maximumRegionRadiusMetres: Double { state.maximumRegionRadiusMetres }
  package var monitoredRegions: [Region] { state.regions }
  package var sessionDiagnostic: Diagnostic { state.sessions }
  package var receiverProblem: ReceiverProblem? { state.problem }

  /// Whether the stored conditions of an opened monitor have arrived; `monitorHasEvent` reports it.
  package func isMonitorLoaded(_ name: String) -> Bool { confirmed.monitors[name] != nil }

  package func monitorIdentifiers(_ name: String) -> [String] {
    state.monitors[name]?.records.map(\.lastEvent.identifier) ?? []
  }

  /// A condition and its last handled event (MO-5); nil if there is none with this identifier.
  package func monitorRecord(_ identifier: String, of name: String) -> Monitor.Record? {
    state.monitors[name]?.records.first { $0.lastEvent.identifier == identifier }
  }

  /// Whether an event may still be delivered (SU-15, TH-3). Call it once for each event, immediately before its
  /// delivery: for an answer it ends the request (RQ-8), and for a waiting event it acknowledges the event.
  package mutating func isCurrent(_ event: DelegateEvent, _ ticket: Ticket, for id: ClientID) -> Bool {
    if ticket.isAnswer { answered.remove(id.number) }
    guard let services = state.managers[id.number]?.services else { return false }
    if let number = ticket.waitingNumber {
      // Without a delegate the event waits in the service for the next delegate.
      if services.delegate == nil { return false }
      guard take(number, by: id.number) else { return false }
    }
    guard services.isCurrent(ticket) else { return false }
    switch event {
    case .didEnter(let region), .didExit(let region): return state.regions.contains { $0.isSame(as: region) }
    case .didVisit: return state.visitsAreRunning
    default: return services.isWanted(event)
    }
  }

  /// Acknowledges a waiting event, which the service then removes. Returns false if the manager already has it.
  @discardableResult
  mutating func take(_ number: Int, by manager: Int) -> Bool {
    let isTaken = taken.contains { $0.number == number }
    guard taken.insert(TakenEvent(number: number, manager: manager)).inserted else { return false }
    if !isTaken { send(.takeWaitingEvent(number)) }
    return true
  }

  // MARK: Messages

  /// Sends an action, or keeps it for the return of the service.
  mutating func send(_ action: ClientAction) {
    guard isOpen else {
      state.predict(action)
      if !isStateKnown { state.assumePermission(for: action) }
      keep(action)
      return
    }
    guard action.version <= serviceVersion else { return }
    lastMessage += 1
    let message = ClientMessage(number: lastMessage, action)
    messages.append(message)
    state.predict(action)
    pending.append(message)
    if pending.count > Self.pendingLimit { confirmed.predict(pending.removeFirst().action) }
  }
}
