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
    /// An event for a manager's delegate; call `beginDelivery` immediately before the delivery.
    case deliver(ClientID, DelegateEvent, Ticket)
    case temporaryAccuracy(ClientID, token: Int, PositioningError?, refusal: AccuracyRefusal?)
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
  /// The time of the driver's last call, UTC: the date of events that the mirror predicts. The driver sets it first.
  package var date = UTCTime(nanosecondsSince1970: 0)

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
  /// The conditions whose names are too long for the service, with their monitors.
  var refused: [String: ProgramState.Monitor] = [:]
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

  package var hostCapabilities: HostCapabilities { state.hostCapabilities }
  /// −1 if monitoring is not supported (RG-7).
  package var maximumRegionRadiusMetres: Double { state.maximumRegionRadiusMetres }
  package var monitoredRegions: [Region] { state.regions }
  package var sessionDiagnostic: Diagnostic { state.sessions }
  package var receiverProblem: ReceiverProblem? { state.problem }

  /// Whether the stored conditions of an opened monitor have arrived; `monitorHasEvent` reports it.
  package func isMonitorLoaded(_ name: String) -> Bool {
    if confirmed.monitors[name] != nil || TextLimit.isExceeded(by: name) { return true }
    // The service has read the message and does not open the monitor, because the program has too many objects.
    return isOpen && program.monitors.contains(name) && !pending.contains { $0.action == .openMonitor(name) }
  }

  package func monitorIdentifiers(_ name: String) -> [String] {
    state.monitors[name]?.records.map(\.lastEvent.identifier) ?? []
  }

  /// A condition and its last handled event (MO-5); nil if there is none with this identifier.
  package func monitorRecord(_ identifier: String, of name: String) -> Monitor.Record? {
    state.monitors[name]?.records.first { $0.lastEvent.identifier == identifier }
  }

  /// Begins the delivery of an event. Returns whether it may still be delivered (SU-15, TH-3). Call it once for each
  /// event: for an answer it ends the request (RQ-8), and for a waiting event it acknowledges the event.
  package mutating func beginDelivery(of event: DelegateEvent, _ ticket: Ticket, to id: ClientID) -> Bool {
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
      state.predict(action, at: date)
      if !isStateKnown { state.assumePermission(for: action) }
      keep(action)
      return
    }
    guard action.version <= serviceVersion else { return }
    lastMessage += 1
    let message = ClientMessage(number: lastMessage, action)
    messages.append(message)
    state.predict(action, at: date)
    pending.append(message)
    if pending.count > Self.pendingLimit { confirmed.predict(pending.removeFirst().action, at: date) }
  }
}

/// The actions that wait for the return of the service. Each replaces the earlier ones that it makes obsolete, so that
/// their number depends on the program's regions, conditions and managers, and not on its calls.
extension ProgramMirror {
  /// The maximum number of kept actions; beyond it the oldest are dropped.
  static var keptLimit: Int { 256 }

  mutating func keep(_ action: ClientAction) {
    guard
      action.isKept || !isStateKnown && action.dependsOnService || action.fails(with: state.hostCapabilities)
    else { return }
    kept.removeAll { action.replaces($0) }
    kept.append(action)
    if kept.count > Self.keptLimit { kept.removeFirst() }
  }
}

extension ClientAction {
  /// Whether the program's state does not imply the action.
  fileprivate var isKept: Bool {
    switch self {
    case .call(_, let call):
      switch call {
      case .startMonitoring, .stopMonitoring, .startVisits, .stopVisits, .requestWhenInUse, .requestAlways: true
      default: false
      }
    case .addCondition, .removeCondition, .takeEvent, .takeWaitingEvent: true
    default: false
    }
  }

  /// Whether the action is a start or stop whose effect depends on permission or hardware.
  fileprivate var dependsOnService: Bool {
    switch self {
    case .call(_, .startSignificantChanges), .call(_, .stopSignificantChanges), .call(_, .startRanging),
      .call(_, .stopRanging):
      true
    default: false
    }
  }

  /// Whether the program's state does not have the start, because the hardware for it is missing: its outcome is an error.
  fileprivate func fails(with capabilities: HostCapabilities) -> Bool {
    switch self {
    case .call(_, .startSignificantChanges): !capabilities.hasSignificantChanges
    case .call(_, .startRanging(let target)): !capabilities.hasBluetooth || target.identity == nil
    default: false
    }
  }

