// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import SerialPort
import Synchronization

/// A program's side of the host, called on the service's thread.
package protocol ProgramReceiver: AnyObject, Sendable {
  /// Performs an action for the program, other than a change of its stored state.
  func perform(_ action: ProgramAction)
}

/// Receivers, and the rules and the state of the programs that they serve. Programs call it from any thread; the other
/// work is done on the host's thread.
///
/// A call changes the decisions at once, under a lock, and wakes the thread, which performs the resulting actions.
package final class ServiceHost: Sendable {
  /// The program whose state folder has the receivers' files: the only program, or the daemon.
  let app: AppDescription
  package let settings: ServiceSettings
  /// The store of `app`, and of the files that all programs share.
  let store: StateStore
  /// Writes a human-readable line; by default to standard error.
  package let log: @Sendable (String) -> Void
  /// The cells of locations with reduced accuracy, for all programs.
  private let cells: CellGrid
  private let state: Mutex<State>
  /// Locked while queued events must not be delivered yet.
  private let deliveryGate = Mutex(())
  private let isStoreFailureLogged = Atomic(false)

  /// Writes a line of a program's service to standard error.
  package static let standardErrorLog: @Sendable (String) -> Void = { System.log($0) }

  private struct Member {
    var receiver: any ProgramReceiver
    var store: StateStore
    /// Clients whose request is answered, but whose delegate has not received the answer yet.
    var answered: Set<ClientID> = []
  }

  private struct State {
    enum Stage {
      case running
      /// Whether the program waits for the end of the thread.
      case finishing([Poller.Waker])
      case ended
    }

    var core: ServiceCore
    var members: [ProgramID: Member] = [:]
    var nextProgram: UInt32 = 0
    var waker: Poller.Waker?
    /// Wakes the program when the thread has ended.
    var endWaker: Poller.Waker?
    var problem: ReceiverProblem?
    var problemListener: (@Sendable (ReceiverProblem?) -> Void)?
    /// The marks of the newest location's files at the last read.
    var newestMarks: [FileLookup.Mark?] = []
    var stage = Stage.running
  }

  /// Makes the host and starts its thread.
  ///
  /// - Parameters:
  ///   - settings: nil for the settings of the environment and the configuration files.
  ///   - log: writes a human-readable line; nil for standard error.
  package init(app: AppDescription, settings: ServiceSettings? = nil, log: (@Sendable (String) -> Void)? = nil) {
    let settings = settings ?? .ofThisProcess()
    self.log = log ?? Self.standardErrorLog
    for problem in settings.problems { self.log(problem) }
    self.app = app
    self.settings = settings
    store = StateStore(folder: settings.stateFolder, runFolder: settings.runFolder, app: app)
    var random = SystemRandomNumberGenerator()
    // A program with a receiver of its own has exact locations anyway, and writes no file for this.
    cells = settings.isDaemon ? store.cells(using: &random) : CellGrid(using: &random)
    let now = System.now()
    var policy = PowerPolicy.standard
    if let seconds = settings.pauseProbeSeconds { policy.movementCheckSeconds = seconds }
    let supply: ReceiverCapabilities.PowerSwitch =
      settings.supply.map { $0.keepsMemory ? .keepsMemory : .losesMemory } ?? .none
    let coordinator = PowerCoordinator(policy: policy, isReadOnly: settings.isReadOnly, supply: supply, at: now.instant)
    var core = ServiceCore(
      hostCapabilities: Self.hostCapabilities(settings.source), coordinator: coordinator,
      newest: settings.isDaemon ? store.restoredNewest(self.log) : store.newest, deferred: store.deferred)
    if !settings.others.isEmpty { core.receive(.standbyFound, at: now) }
    state = Mutex(State(core: core))
  }

  /// Starts the thread. Programs added earlier are served from the first round on.
  ///
  /// - Parameters:
  ///   - endWaker: wakes the program at the end of the thread, even if the thread could not start.
  ///   - makeWork: creates further work of the thread, on the thread.
  package func start(
    endWaker: Poller.Waker? = nil, _ makeWork: (@Sendable (inout Poller) throws -> any ServiceThreadWork)? = nil
  ) {
    state.withLock { $0.endWaker = endWaker }
    listSensors()
    let isStarted = BackgroundWork.start { [self] in
      do {
        var thread = try ServiceThread(self, makeWork)
        thread.run()
      } catch {
        self.log("the location service cannot start: \(error)")
      }
      ended()
    }
    if !isStarted {
      self.log("the location service cannot start: the system has no thread left")
      ended()
    }
  }

  /// Returns the host's capabilities. If a receiver is named, it is assumed to exist, and the service waits for it.
  private static func hostCapabilities(_ source: ServiceSettings.Source) -> HostCapabilities {
    var hasReceiver = true
    if source == .firstFound {
      let list = (try? DeviceList.installed()) ?? DeviceList()
      hasReceiver = ReceiverPorts.enumerate(list: list).contains { $0.likelihood.isPlausible }
    }
    return HostCapabilities(
      hasSatelliteReceiver: hasReceiver, hasSignificantChanges: hasReceiver, hasCompass: false, hasBluetooth: false)
  }

  // MARK: Programs

  /// Adds a program with its stored state.
  ///
  /// - Parameters:
  ///   - store: the store of its permission, regions, visits and monitors.
  ///   - authorization: replaces the stored permission, for example from the machine's policy; nil for the stored one.
  ///   - undecided: the permission until one is stored; nil for the one in the settings.
  ///   - lingers: whether the receiver stays on for a while after its last demand, because the program may send another
  ///     request.
  ///   - receiver: receives the program's actions.
  func add(
    _ app: AppDescription, _ store: StateStore, authorization: AuthorizationStatus? = nil,
    undecided: AuthorizationStatus? = nil, application: ApplicationState, isAbsent: Bool = false, lingers: Bool = true,
    _ receiver: any ProgramReceiver
  ) -> ProgramID {
    let now = System.now()
    var positioning = PositioningSettings()
    positioning.pauseSeconds = settings.pauseSeconds
    // Prompts go to the agents of the program's user.
    positioning.asksInBackground = settings.isDaemon
    positioning.cells = cells
    var restored = store.restored(log)
    let undecided = Authorization.Record(
      status: store.hasDamagedPermission
        ? .notDetermined : settings.defaultAuthorization ?? undecided ?? .notDetermined,
      accuracy: app.keys.startsReduced ? .reduced : .full)
    let stored = restored.authorization.map { StateText.text(of: $0) }
    let hasState = stored != nil || !restored.regions.isEmpty || restored.visits != nil
    restored.authorization = restored.authorization ?? undecided
    // Only the daemon writes its file.
    if !settings.isDaemon { restored.newest = store.restoredNewest(log) ?? self.store.newest }
    let administration = store.administration()
    for problem in administration.problems(stateFolder: store.folder ?? "") { log(problem) }
    let (id, waker) = state.withLock { state in
      let id = ProgramID(state.nextProgram)
      state.nextProgram += 1
      state.members[id] = Member(receiver: receiver, store: store)
      if settings.isDaemon { restored.newest = state.core.newestPublished }
      let engine = PositioningEngine(
        keys: app.keys, hostCapabilities: state.core.hostCapabilities, application: application,
        settings: positioning, authorizationOverride: settings.authorization ?? authorization, restored: restored,
        at: now.instant)
      var program = Program(id, engine, undecided: undecided, storedAuthorization: stored)
      program.isAbsent = isAbsent
      program.storesOnlyPermitted = settings.isDaemon && !hasState
      program.lingers = lingers
      state.core.add(program, at: now)
      state.core.receive(.administration(id, administration), at: now)
      return (id, state.waker)
    }
    waker?.wake()
    return id
  }

  /// Adds a program of the daemon, whose state is in a folder of its user.
  ///
  /// - Parameters:
  ///   - undecided: the permission until one is stored; nil for the one in the settings.
  ///   - isStored: whether its state is stored. Without an identity there is no name to store it under.
  ///   - isAbsent: whether the program does not run, and `receiver` stores its events for later.
  ///   - lingers: whether the receiver stays on for a while after its last demand, because the program may send another
  ///     request.
  package func add(
    _ app: AppDescription, user: UInt32, authorization: AuthorizationStatus?, undecided: AuthorizationStatus? = nil,
    application: ApplicationState, isStored: Bool = true, isAbsent: Bool = false, lingers: Bool = true,
    _ receiver: any ProgramReceiver
  ) -> ProgramID {
    let folder = isStored ? settings.stateFolder.map { "\($0)/users/\(user)" } : nil
    let store = StateStore(folder: folder, runFolder: nil, app: app)
    return add(
      app, store, authorization: authorization, undecided: undecided, application: application, isAbsent: isAbsent,
      lingers: lingers, receiver)
  }

  /// Returns the stored conditions of a monitor of a program.
  package func monitorRecords(_ name: String, of id: ProgramID) -> [Monitor.Record] {
    store(of: id)?.monitor(name, log) ?? []
  }

  /// Removes a program; its managers' services stop. Changes of its state in this round are stored.
  package func remove(_ id: ProgramID) {
    let (actions, store) = change { state, _ in
      defer { state.members[id] = nil }
      return (state.core.remove(id), state.members[id]?.store)
    }
    for case .store(let file, let text) in actions {
      do throws(FileError) { try store?.store(file, text) } catch {
        log("\(error.path): \(error.reason); a change of a program that has ended is lost")
      }
    }
  }

  /// Reads the decisions for a program. `body` runs under the lock, so it must be short.
  package func read<Value: Sendable>(_ id: ProgramID, _ body: (borrowing PositioningEngine) -> Value) -> Value? {
    state.withLock { state in
      guard let index = state.core.index(of: id) else { return nil }
      // A span borrows its elements, where an array would return a copy, of a kilobyte.
      return body(state.core.programs.list.span[index].engine)
    }
  }

  /// Changes the decisions for a program from any thread, and wakes the service's thread.
  package func change<Value>(_ id: ProgramID, _ body: (inout PositioningEngine, Moment) -> Value) -> Value? {
    change { state, now in
      guard let index = state.core.index(of: id) else { return nil }
      return state.core.programs.change(index) { body(&$0.engine, now) }
    }
  }

  /// Performs a manager's call.
  package func call(_ call: ClientCall, by client: ClientID, of program: ProgramID) {
    if call.needsSensors { listSensors() }
    // These services start with the newest location (SU-1, SC-1).
    if call == .startUpdatingLocation || call == .startSignificantChanges { refreshNewest() }
    change { state, now in
      guard let index = state.core.index(of: program) else { return }
      // A request is pending until its answer is delivered (RQ-8).
      let isAnswered = state.members[program]?.answered.contains(client) ?? false
      if call == .requestLocation, isAnswered || state.core.programs.list[index].engine.answers(client) { return }
      if call.endsRequest { state.members[program]?.answered.remove(client) }
      state.core.call(call, by: ManagerID(program: program, client: client), at: now.instant)
    }
  }

  /// Begins the delivery of an event. Returns whether it may still be delivered. Waits while ``delayDelivery(_:)`` runs.
  func beginDelivery(of event: DelegateEvent, _ ticket: Ticket, to client: ClientID, of id: ProgramID) -> Bool {
    deliveryGate.withLock { _ in }
    return state.withLock { state in
      if ticket.isAnswer { state.members[id]?.answered.remove(client) }
      guard let index = state.core.index(of: id) else { return false }
      return state.core.programs.list[index].engine.isCurrent(ticket, for: client)
        && state.core.programs.list[index].engine.isWanted(event, by: client)
    }
  }

  /// Records that the service has sent the answer to a request.
  package func answerIsDelivered(to client: ClientID, of id: ProgramID) {
    state.withLock { _ = $0.members[id]?.answered.remove(client) }
  }

  /// Runs `body`; no event is delivered until it returns.
  func delayDelivery(_ body: () -> Void) { deliveryGate.withLock { _ in body() } }

  /// Whether the state is lost at the end of the process: it has no folder, or could not be written.
  package var losesState: Bool { settings.stateFolder == nil || isStoreFailureLogged.load(ordering: .relaxed) }

  /// Logs once that state could not be stored. Callable from any thread.
  func logStoreFailure(_ error: FileError) {
    guard !isStoreFailureLogged.exchange(true, ordering: .relaxed) else { return }
    log(
      "\(error.path): \(error.reason); the state is lost at the end (name a folder that can be written with SEXTANT_STATE_DIR)"
    )
  }

  // MARK: The newest location

  /// The age up to which a fix of this process counts as the newest without reading the other processes' files.
  private static var ownFixAge: Milliseconds { Milliseconds(5000) }

  /// Adopts a newer location that another process has stored: the newest location is system-wide (LC-2). This costs two
  /// system calls if no file has changed, and none while this process has its own recent fix.
  package func refreshNewest() {
    // The daemon's programs receive each fix from the daemon.
    if settings.stateFolder == nil || settings.isDaemon { return }
    let now = System.now().instant
    let (measured, known) = state.withLock { ($0.core.programs.newestMeasured, $0.newestMarks) }
    if let measured, now.milliseconds(since: measured) < Self.ownFixAge.count { return }
    let marks = store.newestMarks
    guard marks != known else { return }
    // Read before the lock is taken. If two threads read, an older location that arrives second is not adopted.
    let newest = store.newest
    state.withLock { state in
      state.newestMarks = marks
      if let newest { state.core.changeEngines { $0.learn(newest) } }
    }
  }

  // MARK: Sensors

  /// Lists the sensors that the kernel shows. This reads only names in folders, not the sensors.
  package func listSensors() {
    let tree = SensorTree(root: settings.sensorRoot)
    post(
      .sensing(
        .listed(
          magnetometer: tree.has(.magneticField), accelerometer: tree.has(.acceleration),
          bluetoothAdapter: tree.hasBluetoothAdapter && BusSource.mayHaveBus)))
  }

  // MARK: The end

  /// Ends the service: stores the state and restores the receiver. Waits at most six seconds; settings not restored by
  /// then are in the crash-recovery record.
  package func finish() {
    let limit = System.now().instant + Milliseconds(6000)
    guard var poller = try? Poller() else {
      // Without a descriptor to wait on, the end is polled.
      requestEnd(waking: [])
      while !hasEnded, System.now().instant < limit { Syscalls.pause(milliseconds: 10) }
      return
    }
    if requestEnd(waking: [poller.waker]) { _ = try? poller.wait(deadline: limit.nanoseconds) }
  }

  /// Requests the end of the service. Returns false if it has ended.
  @discardableResult
  private func requestEnd(waking more: [Poller.Waker]) -> Bool {
    change { state, now in
      state.core.receive(.finish, at: now)
      switch state.stage {
      case .running: state.stage = .finishing(more)
      case .finishing(let wakers): state.stage = .finishing(wakers + more)
      case .ended: return false
      }
      return true
    }
  }

  // MARK: Changes

  /// Changes the state from any thread, and wakes the service's thread. Foreground or background is checked first,
  /// because the result of a call may depend on it.
  private func change<Value>(_ body: (inout sending State, Moment) -> Value) -> Value {
    let now = System.now()
    checkApplication(at: now.instant)
    let (value, waker) = state.withLock { (body(&$0, now), $0.waker) }
    waker?.wake()
    return value
  }

  /// Passes an input to the core, from a thread other than the service's.
  func post(_ input: ServiceInput) { change { $0.core.receive(input, at: $1) } }

  /// Passes an input to the core, from the service's thread, which need not be woken.
  func receive(_ input: ServiceInput, at now: Moment) { state.withLock { $0.core.receive(input, at: now) } }

  func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ origin: Location.Source, at now: Moment
  ) {
    let (fix, isUpdate) = (report.fix, report.isUpdate)
    state.withLock { $0.core.receive(fix, sky: sky, isUpdate: isUpdate, source: origin, at: now) }
  }

  /// Passes an epoch of a standby receiver to the core.
  func receive(
    _ report: borrowing EpochAssembler.Report, ofStandby receiver: Int, _ origin: Location.Source, at now: Moment
  ) {
    if report.isUpdate { return }
    let fix = report.fix
    state.withLock { $0.core.receive(fix, ofStandby: receiver, source: origin, at: now) }
  }

  package func answer(_ answer: Authorization.Answer, to prompt: Authorization.Prompt, of id: ProgramID) {
    _ = change(id) { engine, now in engine.authorizationAnswered(answer, to: prompt, at: now.instant) }
  }

  /// Handles a decision of the user about a program. If it equals the stored one, its file does not change, and only
  /// temporary permissions end.
  package func decide(_ status: AuthorizationStatus, _ accuracy: AccuracyAuthorization?, of id: ProgramID) {
    _ = change(id) { engine, now in
      let record = engine.authorization.record
      guard record.status == status, record.accuracy == accuracy ?? record.accuracy else { return }
      engine.authorizationRepeated(at: now.instant)
    }
  }

  /// Checks whether the program of this process is in the foreground. The check is repeated at every occasion, because
  /// no signal reports a change.
  private var followsTerminal: Bool { settings.application == nil && !settings.isDaemon }

  func checkApplication(at now: Instant) {
    guard followsTerminal else { return }
    // Accessed by index: `first` would copy the program.
    let id = state.withLock { state in state.core.programs.indices.first.map { state.core.programs.list[$0].id } }
    guard let program = id else { return }
    setApplication(System.isInForeground() ? .foreground : .background, of: program, at: now)
  }

  // MARK: The service's thread

  /// Starts a round of the thread.
  package func wakeThread() { state.withLock { $0.waker }?.wake() }

  func setWaker(_ waker: Poller.Waker) { state.withLock { $0.waker = waker } }

  var hasReceiver: Bool { state.withLock { $0.core.hostCapabilities.hasSatelliteReceiver } }

  func receiver(of id: ProgramID) -> (any ProgramReceiver)? { state.withLock { $0.members[id]?.receiver } }
  func store(of id: ProgramID) -> StateStore? { state.withLock { $0.members[id]?.store } }
  /// Differs after programs were added or removed.
  var membersMark: MembersMark { state.withLock { MembersMark(added: $0.nextProgram, count: $0.members.count) } }
  struct MembersMark: Equatable { var added: UInt32, count: Int }
  /// Incremented with each change of the decisions for a program.
  package var revision: UInt64 { state.withLock { $0.core.programs.revision } }
  /// The programs and their stores.
  var stores: [(id: ProgramID, store: StateStore)] { state.withLock { $0.members.map { ($0.key, $0.value.store) } } }

  /// Whether the thread has ended.
  package var hasEnded: Bool { state.withLock { if case .ended = $0.stage { true } else { false } } }
  package var isFinishing: Bool { state.withLock { if case .running = $0.stage { false } else { true } } }

  /// The time of the thread's next round. While a client waits for a return to the foreground, there is a round every
  /// second.
  func deadline(after now: Instant) -> Instant? {
    let (deadline, waits) = state.withLock { state in
      (state.core.deadline, followsTerminal && state.core.waitsForForeground)
    }
    return waits ? .earlier(deadline, now + Milliseconds(1000)) : deadline
  }

  func round(at now: Moment) -> ServiceRound {
    state.withLock { state in
      let round = state.core.round(at: now)
      for actions in [round.events, round.after] {
        for case .program(let id, .output(.event(let client, _, let ticket))) in actions where ticket.isAnswer {
          state.members[id]?.answered.insert(client)
        }
      }
      return round
    }
  }

  func wake(at now: Moment) { state.withLock { $0.core.wake(at: now) } }

  private func ended() {
    let waiting = state.withLock { state in
      defer { state.stage = .ended }
      let own = [state.endWaker].compactMap(\.self)
      if case .finishing(let wakers) = state.stage { return wakers + own }
      return own
    }
    for waker in waiting { waker.wake() }
  }

  /// Lends the line of a receiver to a program, on the service's thread. Its status shows when the program may have it.
  package func lend(receiver: Int) { receive(.lend(receiver: receiver), at: System.now()) }

  /// Takes the line of a receiver back, on the service's thread.
  package func takeBack(receiver: Int) { receive(.takeBack(receiver: receiver), at: System.now()) }

  /// Whether any program waits for its return to the foreground.
  package var waitsForForeground: Bool { state.withLock { $0.core.waitsForForeground } }

  /// The programs that would receive other events in another state of theirs.
  package var dependentOnApplication: Set<ProgramID> { state.withLock { $0.core.dependentOnApplication } }

  /// Sets the state of a program on the service's thread, which need not be woken.
  package func setApplication(_ application: ApplicationState, of id: ProgramID, at now: Instant) {
    state.withLock { state in
      guard let index = state.core.index(of: id), state.core.programs.list[index].engine.application != application
      else { return }
      state.core.programs.change(index) { $0.engine.setApplication(application, at: now) }
    }
  }

  /// The power state of the first receiver, and the reason for it.
  package var powerStatus: PowerStatus { state.withLock { $0.core.powerStatus } }

  /// The number of the receiver whose fixes programs get; nil before the first fix.
  package var chosenReceiver: Int? { state.withLock { $0.core.chosenReceiver } }

  /// Whether corrections are of use now.
  var needsCorrections: Bool {
    state.withLock { $0.core.needsCorrections(always: settings.hasCorrectionsAlways) }
  }

  /// The kind of the first receiver's last epoch: none, 2D, 3D or dead reckoning; nil if there is no recent epoch.
  package var fixKind: String? {
    state.withLock { state in
      switch state.core.lastKind {
      case nil: nil
      case .none?, .timeOnly?: "none"
      case .twoD?: "2D"
      case .threeD?, .combined?: "3D"
      case .deadReckoning?: "dead reckoning"
      case .surveyed?: "surveyed"
      }
    }
  }

  /// Changes the decisions for a program on the service's thread, which need not be woken.
  package func changeOnThread<Value: Sendable>(_ id: ProgramID, _ body: (inout PositioningEngine, Moment) -> Value)
    -> Value?
  {
    let now = System.now()
    return state.withLock { state in
      guard let index = state.core.index(of: id) else { return nil }
      return state.core.programs.change(index) { body(&$0.engine, now) }
    }
  }

  // MARK: The receiver's problem

  package var problem: ReceiverProblem? {
    state.withLock { settings.isMisconfigured ? .misconfigured : $0.problem }
  }

  func setProblem(_ problem: ReceiverProblem?) {
    let listener = state.withLock { state in
      defer { state.problem = problem }
      return state.problem == problem ? nil : state.problemListener
    }
    listener?(problem)
  }

  /// Calls a function, on the service's thread, with the reason why the receiver cannot be opened, and with nil once it
  /// is open.
  func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void) {
    let problem = state.withLock { state in
      state.problemListener = listener
      // A mistake in the configuration file is still reported, even if another receiver was found.
      return settings.isMisconfigured ? .misconfigured : state.problem
    }
    if let problem { listener(problem) }
  }
}
