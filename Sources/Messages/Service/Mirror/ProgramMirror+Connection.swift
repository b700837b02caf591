// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import WireBytes

/// The return and loss of the service, and the time without it.
extension ProgramMirror {
  /// The time without the service after which clients receive the same events as without a fix.
  static var outageSeconds: Double { 30 }
  /// The same for a request (RQ-6).
  static var requestSeconds: Double { 10 }

  /// The parameters of the next call that opens the connection.
  package func openRequest(identifier: String, keys: UsageKeys, showsPrompts: Bool) -> OpenRequest {
    OpenRequest(
      identifier: identifier, keys: keys, application: program.application, showsPrompts: showsPrompts)
  }

  /// Handles the acceptance of the connection: all objects of the program are created again in the service.
  ///
  /// - Returns: the reason to close the connection, with the remedy; nil if it is used.
  package mutating func opened(_ reply: OpenReply, at now: Instant) -> String? {
    if let refusal = ServiceVersion.refusal(client: ServiceVersion.current, service: reply.version) { return refusal }
    serviceVersion = reply.version
    let before = state
    let actions = repeated(at: now, reply.state)
    for index in program.regions.indices {
      let started = program.regions[index]
      program.regions[index].isRepeated = started.isRepeated(in: reply.state)
    }
    connection = .open(since: now)
    isStateKnown = true
    confirmed = reply.state
    confirmed.includes = 0
    // Until the service has sent them, reads return the previous values.
    confirmed.managers = before.managers
    for (name, monitor) in before.monitors where confirmed.monitors[name] == nil { confirmed.monitors[name] = monitor }
    state = confirmed
    pending = []
    messages = []
    kept = []
    for action in actions { send(action) }
    showRefused()
    for id in program.managers.keys {
      program.managers[id]?.waitsSince = nil
      program.managers[id]?.requestSince = nil
    }
    for id in program.streams.keys { program.streams[id]?.waitsSince = nil }
    reportDifferences(from: before)
    return nil
  }

  /// Handles the loss of the connection, or the end of the service.
  package mutating func connectionLost(at now: Instant) {
    guard isOpen else { return }
    connection = .away(since: now, isReported: false)
    kept = []
    for message in pending { keep(message.action) }
    // A request whose prompt was open is made again.
    if let prompt = state.prompt, let id = program.managers.keys.min() {
      switch prompt.request {
      case .whenInUse: keep(.call(manager: id, .requestWhenInUse))
      case .always: keep(.call(manager: id, .requestAlways))
      case .temporaryFullAccuracy: break
      }
    }
    state.prompt = nil
    pending = []
    messages = []
    confirmed = state
    for (id, manager) in state.managers {
      let waits = manager.services.wantsStandard || manager.services.wantsSignificant
      program.managers[id]?.connectionLost(waits: waits, isRequestPending: manager.isRequestPending, at: now)
    }
    for id in program.streams.keys { program.streams[id]?.connectionLost(at: now) }
  }

  /// The actions that recreate the program's content in a new process of the service.
  private func repeated(at now: Instant, _ new: ProgramState) -> [ClientAction] {
    var actions: [ClientAction] = [.application(program.application)]
    for (id, isInForeground) in program.activities.sorted(by: { $0.key < $1.key }) where isInForeground {
      actions.append(.resumeBackgroundActivity(id))
    }
    let managers = program.managers.sorted { $0.key < $1.key }
    for (id, manager) in managers {
      let resumption = ClientResumption(
        services: state.managers[id]?.services ?? StartedServices(), status: state.status, accuracy: state.accuracy,
        settings: manager.settings.sorted { $0.key < $1.key }.map(\.value),
        delivered: state.managers[id]?.delivered)
      actions.append(.resumeManager(id, resumption))
    }
    for (id, session) in program.sessions.sorted(by: { $0.key < $1.key }) {
      actions.append(.beginSession(id, goal: session.goal, fullAccuracyPurpose: session.fullAccuracyPurpose))
    }
    for (id, stream) in program.streams.sorted(by: { $0.key < $1.key }) {
      actions.append(.beginLiveUpdates(id, stream.configuration))
    }
    for name in program.monitors { actions.append(.openMonitor(name)) }
    for action in kept { actions += inManager(action) }
    actions += repeatedRegions(new)
    for (id, manager) in managers {
      if state.managers[id]?.isRequestPending ?? false { actions.append(.call(manager: id, .requestLocation)) }
      if let deferral = manager.deferral {
        let metres = state.managers[id]?.deferral?.remainingMetres
        actions.append(.call(manager: id, deferral.rest(metres: metres, at: now)))
      }
    }
    for (id, region) in program.stateRequests { actions.append(.call(manager: id, .requestState(region))) }
    for request in program.accuracyRequests {
      actions.append(
        .call(
          manager: request.manager, .requestTemporaryFullAccuracy(purpose: request.purpose, token: request.token)))
    }
    return actions
  }