  fileprivate func replaces(_ earlier: ClientAction) -> Bool {
    switch (self, earlier) {
    case (.call(let id, let call), .call(let earlierID, let earlierCall)):
      call.replaces(earlierCall) || id == earlierID && call.replacesInManager(earlierCall)
    case (.addCondition, _), (.removeCondition, _), (.takeEvent, .takeEvent):
      condition != nil && condition == earlier.condition
    default: false
    }
  }

  private var condition: [String]? {
    switch self {
    case .addCondition(_, let identifier, _, let monitor), .removeCondition(let identifier, let monitor):
      [monitor, identifier]
    case .takeEvent(let event, let monitor): [monitor, event.identifier]
    default: nil
    }
  }
}

extension ClientCall {
  fileprivate func replaces(_ earlier: ClientCall) -> Bool {
    switch (self, earlier) {
    case (.startMonitoring(let region, _), .startMonitoring(let other, _)),
      (.startMonitoring(let region, _), .stopMonitoring(let other)),
      (.stopMonitoring(let region), .startMonitoring(let other, _)),
      (.stopMonitoring(let region), .stopMonitoring(let other)):
      region.isSame(as: other)
    case (.startVisits, .startVisits), (.startVisits, .stopVisits), (.stopVisits, .startVisits),
      (.stopVisits, .stopVisits):
      true
    case (.requestWhenInUse, .requestWhenInUse), (.requestAlways, .requestAlways): true
    default: false
    }
  }

  fileprivate func replacesInManager(_ earlier: ClientCall) -> Bool {
    switch (self, earlier) {
    case (.startSignificantChanges, .startSignificantChanges), (.startSignificantChanges, .stopSignificantChanges),
      (.stopSignificantChanges, .startSignificantChanges), (.stopSignificantChanges, .stopSignificantChanges):
      true
    case (.startRanging(let target), .startRanging(let other)), (.startRanging(let target), .stopRanging(let other)),
      (.stopRanging(let target), .startRanging(let other)), (.stopRanging(let target), .stopRanging(let other)):
      target.isSame(as: other)
    default: false
    }
  }
}

/// The messages of the service.
extension ProgramMirror {
  /// The time after the return of the service, in seconds, during which it may repeat locations: the newest earlier
  /// one, with which each start begins (SU-1), and the locations stored for a deferral.
  static var repetitionSeconds: Double { ClientResumption.repetitionSeconds }

  package mutating func receive(_ message: ServiceMessage, at now: Instant) {
    switch message {
    case .update(let update): receive(update, at: now)
    case .goodbye(let reason): outputs.append(.log("the location service ends: \(reason)"))
    }
  }

  private mutating func receive(_ update: ServiceUpdate, at now: Instant) {
    // Handles a connection that was closed by this side.
    guard case .open(let opened) = connection else { return }
    let before = state
    for event in update.events { confirmed.apply(event) }
    confirmed.apply(update.changes)
    // The changes do not include a manager that the service never had.
    confirmed.managers = confirmed.managers.filter { program.managers[$0.key] != nil }
    pending.removeAll { $0.number <= confirmed.includes }
    state = confirmed
    for message in pending { state.predict(message.action, at: date) }
    showRefused()
    let mayRepeat = now < opened.moved(by: Self.repetitionSeconds)
    for event in update.events { receive(event, mayRepeat: mayRepeat, at: now) }
    forgetDeferrals()
    reportDifferences(from: before)
  }

  private mutating func receive(_ event: ServiceEvent, mayRepeat: Bool, at now: Instant) {
    switch event {
    case .delegate(let id, let event, let ticket): receive(event, ticket, by: id, mayRepeat: mayRepeat, at: now)
    case .temporaryAccuracy(let id, let token, let error, let refusal):
      program.accuracyRequests.removeAll { $0.manager == id && $0.token == token }
      outputs.append(.temporaryAccuracy(ClientID(id), token: token, error, refusal: refusal))
    case .calibration(let id, let shows): outputs.append(.showCalibration(ClientID(id), shows))
    case .live(let id, let update): receive(update, by: id, mayRepeat: mayRepeat, at: now)
    case .prompt(let prompt): outputs.append(.prompt(prompt))
    case .log(let text): outputs.append(.log(text))
    }
  }

