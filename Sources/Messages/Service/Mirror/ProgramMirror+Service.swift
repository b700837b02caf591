// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The messages of the service.
extension ProgramMirror {
  /// The time after the return of the service, in seconds, during which it may repeat locations: the newest earlier
  /// one, with which each start begins (SU-1), and the locations stored for a deferral.
  static var repetitionSeconds: Double { 60 }

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
    for message in pending { state.predict(message.action) }
    let mayRepeat = now < opened.moved(by: Self.repetitionSeconds)
    for event in update.events { receive(event, mayRepeat: mayRepeat) }
    forgetDeferrals()
    reportDifferences(from: before)
  }

  private mutating func receive(_ event: ServiceEvent, mayRepeat: Bool) {
    switch event {
    case .delegate(let id, let event, let ticket): receive(event, ticket, by: id, mayRepeat: mayRepeat)
    case .temporaryAccuracy(let id, let token, let error):
      program.accuracyRequests.removeAll { $0.manager == id && $0.token == token }
      outputs.append(.temporaryAccuracy(ClientID(id), token: token, error))
    case .calibration(let id, let shows): outputs.append(.showCalibration(ClientID(id), shows))
    case .live(let id, let update): receive(update, by: id, mayRepeat: mayRepeat)
    case .prompt(let prompt): outputs.append(.prompt(prompt))
    case .log(let text): outputs.append(.log(text))
    }
  }

  private mutating func receive(_ event: DelegateEvent, _ ticket: Ticket, by id: Int, mayRepeat: Bool) {
    guard var manager = program.managers[id] else { return }
    defer { program.managers[id] = manager }
    let hasWaited = ticket.waitingNumber != nil
    var event = event
    switch event {
    case .didUpdateLocations(var locations):
      manager.isOutageReported = false
      // A waiting event is recognised as a repetition only by its number, which is checked immediately before its
      // delivery.
      if mayRepeat, !ticket.isAnswer, !hasWaited, let last = manager.newestBeforeLoss {
        locations.removeAll { $0.timestamp <= last }
        if locations.isEmpty { return }
        event = .didUpdateLocations(locations)
      }
      if let time = locations.map(\.timestamp).max(), !ticket.isAnswer {
        manager.newest = manager.newest.map { max($0, time) } ?? time
      }
    case .didFail(.locationUnknown) where !ticket.isAnswer:
      if manager.isOutageReported { return }
      manager.isOutageReported = true
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

  private mutating func receive(_ update: LiveUpdate, by id: Int, mayRepeat: Bool) {
    guard let stream = program.streams[id] else { return }
    if let location = update.location {
      if mayRepeat, let last = stream.newestBeforeLoss, location.timestamp <= last { return }
      program.streams[id]?.newest = stream.newest.map { max($0, location.timestamp) } ?? location.timestamp
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