  /// The service stores regions and visits: a second start would discard the side of a border.
  private func repeatedRegions(_ new: ProgramState) -> [ClientAction] {
    var actions: [ClientAction] = []
    for started in program.regions where started.isRepeated(in: new) {
      let call = ClientCall.startMonitoring(started.region, marginMetres: started.marginMetres)
      if kept.contains(.call(manager: started.manager, call)) { continue }
      actions += inManager(.call(manager: started.manager, call))
    }
    if let id = program.visits, !new.visitsAreRunning { actions += inManager(.call(manager: id, .startVisits)) }
    return actions
  }

  /// A call of a removed manager needs a temporary manager: it starts and stops services of the program (GE-7).
  private func inManager(_ action: ClientAction) -> [ClientAction] {
    guard case .call(let id, _) = action, program.managers[id] == nil else { return [action] }
    return [.addManager(id), action, .removeManager(id)]
  }

  // MARK: The time without the service

  /// The time at which `wake` is due; nil if it is not due.
  package var deadline: Instant? {
    guard case .away(let since, let isReported) = connection else { return nil }
    var next: Instant? = isReported ? nil : since.moved(by: Self.outageSeconds)
    for manager in program.managers.values {
      if manager.reportedOutage == nil { next = .earlier(next, manager.waitsSince?.moved(by: Self.outageSeconds)) }
      next = .earlier(next, manager.requestSince?.moved(by: Self.requestSeconds))
    }
    for stream in program.streams.values { next = .earlier(next, stream.waitsSince?.moved(by: Self.outageSeconds)) }
    return next
  }

  /// Advances the time.
  package mutating func wake(at now: Instant) {
    guard case .away(let since, _) = connection else { return }
    if now >= since.moved(by: Self.outageSeconds) { reportOutage(at: now) }
    for id in program.managers.keys.sorted() { wake(manager: id, at: now) }
    for id in program.streams.keys.sorted() {
      guard let waits = program.streams[id]?.waitsSince, now >= waits.moved(by: Self.outageSeconds) else { continue }
      program.streams[id]?.waitsSince = nil
      report(LiveUpdate(location: nil, diagnostic: .locationUnavailable), to: id)
    }
  }

  /// Reports once that the service is unreachable.
  private mutating func reportOutage(at now: Instant) {
    guard case .away(let since, isReported: false) = connection else { return }
    connection = .away(since: since, isReported: true)
    let seconds = Int(clamping: now.seconds(since: since).rounded())
    outputs.append(.log("the location service is away since \(seconds) s: start sextantd, and see its log"))
  }

  private mutating func wake(manager id: Int, at now: Instant) {
    guard let manager = program.managers[id], let services = state.managers[id]?.services else { return }
    if let since = manager.requestSince, now >= since.moved(by: Self.requestSeconds) {
      program.managers[id]?.requestSince = nil
      // A withdrawn request has no outcome (RQ-10).
      if state.managers[id]?.isRequestPending ?? false {
        state.managers[id]?.isRequestPending = false
        answered.insert(id)
        reportOutage(at: now)
        outputs.append(.deliver(ClientID(id), .didFail(.locationUnknown), .answer(services)))
      }
    }
    if let since = manager.waitsSince, now >= since.moved(by: Self.outageSeconds) {
      program.managers[id]?.waitsSince = nil
      guard services.wantsStandard || services.wantsSignificant, state.status.isAuthorized,
        manager.reportedOutage == nil
      else { return }
      program.managers[id]?.reportedOutage = .beforeConnection
      outputs.append(.deliver(ClientID(id), .didFail(.locationUnknown), .unrecalled))
    }
  }
}