  private mutating func receive(
    _ event: DelegateEvent, _ ticket: Ticket, by id: Int, mayRepeat: Bool, at now: Instant
  ) {
    guard var manager = program.managers[id] else { return }
    defer { program.managers[id] = manager }
    let hasWaited = ticket.waitingNumber != nil
    var event = event
    switch event {
    case .didUpdateLocations(var locations):
      manager.reportedOutage = nil
      // A waiting event is recognised as a repetition only by its number, which is checked immediately before its
      // delivery.
      if mayRepeat, !ticket.isAnswer, !hasWaited {
        locations.removeAll { manager.received.takeRepetition($0.timestamp, at: now) }
        if locations.isEmpty { return }
        event = .didUpdateLocations(locations)
      }
      if !ticket.isAnswer { for location in locations { manager.received.add(location.timestamp, at: now) } }
    case .didFail(.locationUnknown) where !ticket.isAnswer:
      let isRepetition = manager.reportedOutage == .beforeConnection
      manager.reportedOutage = .inConnection
      if isRepetition { return }
    case .didStartMonitoring(let region):
      guard let index = program.regions.firstIndex(where: { $0.region.isSame(as: region) && $0.manager == id }) else {
        break
      }
      let hasEvent = program.regions[index].isStarted && program.regions[index].isRepeated
      program.regions[index].isStarted = true
      program.regions[index].isRefused = false
      program.regions[index].isRepeated = false
      if hasEvent { return }
    case .didEnter, .didExit, .didVisit:
      if manager.repeated.note(event, hasWaited: hasWaited) {
        if let number = ticket.waitingNumber { take(number, by: id) }
        return
      }
    case .didDetermineState(_, let region):
      // The answer to a request is delivered even if the state is unchanged.
      let isAnswer = program.stateAnswered(region, to: id)
      if manager.repeated.note(event, hasWaited: hasWaited), !isAnswer { return }
    case .monitoringDidFail(let region?, .regionMonitoringDenied):
      guard let index = program.regions.firstIndex(where: { $0.region.isSame(as: region) && $0.manager == id }) else {
        break
      }
      let hasEvent = program.regions[index].isRefused && program.regions[index].isRepeated
      program.regions[index].isRefused = true
      program.regions[index].isRepeated = false
      if hasEvent { return }
    case .monitoringDidFail(let region?, _): program.regions.removeAll { $0.region.isSame(as: region) }
    default: break
    }
    if ticket.isAnswer { answered.insert(id) }
    outputs.append(.deliver(ClientID(id), event, ticket))
  }

  private mutating func receive(_ update: LiveUpdate, by id: Int, mayRepeat: Bool, at now: Instant) {
    guard program.streams[id] != nil else { return }
    if let time = update.location?.timestamp {
      if mayRepeat, program.streams[id]!.received.takeRepetition(time, at: now) { return }
      program.streams[id]!.received.add(time, at: now)
    }
    report(update, to: id)
  }

  /// Forwards an element, unless it repeats the reason of the last one (LV-3).
  mutating func report(_ update: LiveUpdate, to id: Int) {
    let reason = update.location == nil ? update.diagnostic : nil
    if let reason, reason == program.streams[id]?.reported { return }
    program.streams[id]?.reported = reason
    outputs.append(.live(id, update))
  }

  /// A deferral that the service has ended, or refused, is not repeated.
  private mutating func forgetDeferrals() {
    for (id, manager) in program.managers where manager.deferral != nil && state.managers[id]?.deferral == nil {
      let isPending = pending.contains { message in
        if case .call(id, .allowDeferredUpdates) = message.action { true } else { false }
      }
      if !isPending { program.managers[id]?.deferral = nil }
    }
  }

  /// Reports the changes that have observers.
  mutating func reportDifferences(from before: ProgramState) {
    if state.sessions != before.sessions { outputs.append(.sessions(state.sessions)) }
    if state.problem != before.problem { outputs.append(.receiverProblem(state.problem)) }
    for name in program.monitors {
      guard let monitor = state.monitors[name] else { continue }
      let isNew = before.monitors[name] == nil || monitor.waiting != before.monitors[name]?.waiting
      if isNew, !monitor.waiting.isEmpty { outputs.append(.monitorHasEvent(name)) }
    }
  }
}

