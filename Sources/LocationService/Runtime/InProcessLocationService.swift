// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import Synchronization

/// The location service of a program, with the receivers in the program itself.
package final class InProcessLocationService: LocationService {
  private let host: ServiceHost
  private let program: Readers
  private let id: ProgramID
  package var log: @Sendable (String) -> Void { host.log }

  /// The readers of the program, keyed by number.
  private final class Readers: ProgramReceiver {
    let state = Mutex(ProgramReaders())
    /// Prompts the user, with the identifier of the program.
    let ask: @Sendable (Authorization.Prompt) -> Void
    let log: @Sendable (String) -> Void
    let command: GrantCommand

    init(
      ask: @escaping @Sendable (Authorization.Prompt) -> Void, log: @escaping @Sendable (String) -> Void,
      command: GrantCommand
    ) {
      self.ask = ask
      self.log = log
      self.command = command
    }

    func perform(_ action: ProgramAction) {
      switch action {
      case .output(let output): perform(output)
      case .sessions(let diagnostic):
        for reader in state.withLock({ $0.receive(diagnostic) }) { reader.hasEvents() }
      case .store: break
      }
    }

    private func perform(_ output: PositioningOutput) {
      switch output {
      case .event(let id, let event, let ticket): client(id)?.receive(event, ticket)
      case .temporaryAccuracy(let id, let token, let error, let refusal):
        client(id)?.temporaryAccuracyAnswered(token: token, error, refusal)
      case .showCalibration(let id): client(id)?.calibrationShows(true)
      case .hideCalibration(let id): client(id)?.calibrationShows(false)
      case .live(let id, let update): state.withLock { $0.streams[id] }?.receive(update)
      case .monitorHasEvent(let name):
        for reader in state.withLock({ $0.monitorReaders(of: name) }) { reader.hasEvents() }
      case .prompt(let prompt): ask(prompt)
      case .advice(_, let advice): log(advice.message(granting: command))
      case .store: break
      }
    }

    private func client(_ id: ClientID) -> (any LocationServiceClient)? { state.withLock { $0.clients[id] } }
  }

  /// Makes the service and starts its thread.
  ///
  /// - Parameters:
  ///   - settings: nil for the settings of the environment and the configuration files.
  ///   - log: writes a human-readable line; nil for standard error.
  package init(app: AppDescription, settings: ServiceSettings? = nil, log: (@Sendable (String) -> Void)? = nil) {
    var app = app
    app.executable = try? Syscalls.target(ofLink: "/proc/self/exe")
    let identifier = app.identifier
    let host = ServiceHost(app: app, settings: settings, log: log ?? System.programLog)
    self.host = host
    program = Readers(
      ask: { prompt in
        TerminalPrompt.show(prompt, of: identifier) { host.answer($0, to: prompt, of: .own) }
      }, log: host.log, command: GrantCommand(program: identifier, environment: host.settings.grantEnvironment))
    let application = host.settings.application ?? Terminal.applicationState
    id = host.add(app, host.store, application: application, program)
    host.start()
  }

  // MARK: Managers

  package func add(_ client: any LocationServiceClient) -> ClientID {
    refreshNewest()
    let id = program.state.withLock { state in
      let id = ClientID(state.takeNumber())
      state.clients[id] = client
      return id
    }
    change { engine, _ in engine.add(id) }
    return id
  }

  package func remove(_ id: ClientID) {
    program.state.withLock { _ = $0.clients.removeValue(forKey: id) }
    host.answerIsDelivered(to: id, of: self.id)
    change { engine, _ in engine.remove(id) }
  }

  package func call(_ call: ClientCall, by id: ClientID) { host.call(call, by: id, of: self.id) }

  package func beginDelivery(of event: DelegateEvent, _ ticket: Ticket, to id: ClientID) -> Bool {
    host.beginDelivery(of: event, ticket, to: id, of: self.id)
  }

  package func refreshNewest() { host.refreshNewest() }

  /// Reads the decisions. `body` runs under a lock, so it must be short.
  package func read<Value: Sendable>(_ body: (borrowing PositioningEngine) -> Value) -> Value {
    // The program is never removed.
    host.read(id, body)!
  }

  private func change(_ body: (inout PositioningEngine, Moment) -> Void) { _ = host.change(id, body) }

  package func location(of id: ClientID) -> Location? { read { $0.location(of: id) } }
  package func heading(of id: ClientID) -> Heading? { read { $0.heading(of: id) } }
  package func rangedTargets(of id: ClientID) -> [Ranging.Target] { read { $0.rangedTargets(of: id) } }
  package var authorizationStatus: AuthorizationStatus { read { $0.authorization.status } }
  package var accuracyAuthorization: AccuracyAuthorization { read { $0.authorization.accuracy } }
  package var servicesAreEnabled: Bool { read { $0.authorization.servicesAreEnabled } }
  package var maximumRegionRadiusMetres: Double { read { $0.maximumRegionRadiusMetres } }
  package var monitoredRegions: [Region] { read { $0.regions.monitored } }

  package func hostCapabilities() -> HostCapabilities {
    // Sensors and adapters come and go.
    host.listSensors()
    return read { $0.hostCapabilities }
  }

  // MARK: The API since iOS 17

  package func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int {
    let id = program.state.withLock { state in
      let id = state.takeNumber()
      state.streams[id] = reader
      return id
    }
    change { engine, now in engine.beginLiveUpdates(id, configuration, at: now.instant) }
    return id
  }

  package func endLiveUpdates(_ id: Int) {
    program.state.withLock { _ = $0.streams.removeValue(forKey: id) }
    change { engine, _ in engine.endLiveUpdates(id) }
  }

  package func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int {
    let id = program.state.withLock { $0.takeNumber() }
    change { engine, now in
      engine.beginSession(id, goal: goal, fullAccuracyPurpose: fullAccuracyPurpose, at: now.instant)
    }
    return id
  }

  package func endSession(_ id: Int) { change { engine, now in engine.endSession(id, at: now.instant) } }

  package func beginBackgroundActivity() -> Int {
    let id = program.state.withLock { $0.takeNumber() }
    change { engine, now in engine.beginBackgroundActivity(id, at: now.instant) }
    return id
  }

  package func endBackgroundActivity(_ id: Int) {
    change { engine, now in engine.endBackgroundActivity(id, at: now.instant) }
  }

  package func beginSessionDiagnostics(_ reader: any SessionReader) -> Int {
    // Both steps under the lock of the readers, so that no change precedes the first value.
    program.state.withLock { state in state.add(reader, read { $0.sessionDiagnostic }) }
  }

  package func endSessionDiagnostics(_ id: Int) {
    program.state.withLock { _ = $0.sessions.removeValue(forKey: id) }
  }

  package func openMonitor(_ name: String) {
    let isOpen = read { $0.monitor(name) != nil }
    if isOpen { return }
    // Read before the lock is taken. If two threads open it, the second one finds the monitor of the first.
    let records = host.store.monitor(name, log)
    change { engine, now in engine.openMonitor(name, restored: records, at: now.instant) }
  }

  package func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String
  ) {
    change { engine, now in
      engine.addCondition(condition, identifier: identifier, assuming: assumed, to: name, at: now)
    }
  }

  package func removeCondition(_ identifier: String, from name: String) {
    change { engine, _ in engine.removeCondition(identifier, from: name) }
  }

  package func conditionIdentifiers(of monitor: String) -> [String] {
    read { $0.monitor(monitor)?.identifiers ?? [] }
  }

  package func conditionRecord(_ identifier: String, of monitor: String) -> Monitor.Record? {
    read { $0.monitor(monitor)?.record(identifier) }
  }

  package func takeEvent(of name: String, by iteration: Int) -> Monitor.Event? {
    var event: Monitor.Event?
    change { engine, now in
      event =
        engine.takeEvent(of: name, by: iteration) ?? engine.takeHindrance(of: name, by: iteration, at: now.utc)
    }
    if host.losesState { event?.diagnostic.insert(.persistenceUnavailable) }
    return event
  }

  package func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int {
    program.state.withLock { $0.add(reader, of: name) }
  }

  package func endMonitorEvents(_ id: Int) {
    guard let (name, _) = program.state.withLock({ $0.monitors.removeValue(forKey: id) }) else { return }
    change { engine, _ in engine.completeEvent(of: name, by: id) }
  }

  // MARK: The end

  package func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void) {
    host.observeProblem(listener)
  }

  package func finish() { host.finish() }

}
