// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

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
    // A request is pending until its answer is delivered (RQ-8).
    if call == .requestLocation, manager.isRequestPending || answered.contains(id) { return }
    if call.endsRequest { answered.remove(id) }
    if !isOpen { answer(call, by: client, manager) }
    program.note(call, by: id, isOpen: isOpen, at: now)
    send(.call(manager: id, call))
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
    program.monitors.append(name)
    send(.openMonitor(name))
  }

  package mutating func addCondition(
    _ condition: Region.Shape, identifier: String, assuming state: Monitor.State, to name: String
  ) {
    forgetEvent(of: identifier, in: name)
    send(.addCondition(condition, identifier: identifier, assuming: state, monitor: name))
  }

  package mutating func removeCondition(_ identifier: String, from name: String) {
    forgetEvent(of: identifier, in: name)
    send(.removeCondition(identifier, monitor: name))
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
    send(.takeEvent(handled.remove(at: index).event, monitor: name))
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
    default: break
    }
  }
}

extension ClientCall {
  fileprivate var isSetDelegate: Bool { if case .setDelegate = self { true } else { false } }
}