/// The program's calls, with the names of the in-process service.
extension ProgramMirror {
  package mutating func addManager() -> ClientID {
    let id = takeNumber()
    program.managers[id] = ProgramContent.Manager()
    send(.addManager(id))
    return ClientID(id)
  }

  package mutating func removeManager(_ id: ClientID) {
    program.managers[id.number] = nil
    program.accuracyRequests.removeAll { $0.manager == id.number }
    program.stateRequests.removeAll { $0.manager == id.number }
    answered.remove(id.number)
    send(.removeManager(id.number))
  }

  package mutating func call(_ call: ClientCall, by client: ClientID, at now: Instant) {
    let id = client.number
    guard program.managers[id] != nil, let manager = state.managers[id] else { return }
    if call.isTooLong {
      if let event = call.refusal(isDenied: state.refusesRegions) {
        outputs.append(.deliver(client, event, .unrecalled))
      }
      return
    }
    var call = call
    if case .requestTemporaryFullAccuracy(let purpose, let token) = call {
      call = .requestTemporaryFullAccuracy(purpose: TextLimit.shortened(purpose), token: token)
    }
    // A request is pending until its answer is delivered (RQ-8).
    if call == .requestLocation, manager.isRequestPending || answered.contains(id) { return }
    if call.endsRequest { answered.remove(id) }
    if !isOpen { answer(call, by: client, manager) }
    program.note(call, by: id, isOpen: isOpen, at: now)
    send(.call(manager: id, call))
    // The next start is followed by an outage of its own (SU-17).
    if let services = state.managers[id]?.services, !services.wantsStandard, !services.wantsSignificant {
      program.managers[id]?.reportedOutage = nil
    }
    if !isOpen, call.isSetDelegate, let services = state.managers[id]?.services, services.delegate != nil {
      outputs.append(
        .deliver(client, .didChangeAuthorization(state.status, state.accuracy), .authorization(services)))
    }
  }

