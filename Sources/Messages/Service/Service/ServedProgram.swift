// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The service's side of one program's connection: it applies the program's messages to the program's engine, and
/// creates the messages for the program from the engine's outputs and state.
///
/// The driver takes `engine.outputs`, performs the ones for the service (`store`), and passes all of them to `update`.
package struct ServedProgram: Sendable {
  /// The description that the program opened with.
  package let program: OpenRequest
  /// The state that the program has.
  private var sent: ProgramState
  private var includes = 0
  private var wantsNewest = false
  /// An object that this connection has added, by its number or name.
  private enum Object: Hashable {
    case manager(Int), stream(Int), session(Int), activity(Int), monitor(String), condition(String, of: String)
  }
  private var objects: Set<Object> = []
  /// The waiting events of monitors as they were sent; their times are kept.
  private var waiting: [String: [Monitor.Event]] = [:]
  /// The reason why no receiver can be opened. The driver sets it.
  package var problem: ReceiverProblem?
  /// Whether the state of monitors is lost at the end of the service. The driver sets it.
  package var losesState = false

  /// Opens the connection of a program.
  ///
  /// - Parameters:
  ///   - program: the parameters of the call.
  ///   - engine: the program's engine, without managers.
  ///   - problem: the receiver's problem.
  package init(_ program: OpenRequest, _ engine: borrowing PositioningEngine, problem: ReceiverProblem? = nil) {
    self.program = program
    self.problem = problem
    sent = ProgramState()
    sent = state(of: engine, at: UTCTime(nanosecondsSince1970: 0))
  }

  /// The reply to the call.
  package func reply(serviceVersion: String, launchedBy: String? = nil) -> OpenReply {
    OpenReply(serviceVersion: serviceVersion, state: sent, launchedBy: launchedBy)
  }

  /// The number of managers, streams, sessions, activities, monitors and added conditions.
  package var objectCount: Int { objects.count }

  /// Whether an action adds an object to the count.
  package func adds(_ action: ClientAction) -> Bool {
    Self.object(of: action).map { $0.isAdded && !objects.contains($0.object) } ?? false
  }

  /// The object that an action adds or removes; nil for another action.
  private static func object(of action: ClientAction) -> (object: Object, isAdded: Bool)? {
    switch action {
    case .addManager(let id), .resumeManager(let id, _): (.manager(id), true)
    case .removeManager(let id): (.manager(id), false)
    case .beginLiveUpdates(let id, _): (.stream(id), true)
    case .endLiveUpdates(let id): (.stream(id), false)
    case .beginSession(let id, _, _): (.session(id), true)
    case .endSession(let id): (.session(id), false)
    case .beginBackgroundActivity(let id), .resumeBackgroundActivity(let id): (.activity(id), true)
    case .endBackgroundActivity(let id): (.activity(id), false)
    case .openMonitor(let name): (.monitor(name), true)
    case .addCondition(_, let identifier, _, let name): (.condition(identifier, of: name), true)
    case .removeCondition(let identifier, let name): (.condition(identifier, of: name), false)
    default: nil
    }
  }

  /// Records a message that the driver applies itself. Returns false if it was already received.
  package mutating func note(_ message: ClientMessage) -> Bool {
    guard message.number > includes else { return false }
    includes = message.number
    return true
  }

  /// Applies a message of the program.
  ///
  /// - Parameters:
  ///   - message: the message. A message that was already received has no effect.
  ///   - engine: the program's engine.
  ///   - records: returns the stored conditions of a monitor.
  ///   - now: the current time.
  package mutating func receive(
    _ message: ClientMessage, _ engine: inout PositioningEngine, records: (String) -> [Monitor.Record],
    at now: Moment
  ) {
    guard message.number > includes else { return }
    includes = message.number
    let instant = now.instant
    switch Self.object(of: message.action) {
    case (let object, true)?: objects.insert(object)
    case (let object, false)?: objects.remove(object)
    case nil: break
    }
    switch message.action {
    case .addManager(let id): engine.add(ClientID(id))
    case .resumeManager(let id, let resumption): engine.resume(ClientID(id), resumption, at: instant)
    case .removeManager(let id): engine.remove(ClientID(id))
    case .call(let id, let call): engine.call(call, by: ClientID(id), at: instant)
    case .beginLiveUpdates(let id, let configuration): engine.beginLiveUpdates(id, configuration, at: instant)
    case .endLiveUpdates(let id): engine.endLiveUpdates(id)
    case .beginSession(let id, let goal, let purpose):
      engine.beginSession(id, goal: goal, fullAccuracyPurpose: purpose, at: instant)
    case .endSession(let id): engine.endSession(id, at: instant)
    case .beginBackgroundActivity(let id): engine.beginBackgroundActivity(id, at: instant)
    case .resumeBackgroundActivity(let id): engine.resumeBackgroundActivity(id, at: instant)
    case .endBackgroundActivity(let id): engine.endBackgroundActivity(id, at: instant)
    case .openMonitor(let name):
      if engine.monitor(name) == nil { engine.openMonitor(name, restored: records(name), at: instant) }
    case .addCondition(let condition, let identifier, let state, let name):
      engine.addCondition(condition, identifier: identifier, assuming: state, to: name, at: now)
    case .removeCondition(let identifier, let name): engine.removeCondition(identifier, from: name)
    case .takeEvent(var event, let name):
      event.diagnostic.remove(.persistenceUnavailable)
      engine.complete(event, of: name, at: instant)
    case .application(let state): engine.setApplication(state, at: instant)
    case .answer(let answer, let prompt): engine.authorizationAnswered(answer, to: prompt, at: instant)
    case .refreshNewest: wantsNewest = true
    // The driver already has the events.
    case .takeWaitingEvent, .refreshHostCapabilities: break
    }
  }

  /// The message of this round; nil if nothing has changed for the program.
  ///
  /// - Parameters:
  ///   - outputs: the engine's outputs since the last round.
  ///   - engine: the engine after them.
  ///   - now: the current time, UTC.
  package mutating func update(
    _ outputs: [PositioningOutput], _ engine: borrowing PositioningEngine, at now: UTCTime
  ) -> ServiceUpdate? {
    let events = outputs.compactMap(event)
    for event in events { sent.apply(event) }
    var state = state(of: engine, at: now)
    var changes = sent.changes(to: state)
    if events.isEmpty, !wantsNewest {
      // These values change without a message.
      state.newest = sent.newest
      for (id, manager) in sent.managers where state.managers[id]?.deferral != nil && manager.deferral != nil {
        state.managers[id]?.deferral = manager.deferral
      }
      changes = sent.changes(to: state)
      if changes.isEmpty { return nil }
    }
    wantsNewest = false
    sent = state
    return ServiceUpdate(events: events, changes: changes)
  }

  /// Removes everything that ends with the connection: managers, streams, sessions and activities. Regions, visits and
  /// monitors are kept (GE-7).
  package mutating func close(_ engine: inout PositioningEngine, at now: Instant) {
    for case .manager(let id) in objects { engine.remove(ClientID(id)) }
    for case .stream(let id) in objects { engine.endLiveUpdates(id) }
    for case .session(let id) in objects { engine.endSession(id, at: now) }
    for case .activity(let id) in objects { engine.endBackgroundActivity(id, at: now) }
    objects = objects.filter { object in
      switch object {
      case .monitor, .condition: true
      case .manager, .stream, .session, .activity: false
      }
    }
  }

  private func event(_ output: PositioningOutput) -> ServiceEvent? {
    switch output {
    case .event(let id, let event, let ticket): .delegate(manager: id.number, event, ticket)
    case .prompt(let prompt): program.showsPrompts ? .prompt(prompt) : nil
    case .temporaryAccuracy(let id, let token, let error, let refusal):
      .temporaryAccuracy(manager: id.number, token: token, error, refusal: refusal)
    case .showCalibration(let id): .calibration(manager: id.number, shows: true)
    case .hideCalibration(let id): .calibration(manager: id.number, shows: false)
    case .live(let id, let update): .live(id, update)
    case .advice(_, let advice): .log(advice.message(granting: GrantCommand(program: program.identifier)))
    case .monitorHasEvent, .store: nil
    }
  }

  private mutating func state(of engine: borrowing PositioningEngine, at now: UTCTime) -> ProgramState {
    var state = ProgramState()
    state.includes = includes
    state.status = engine.authorization.status
    state.accuracy = engine.authorization.accuracy
    state.servicesAreEnabled = engine.authorization.servicesAreEnabled
    state.prompt = engine.authorization.asked
    state.hostCapabilities = engine.hostCapabilities
    state.maximumRegionRadiusMetres = engine.maximumRegionRadiusMetres
    state.regions = engine.regions.monitored
    state.visitsAreRunning = engine.visits.isRunning
    state.newest = engine.permittedNewest
    state.sessions = engine.sessionDiagnostic
    state.problem = problem
    for case .manager(let id) in objects {
      guard let services = engine.services(of: ClientID(id)) else { continue }
      var manager = ProgramState.Manager()
      manager.services = services
      manager.delivered = engine.deliveredLocation(of: ClientID(id))
      manager.heading = engine.heading(of: ClientID(id))
      manager.isRequestPending = engine.isRequestPending(ClientID(id))
      manager.deferral = engine.deferralMetres(of: ClientID(id)).map { ProgramState.Deferral(remainingMetres: $0) }
      state.managers[id] = manager
    }
    for case .monitor(let name) in objects { state.monitors[name] = monitor(name, of: engine, at: now) }
    return state
  }

  private mutating func monitor(
    _ name: String, of engine: borrowing PositioningEngine, at now: UTCTime
  ) -> ProgramState.Monitor {
    var monitor = ProgramState.Monitor()
    monitor.records = engine.monitor(name)?.readRecords ?? []
    let before = waiting[name] ?? []
    monitor.waiting = engine.waitingEvents(of: name, at: now).map { event in
      before.first { $0.isSameReport(as: event) } ?? event
    }
    waiting[name] = monitor.waiting
    if losesState {
      for index in monitor.waiting.indices { monitor.waiting[index].diagnostic.insert(.persistenceUnavailable) }
    }
    return monitor
  }
}

extension Monitor.Event {
  /// Whether both report the same reason for an unmonitored condition: the report keeps the time of the first.
  fileprivate func isSameReport(as other: Monitor.Event) -> Bool {
    identifier == other.identifier && state == .unmonitored && other.state == .unmonitored
      && diagnostic == other.diagnostic && !diagnostic.isRefusal
  }
}
