// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The reader of a stream of live updates, called on the service's thread.
package protocol LiveUpdateReader: AnyObject, Sendable {
  func receive(_ update: LiveUpdate)
}

/// The reader of a monitor's events, called on the service's thread.
package protocol MonitorReader: AnyObject, Sendable {
  /// There may be an event to take.
  func hasEvents()
}

/// The reader of the sessions' diagnostics, called under the service's lock: it has to be brief and to call nothing.
package protocol SessionReader: AnyObject, Sendable {
  func receive(_ diagnostic: Diagnostic)
}

/// The API since iOS 17: live updates, service sessions, background activities, monitors.
extension LocationService {
  /// Begins a stream of live updates. Returns the number that ends it.
  package func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int {
    change { state, now in
      let id = state.takeNumber()
      state.streams[id] = reader
      state.core.change { $0.beginLiveUpdates(id, configuration, at: now.instant) }
      return id
    }
  }

  package func endLiveUpdates(_ id: Int) {
    change { state, _ in
      state.streams[id] = nil
      state.core.change { $0.endLiveUpdates(id) }
    }
  }

  /// Begins a service session, which asks for its goal until it ends. Returns the number that ends it.
  package func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int {
    change { state, now in
      let id = state.takeNumber()
      state.core.change { $0.beginSession(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose, at: now.instant) }
      return id
    }
  }

  package func endSession(_ id: Int) { change { state, _ in state.core.change { $0.endSession(id) } } }

  /// Begins a background activity, which keeps the app in use. Returns the number that ends it.
  package func beginBackgroundActivity() -> Int {
    change { state, now in
      let id = state.takeNumber()
      state.core.change { $0.beginBackgroundActivity(id, at: now.instant) }
      return id
    }
  }

  package func endBackgroundActivity(_ id: Int) {
    change { state, now in state.core.change { $0.endBackgroundActivity(id, at: now.instant) } }
  }

  /// Gives a reader the sessions' diagnostic as it is now, and each change. Returns the number that ends it.
  package func beginSessionDiagnostics(_ reader: any SessionReader) -> Int {
    change { state, _ in
      let id = state.takeNumber()
      state.sessionReaders[id] = reader
      reader.receive(state.core.engine.sessionDiagnostic)
      return id
    }
  }

  package func endSessionDiagnostics(_ id: Int) { state.withLock { $0.sessionReaders[id] = nil } }

  /// Opens a monitor by its name with its stored conditions, unless it is open (MO-1).
  package func openMonitor(_ name: String) {
    let isOpen = read { $0.monitor(name) != nil }
    if isOpen { return }
    // Read before the lock is taken. Of two threads that open it, the second one finds the monitor of the first.
    let records = store.monitor(name, log)
    change { state, now in state.core.change { $0.openMonitor(name, restored: records, at: now.instant) } }
  }

  /// Monitors a condition, which replaces one of the same identifier (MO-2).
  package func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String
  ) {
    change { state, now in
      state.core.change { $0.addCondition(condition, identifier: identifier, assuming: assumed, to: name, at: now) }
    }
  }

  package func removeCondition(_ identifier: String, from name: String) {
    change { state, _ in state.core.change { $0.removeCondition(identifier, from: name) } }
  }

  /// Takes the next event of a monitor; nil without an event.
  package func takeEvent(of name: String) -> Monitor.Event? {
    var event = change { state, now in
      var event: Monitor.Event?
      state.core.change { event = $0.takeEvent(of: name) ?? $0.takeHindrance(of: name, at: now.utc) }
      return event
    }
    if settings.stateFolder == nil { event?.diagnostic.insert(.persistenceUnavailable) }
    return event
  }

  /// Has a reader called whenever a monitor may have an event. Returns the number that ends it.
  package func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int {
    state.withLock { state in
      let id = state.takeNumber()
      state.monitorReaders[id] = (name, reader)
      return id
    }
  }

  package func endMonitorEvents(_ id: Int) { state.withLock { $0.monitorReaders[id] = nil } }

  // MARK: The service's thread

  func notifyReaders(ofMonitor name: String) {
    let readers = state.withLock { state in state.monitorReaders.values.filter { $0.name == name }.map(\.reader) }
    for reader in readers { reader.hasEvents() }
  }

  /// The diagnostic of the sessions holds for monitors as well.
  func notifyReaders(_ diagnostic: Diagnostic) {
    let readers = state.withLock { state in
      for reader in state.sessionReaders.values { reader.receive(diagnostic) }
      return state.monitorReaders.values.map(\.reader)
    }
    for reader in readers { reader.hasEvents() }
  }
}