  package mutating func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, at now: Instant) -> Int {
    let id = takeNumber()
    program.streams[id] = ProgramContent.Stream(configuration: configuration, waitsSince: isOpen ? nil : now)
    send(.beginLiveUpdates(id, configuration))
    return id
  }

  package mutating func endLiveUpdates(_ id: Int) {
    guard program.streams.removeValue(forKey: id) != nil else { return }
    send(.endLiveUpdates(id))
  }

  package mutating func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int {
    let id = takeNumber()
    let fullAccuracyPurpose = fullAccuracyPurpose.map(TextLimit.shortened)
    program.sessions[id] = ProgramContent.Session(goal: goal, fullAccuracyPurpose: fullAccuracyPurpose)
    send(.beginSession(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose))
    return id
  }

  package mutating func endSession(_ id: Int) {
    guard program.sessions.removeValue(forKey: id) != nil else { return }
    send(.endSession(id))
  }

  package mutating func beginBackgroundActivity() -> Int {
    let id = takeNumber()
    program.activities[id] = program.application == .foreground
    send(.beginBackgroundActivity(id))
    return id
  }

  package mutating func endBackgroundActivity(_ id: Int) {
    guard program.activities.removeValue(forKey: id) != nil else { return }
    send(.endBackgroundActivity(id))
  }

  package mutating func openMonitor(_ name: String) {
    guard !program.monitors.contains(name) else { return }
    if TextLimit.isExceeded(by: name) {
      refused[name] = refused[name] ?? ProgramState.Monitor()
      return showRefused()
    }
    program.monitors.append(name)
    send(.openMonitor(name))
  }

  package mutating func addCondition(
    _ condition: Region.Shape, identifier: String, assuming state: Monitor.State, to name: String
  ) {
    forgetEvent(of: identifier, in: name)
    guard !TextLimit.refuses(condition: identifier, of: name) else {
      return refuse(condition, identifier, assuming: state, in: name)
    }
    send(.addCondition(condition, identifier: identifier, assuming: state, monitor: name))
  }

  package mutating func removeCondition(_ identifier: String, from name: String) {
    forgetEvent(of: identifier, in: name)
    guard !TextLimit.refuses(condition: identifier, of: name) else {
      refused[name]?.remove(identifier)
      state.monitors[name]?.remove(identifier)
      return
    }
    send(.removeCondition(identifier, monitor: name))
  }

  /// Keeps a condition that the service does not read. It is reported like one that no hardware can monitor.
  private mutating func refuse(
    _ condition: Region.Shape, _ identifier: String, assuming state: Monitor.State, in name: String
  ) {
    let event = Monitor.Event(identifier: identifier, state: state, date: date)
    refused[name, default: ProgramState.Monitor()].add(Monitor.Record(condition: condition, lastEvent: event))
    refused[name]?.waiting.append(
      Monitor.Event(identifier: identifier, state: .unmonitored, date: date, diagnostic: .conditionUnsupported))
    showRefused()
    outputs.append(.monitorHasEvent(name))
  }

  /// Adds the refused conditions to the service's state.
  mutating func showRefused() {
    for (name, monitor) in refused {
      if TextLimit.isExceeded(by: name) { state.monitors[name] = monitor }
      for record in monitor.records { state.monitors[name]?.add(record) }
      state.monitors[name]?.waiting += monitor.waiting
    }
  }

  /// Returns the next event of a monitor for an iteration, whose previous event counts as handled from then on (MO-5);
  /// nil if there is none. The service keeps the event until it is handled: a program that ends before that receives it
  /// again.
  package mutating func takeEvent(of name: String, by iteration: Int = 0) -> Monitor.Event? {
    completeEvent(of: name, by: iteration)
    let next = state.monitors[name]?.waiting.first { event in
      !handled.contains { $0.monitor == name && $0.event.identifier == event.identifier }
    }
    guard let next else { return nil }
    handled.append(HandledEvent(monitor: name, iteration: iteration, event: next))
    return next
  }

  /// Records that the iteration has handled its event: it fetches the next one, or has ended.
  package mutating func completeEvent(of name: String, by iteration: Int = 0) {
    guard let index = handled.firstIndex(where: { $0.monitor == name && $0.iteration == iteration }) else { return }
    let event = handled.remove(at: index).event
    guard !TextLimit.refuses(condition: event.identifier, of: name) else {
      refused[name]?.complete(event)
      state.monitors[name]?.complete(event)
      return
    }
    send(.takeEvent(event, monitor: name))
  }

  /// Records that a condition was replaced or removed.
  private mutating func forgetEvent(of identifier: String, in name: String) {
    handled.removeAll { $0.monitor == name && $0.event.identifier == identifier }
  }

  /// Handles a change of the program to or from the foreground.
  package mutating func setApplication(_ application: ApplicationState) {
    guard application != program.application else { return }
    program.application = application
    send(.application(application))
  }

  /// Handles the user's answer to a prompt that was an output.
  package mutating func answer(_ answer: Authorization.Answer, to prompt: Authorization.Prompt) {
    send(.answer(answer, to: prompt))
  }

  /// Requests the newest location, which `location` returns after the service's answer (LC-2).
  package mutating func refreshNewest() {
    guard isOpen, !pending.contains(where: { $0.action == .refreshNewest }) else { return }
    send(.refreshNewest)
  }

  /// Requests the current hardware.
  package mutating func refreshHostCapabilities() {
    guard isOpen, !pending.contains(where: { $0.action == .refreshHostCapabilities }) else { return }
    send(.refreshHostCapabilities)
  }

  /// Delivers the events that the service would emit at once for a call, while it is unreachable.
  private mutating func answer(_ call: ClientCall, by client: ClientID, _ manager: ProgramState.Manager) {
    let isDenied = state.status == .denied || state.status == .restricted
    let isDeferring = program.managers[client.number]?.deferral != nil
    switch call {
    case .startUpdatingLocation, .startSignificantChanges, .requestLocation, .startHeading, .startVisits:
      if isDenied { outputs.append(.deliver(client, .didFail(.denied), .unrecalled)) }
    case .stopUpdatingLocation:
      if isDeferring {
        outputs.append(
          .deliver(client, .didFinishDeferredUpdates(.deferredNotUpdatingLocation), .unrecalled))
      }
    case .disallowDeferredUpdates, .allowDeferredUpdates:
      if isDeferring {
        outputs.append(.deliver(client, .didFinishDeferredUpdates(.deferredCanceled), .unrecalled))
      }
    case .requestState(let region):
      if !program.hasRoomForStateRequest {
        outputs.append(.deliver(client, .didDetermineState(.unknown, region), .unrecalled))
      }
    default: break
    }
  }
}

extension ClientCall {
  fileprivate var isSetDelegate: Bool { if case .setDelegate = self { true } else { false } }
}
