// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import Positioning
import Synchronization
import SystemPackage

/// The location service of a program, with the receivers in the daemon.
///
/// ``ProgramMirror`` decides. A thread reads the socket, writes the queued messages, and reconnects after a loss.
package final class RemoteLocationService: LocationService {
  /// The time between attempts to connect.
  private static let retry = Milliseconds(500)
  /// The time limit for the first connection, during which the state of the program arrives. A slow board that starts
  /// the daemon for this connection needs seconds.
  private static let firstConnection = Milliseconds(10_000)

  package let log: @Sendable (String) -> Void
  private let path: String
  private let app: AppDescription
  /// SEXTANT_APP_STATE; nil to derive it from the terminal.
  private let application: ApplicationState?
  private let state: Mutex<State>

  private struct State {
    var mirror: ProgramMirror
    var readers = ProgramReaders()
    var problemListener: (@Sendable (ReceiverProblem?) -> Void)?
    /// Threads that wait for the conditions of a monitor.
    var monitorWaiters: [Poller.Waker] = []
    /// Threads that wait until the messages are written.
    var writeWaiters: [Poller.Waker] = []
    var waker: Poller.Waker?
    var isFinished = false
    /// The reason why the daemon has started the program, from the first reply.
    var launchedBy: String?

    init(_ mirror: ProgramMirror) { self.mirror = mirror }
  }

  /// Connects to a daemon. Waits at most ten seconds until the daemon has sent the state of the program; an absent
  /// daemon is awaited.
  ///
  /// - Parameters:
  ///   - path: the daemon's socket.
  ///   - log: writes a human-readable line; nil for standard error.
  package init(path: String, app: AppDescription, log: (@Sendable (String) -> Void)? = nil) {
    self.path = path
    self.app = app
    self.log = log ?? System.programLog
    application = Terminal.namedState(System.variable)
    let now = Self.now()
    state = Mutex(State(ProgramMirror(application: application ?? Terminal.applicationState, at: now)))
    guard var first = try? Poller() else {
      self.log("the location service cannot be reached: the system has no descriptors left")
      return
    }
    let waker = first.waker
    let isStarted = BackgroundWork.start { [self] in
      do { try run { waker.wake() } } catch { self.log("the location service cannot be reached: \(error)") }
      waker.wake()
    }
    if isStarted {
      _ = try? first.wait(deadline: (now + Self.firstConnection).nanoseconds)
    } else {
      self.log("the location service cannot be reached: the system has no thread left")
    }
    // On the thread of the first manager, because the environment is not protected from other threads (setenv(3)). A
    // variable inherited from a parent process does not apply to this program.
    LaunchEnvironment.set(state.withLock { $0.launchedBy })
  }

  /// Whether a daemon accepts connections at a path.
  package static func isServed(at path: String) -> Bool { (try? UnixSocket(connectingTo: path)) != nil }

  private static func now() -> Instant { SystemClock.monotonic }

  // MARK: The thread

  private func run(_ hasState: () -> Void) throws {
    var poller = try Poller()
    state.withLock { $0.waker = poller.waker }
    let token = Poller.Token(rawValue: 1)
    var problems = ConnectionProblems()
    while !state.withLock({ $0.isFinished }) {
      let request = state.withLock { state in
        state.mirror.openRequest(identifier: app.identifier, keys: app.keys, showsPrompts: true)
      }
      do {
        var connection = try ServiceConnection(path: path, request)
        try poller.add(connection.descriptor, token: token)
        defer { poller.remove(connection.descriptor) }
        try serve(&connection, &poller, token, &problems, hasState)
      } catch let refusal as ServiceConnection.Refusal {
        if problems.begin(.refused) { log(refusal.text) }
      } catch let error as Errno {
        // If there is no daemon, the socket does not exist, or no process listens on it.
        let isAbsent = error == .noSuchFileOrDirectory || error == .connectionRefused
        if !isAbsent, problems.begin(.unreachable) {
          log("the location service cannot be reached: \(error); it is tried again")
        }
      }
      hasState()
      pass { $0.connectionLost(at: Self.now()) }
      endWriteWaits()
      try waitForRetry(&poller)
    }
  }

  private func endWriteWaits() {
    let waiters = state.withLock { state -> [Poller.Waker] in
      if state.mirror.isOpen, !state.mirror.messages.isEmpty { return [] }
      defer { state.writeWaiters = [] }
      return state.writeWaiters
    }
    for waiter in waiters { waiter.wake() }
  }

  private func waitForRetry(_ poller: inout Poller) throws {
    let due = Self.now() + Self.retry
    while Self.now() < due, !state.withLock({ $0.isFinished }) {
      let next = Instant.earlier(state.withLock { $0.mirror.deadline }, due)
      _ = try poller.wait(deadline: next?.nanoseconds)
      pass { $0.wake(at: Self.now()) }
    }
  }

  private func serve(
    _ connection: inout ServiceConnection, _ poller: inout Poller, _ token: Poller.Token,
    _ problems: inout ConnectionProblems, _ hasState: () -> Void
  ) throws {
    var interest: Poller.Interest = .readable
    while !connection.hasEnded {
      let messages = state.withLock { state in
        defer { state.mirror.messages = [] }
        return state.isFinished ? nil : state.mirror.isOpen ? state.mirror.messages : []
      }
      guard let messages else { return }
      for message in messages { connection.send(message) }
      connection.write()
      if !connection.waitsToWrite { endWriteWaits() }
      let wanted: Poller.Interest = connection.waitsToWrite ? [.readable, .writable] : .readable
      if wanted != interest {
        interest = wanted
        try poller.change(connection.descriptor, token: token, interest: wanted)
      }
      for event in try poller.wait(deadline: nil) {
        if case .readable = event { connection.read() }
        if case .hangUp = event { connection.read() }
      }
      while let event = try connection.nextEvent() {
        switch event {
        case .opened(let reply):
          var refusal: String?
          pass { refusal = $0.opened(reply, at: Self.now()) }
          if let refusal { throw ServiceConnection.Refusal(text: refusal) }
          problems.end()
          if let reason = reply.launchedBy { state.withLock { $0.launchedBy = reason } }
          hasState()
        case .message(let message): pass { $0.receive(message, at: Self.now()) }
        }
      }
    }
  }

  /// Changes the mirror, and delivers its outputs without the lock.
  private func pass(_ body: (inout ProgramMirror) -> Void) {
    let (outputs, waiters) = state.withLock { state in
      state.mirror.date = System.now().utc
      body(&state.mirror)
      defer { state.mirror.outputs = [] }
      return (state.mirror.outputs, state.monitorWaiters)
    }
    for output in outputs { perform(output) }
    for waiter in waiters { waiter.wake() }
  }

  private func perform(_ output: ProgramMirror.Output) {
    func client(_ id: ClientID) -> (any LocationServiceClient)? { state.withLock { $0.readers.clients[id] } }
    switch output {
    case .deliver(let id, let event, let ticket): client(id)?.receive(event, ticket)
    case .temporaryAccuracy(let id, let token, let error, let refusal):
      client(id)?.temporaryAccuracyAnswered(token: token, error, refusal)
    case .showCalibration(let id, let shows): client(id)?.calibrationShows(shows)
    case .live(let id, let update): state.withLock { $0.readers.streams[id] }?.receive(update)
    case .monitorHasEvent(let name):
      for reader in state.withLock({ $0.readers.monitorReaders(of: name) }) { reader.hasEvents() }
    case .sessions(let diagnostic):
      for reader in state.withLock({ $0.readers.receive(diagnostic) }) { reader.hasEvents() }
    case .prompt(let prompt):
      // The service does not accept an answer from the program itself.
      log(PromptQuestion(identifier: app.identifier, prompt: prompt).notice)
    case .receiverProblem(let problem): state.withLock { $0.problemListener }?(problem)
    case .log(let text): log(text)
    }
  }

  /// Applies a call of the program to the mirror, and wakes the thread.
  private func change<Value>(_ body: (inout ProgramMirror) -> Value) -> Value { changeState { body(&$0.mirror) } }

  /// The longest wait for the socket.
  private static let writeTime = Milliseconds(1000)

  /// The same for a message after which the program may end at once: returns when it is written, or when the service is
  /// unreachable.
  private func changeAndWrite<Value>(_ body: (inout ProgramMirror) -> Value) -> Value {
    guard var poller = try? Poller() else { return change(body) }
    let (value, waits) = changeState { state in
      let value = body(&state.mirror)
      let waits = state.mirror.isOpen && !state.mirror.messages.isEmpty
      if waits { state.writeWaiters.append(poller.waker) }
      return (value, waits)
    }
    if waits { _ = try? poller.wait(deadline: (Self.now() + Self.writeTime).nanoseconds) }
    return value
  }

  private func changeState<Value>(_ body: (inout State) -> Value) -> Value {
    let application = application ?? Terminal.applicationState
    let (value, outputs, waker) = state.withLock { state in
      state.mirror.date = System.now().utc
      state.mirror.setApplication(application)
      let value = body(&state)
      defer { state.mirror.outputs = [] }
      return (value, state.mirror.outputs, state.waker)
    }
    for output in outputs { perform(output) }
    waker?.wake()
    return value
  }

  private func read<Value: Sendable>(_ body: (borrowing ProgramMirror) -> Value) -> Value {
    state.withLock { body($0.mirror) }
  }

  // MARK: Managers

  package func add(_ client: any LocationServiceClient) -> ClientID {
    changeState { state in
      let id = state.mirror.addManager()
      state.readers.clients[id] = client
      return id
    }
  }

  package func remove(_ id: ClientID) {
    state.withLock { _ = $0.readers.clients.removeValue(forKey: id) }
    change { $0.removeManager(id) }
  }

  package func call(_ call: ClientCall, by id: ClientID) { change { $0.call(call, by: id, at: Self.now()) } }

  package func beginDelivery(of event: DelegateEvent, _ ticket: Ticket, to id: ClientID) -> Bool {
    guard ticket.waitingNumber != nil else {
      return state.withLock { $0.mirror.beginDelivery(of: event, ticket, to: id) }
    }
    return changeAndWrite { $0.beginDelivery(of: event, ticket, to: id) }
  }

  package func refreshNewest() { change { $0.refreshNewest() } }
  package func location(of id: ClientID) -> Location? { read { $0.location(of: id) } }
  package func heading(of id: ClientID) -> Heading? { read { $0.heading(of: id) } }
  package func rangedTargets(of id: ClientID) -> [Ranging.Target] { read { $0.rangedTargets(of: id) } }
  package var authorizationStatus: AuthorizationStatus { read { $0.authorizationStatus } }
  package var accuracyAuthorization: AccuracyAuthorization { read { $0.accuracyAuthorization } }
  package var servicesAreEnabled: Bool { read { $0.servicesAreEnabled } }
  package var maximumRegionRadiusMetres: Double { read { $0.maximumRegionRadiusMetres } }
  package var monitoredRegions: [Region] { read { $0.monitoredRegions } }

  package func hostCapabilities() -> HostCapabilities {
    change { mirror in
      mirror.refreshHostCapabilities()
      return mirror.hostCapabilities
    }
  }

  // MARK: The API since iOS 17

  package func beginLiveUpdates(_ configuration: LiveUpdates.Configuration, _ reader: any LiveUpdateReader) -> Int {
    changeState { state in
      let id = state.mirror.beginLiveUpdates(configuration, at: Self.now())
      state.readers.streams[id] = reader
      return id
    }
  }

  package func endLiveUpdates(_ id: Int) {
    state.withLock { _ = $0.readers.streams.removeValue(forKey: id) }
    change { $0.endLiveUpdates(id) }
  }

  package func beginSession(goal: ServiceGoal, fullAccuracyPurpose: String?) -> Int {
    change { $0.beginSession(goal: goal, fullAccuracyPurpose: fullAccuracyPurpose) }
  }

  package func endSession(_ id: Int) { change { $0.endSession(id) } }
  package func beginBackgroundActivity() -> Int { change { $0.beginBackgroundActivity() } }
  package func endBackgroundActivity(_ id: Int) { change { $0.endBackgroundActivity(id) } }

  package func beginSessionDiagnostics(_ reader: any SessionReader) -> Int {
    state.withLock { $0.readers.add(reader, $0.mirror.sessionDiagnostic) }
  }

  package func endSessionDiagnostics(_ id: Int) {
    state.withLock { _ = $0.readers.sessions.removeValue(forKey: id) }
  }

  package func openMonitor(_ name: String) {
    guard var poller = try? Poller() else { return change { $0.openMonitor(name) } }
    let isLoaded = changeState { state in
      state.mirror.openMonitor(name)
      state.monitorWaiters.append(poller.waker)
      return state.mirror.isMonitorLoaded(name) || !state.mirror.isOpen
    }
    // The stored conditions arrive with the daemon's answer (MO-1).
    let limit = Self.now() + Self.firstConnection
    while !isLoaded, !read({ $0.isMonitorLoaded(name) || !$0.isOpen }), Self.now() < limit {
      _ = try? poller.wait(deadline: limit.nanoseconds)
    }
    state.withLock { $0.monitorWaiters.removeAll { $0 === poller.waker } }
  }

  package func addCondition(
    _ condition: Region.Shape, identifier: String, assuming assumed: Monitor.State, to name: String
  ) {
    change { $0.addCondition(condition, identifier: identifier, assuming: assumed, to: name) }
  }

  package func removeCondition(_ identifier: String, from name: String) {
    change { $0.removeCondition(identifier, from: name) }
  }

  package func conditionIdentifiers(of monitor: String) -> [String] { read { $0.monitorIdentifiers(monitor) } }

  package func conditionRecord(_ identifier: String, of monitor: String) -> Monitor.Record? {
    read { $0.monitorRecord(identifier, of: monitor) }
  }

  package func takeEvent(of name: String, by iteration: Int) -> Monitor.Event? {
    changeAndWrite { $0.takeEvent(of: name, by: iteration) }
  }

  package func beginMonitorEvents(of name: String, _ reader: any MonitorReader) -> Int {
    state.withLock { $0.readers.add(reader, of: name) }
  }

  package func endMonitorEvents(_ id: Int) {
    guard let (name, _) = state.withLock({ $0.readers.monitors.removeValue(forKey: id) }) else { return }
    changeAndWrite { $0.completeEvent(of: name, by: id) }
  }

  // MARK: The end

  package func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void) {
    let problem = state.withLock { state in
      state.problemListener = listener
      return state.mirror.receiverProblem
    }
    if let problem { listener(problem) }
  }

  package func finish() {
    let waker = state.withLock { state in
      state.isFinished = true
      return state.waker
    }
    waker?.wake()
  }
}

/// The problems of connecting that were logged since the last connection: each is logged once.
package struct ConnectionProblems {
  package enum Problem { case refused, unreachable }

  private var logged: Set<Problem> = []

  package init() {}

  /// Returns whether the problem is to be logged.
  package mutating func begin(_ problem: Problem) -> Bool { logged.insert(problem).inserted }

  /// The program is connected.
  package mutating func end() { logged = [] }
}

/// The program that the service serves.
package struct AppDescription: Sendable, Equatable {
  /// The key of its state: a bundle identifier, or the executable's name.
  package var identifier: String
  /// The program's declarations and its texts for the user.
  package var keys: UsageKeys
  /// The path of its executable; nil if it is unknown.
  package var executable: String?
  /// The name that a program of the daemon declares; nil if it is the identifier.
  package var label: String?

  package init(identifier: String, keys: UsageKeys, executable: String? = nil, label: String? = nil) {
    self.identifier = identifier
    self.keys = keys
    self.executable = executable
    self.label = label
  }
}

/// The end of this process.
package enum ProcessEnd {
  /// Registers a function that is called when the program ends with `exit` or returns from `main`.
  package static func observe(_ body: @convention(c) () -> Void) { System.atEnd(body) }
}
