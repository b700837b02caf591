import Positioning

/// The reader of a stream of live updates; called on the service's thread.
public protocol LiveUpdateReader: AnyObject, Sendable {
  func receive(_ update: LiveUpdate)
}

/// Who iterates the events of a monitor; called on the service's thread.
public protocol MonitorReader: AnyObject, Sendable {
  /// There may be an event to take.
  func hasEvents()
}

/// Who iterates what stands in the way of the sessions; called under the service's lock, so it is brief and calls nobody.
public protocol SessionReader: AnyObject, Sendable {
  func receive(_ diagnostic: Diagnostic)
}

/// The modern API: live updates, service sessions, background activities, monitors.
extension LocationService {
  /// A stream of live updates is iterated. The number ends it.
  public func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int {
    change { state, now in
      let id = state.nextNumber
      state.nextNumber += 1
      state.streams[id] = reader
      state.core.change { $0.beginLiveUpdates(id, configuration, at: now) }
      return id
    }
  }

  public func endLiveUpdates(_ id: Int) {
    change { state, _ in
      state.streams[id] = nil
      state.core.change { $0.endLiveUpdates(id) }
    }
  }

  /// A service session asks for its goal for as long as it lives. The number ends it.
  public func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int {
    change { state, now in
      let id = state.nextNumber
      state.nextNumber += 1
      state.core.change { $0.beginSession(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose, at: now) }
      return id
    }
  }

  public func endSession(_ id: Int) { change { state, _ in state.core.change { $0.endSession(id) } } }

  /// A background activity keeps the app in use. The number ends it.
  public func beginBackgroundActivity() -> Int {
    change { state, now in
      let id = state.nextNumber
      state.nextNumber += 1
      state.core.change { $0.beginBackgroundActivity(id, at: now) }
      return id
    }
  }

  public func endBackgroundActivity(_ id: Int) {
    change { state, now in state.core.change { $0.endBackgroundActivity(id, at: now) } }
  }

  /// What stands in the way of the sessions is read: the reader is given what does now, and each change. The number ends it.
  public func beginSessionDiagnostics(_ reader: any SessionReader) -> Int {
    change { state, _ in
      let id = state.nextNumber
      state.nextNumber += 1
      state.sessionReaders[id] = reader
      reader.receive(state.core.engine.sessionDiagnostic)
      return id
    }
  }

  public func endSessionDiagnostics(_ id: Int) { state.withLock { $0.sessionReaders[id] = nil } }

  /// Opens a monitor by its name: the one that is open, else what is stored of it (MO-1).
  public func openMonitor(_ name: String) {
    let isOpen = read { $0.monitor(name) != nil }
    if isOpen { return }
    // The disk is read before the lock is taken; who comes second finds the monitor of the first.
    let records = store.monitor(name, log)
    change { state, now in state.core.change { $0.openMonitor(name, restored: records, at: now) } }
  }

  /// Monitors a condition, in place of the one of the same identifier (MO-2).
  public func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String
  ) {
    let now = System.now()
    change { state, _ in
      state.core.change { $0.addCondition(condition, identifier: identifier, assuming: assumed, to: name, at: now) }
    }
  }

  public func removeCondition(_ identifier: String, from name: String) {
    change { state, _ in state.core.change { $0.removeCondition(identifier, from: name) } }
  }

  /// The next event of a monitor; nil when there is none yet.
  public func takeEvent(of name: String) -> Monitor.Event? {
    let now = System.now().utc
    var event = change { state, _ in
      var event: Monitor.Event?
      state.core.change { event = $0.takeEvent(of: name) ?? $0.takeHindrance(of: name, at: now) }
      return event
    }
    if settings.stateFolder == nil { event?.diagnostic.insert(.persistenceUnavailable) }
    return event
  }

  /// A monitor's events are iterated: the reader is told when there may be one. The number ends it.
  public func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int {
    state.withLock { state in
      let id = state.nextNumber
      state.nextNumber += 1
      state.monitorReaders[id] = (name, reader)
      return id
    }
  }

  public func endMonitorEvents(_ id: Int) { state.withLock { $0.monitorReaders[id] = nil } }

  // MARK: The thread's side

  func notifyReaders(ofMonitor name: String) {
    let readers = state.withLock { state in state.monitorReaders.values.filter { $0.name == name }.map(\.reader) }
    for reader in readers { reader.hasEvents() }
  }

  /// What stands in the way of sessions stands in the way of monitors as well.
  func notifyReaders(_ diagnostic: Diagnostic) {
    let readers = state.withLock { state in
      for reader in state.sessionReaders.values { reader.receive(diagnostic) }
      return state.monitorReaders.values.map(\.reader)
    }
    for reader in readers { reader.hasEvents() }
  }
}
