// SPDX-License-Identifier: Apache-2.0
import EventLoop
import FileSystem
import HostSensors
import Hotplug
import MonotonicTime
import Positioning
import PowerControl
import ReceiverPower
import ReceiverStream
import SerialPort
import Synchronization

/// A manager's side of the service, called on the service's thread. It passes each call on to the manager's run loop.
package protocol LocationServiceClient: AnyObject, Sendable {
  /// An event for the delegate. The client asks `LocationService.isCurrent` immediately before it delivers the event.
  func receive(_ event: DelegateEvent, _ ticket: Ticket)
  /// The end of a request for full accuracy; without an error if the user was asked.
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?)
  /// Shows or hides the request to calibrate the compass.
  func calibrationShows(_ shows: Bool)
}

/// The reason why no receiver can be opened.
package enum ReceiverProblem: Sendable {
  /// The system does not let this program open it.
  case forbidden
  /// Another program has it open.
  case held
  /// The name is not that of a receiver and never will be: a directory, an unknown scenario.
  case misnamed
  /// The named scenario has a mistake.
  case miswritten
  /// A configuration file has a mistake.
  case misconfigured
}

/// Receivers, rules and state of one program. Managers call it from any thread; its own thread does the rest.
///
/// A call changes the decisions at once, under a lock, and wakes the thread, which performs the resulting actions. So a call
/// never waits for a receiver or a disk, never calls a delegate, and its effect shows in each later read.
package final class LocationService: Sendable {
  let app: AppDescription
  let settings: ServiceSettings
  let store: StateStore
  /// Writes a line for people; by default to standard error.
  package let log: @Sendable (String) -> Void
  let state: Mutex<State>
  /// Locked while events are in their queues and must not be delivered yet.
  private let deliveryGate = Mutex(())

  struct State {
    enum Stage {
      case running
      /// The program waits for the end of the thread.
      case finishing([Poller.Waker])
      case ended
    }

    var core: ServiceCore
    var clients: [Positioning.ClientID: any LocationServiceClient] = [:]
    var streams: [Int: any LiveUpdateReader] = [:]
    var monitorReaders: [Int: (name: String, reader: any MonitorReader)] = [:]
    var sessionReaders: [Int: any SessionReader] = [:]
    var waker: Poller.Waker?
    var problem: ReceiverProblem?
    var problemListener: (@Sendable (ReceiverProblem?) -> Void)?
    /// The marks of the newest location's files at the last read.
    var newestMarks: [FileLookup.Mark?] = []
    /// Clients whose request is answered and whose delegate has not received the answer yet.
    var answered: Set<Positioning.ClientID> = []
    var stage = Stage.running
    private var numbers = 0

    init(core: ServiceCore) { self.core = core }

    /// Returns a number that no client, stream, session or reader has.
    mutating func takeNumber() -> Int {
      defer { numbers += 1 }
      return numbers
    }
  }

  /// Makes the service and starts its thread.
  ///
  /// - Parameters:
  ///   - settings: nil for those of the environment and the configuration files.
  ///   - log: writes a line for people; nil for standard error.
  package init(app: AppDescription, settings: ServiceSettings? = nil, log: (@Sendable (String) -> Void)? = nil) {
    let settings = settings ?? .ofThisProcess()
    self.log = log ?? { System.log($0) }
    for problem in settings.problems { self.log(problem) }
    self.app = app
    self.settings = settings
    var positioning = PositioningSettings()
    positioning.pauseSeconds = settings.pauseSeconds
    let application = settings.application ?? (System.isInForeground() ? .foreground : .background)
    store = StateStore(folder: settings.stateFolder, runFolder: settings.runFolder, app: app)
    var restored = store.restored(self.log)
    let undecided = Authorization.Record(
      status: settings.defaultAuthorization ?? .notDetermined, accuracy: app.keys.startsReduced ? .reduced : .full)
    let stored = restored.authorization.map { StateText.text(of: $0) }
    restored.authorization = restored.authorization ?? undecided
    let now = System.now()
    let engine = PositioningEngine(
      keys: app.keys, hostCapabilities: Self.hostCapabilities(settings.source), application: application,
      settings: positioning, authorizationOverride: settings.authorization, restored: restored, at: now.instant)
    var policy = PowerPolicy.standard
    policy.pauseSeconds = settings.pauseSeconds
    if let seconds = settings.pauseProbeSeconds { policy.pauseProbeSeconds = seconds }
    let supply: ReceiverCapabilities.PowerSwitch =
      settings.supply.map { $0.keepsMemory ? .keepsMemory : .losesMemory } ?? .none
    let coordinator = PowerCoordinator(policy: policy, isReadOnly: settings.isReadOnly, supply: supply, at: now.instant)
    var core = ServiceCore(
      engine: engine, coordinator: coordinator, undecided: undecided, storedAuthorization: stored,
      deferred: store.deferred)
    if !settings.others.isEmpty { core.receive(.standbyFound, at: now) }
    let administration = store.administration()
    for problem in administration.problems(stateFolder: settings.stateFolder ?? "") { self.log(problem) }
    core.receive(.administration(administration), at: now)
    state = Mutex(State(core: core))
    listSensors()
    let isStarted = BackgroundWork.start { [self] in
      System.leaveSignalsToOthers()
      do {
        var thread = try ServiceThread(self)
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

  /// Returns what the host can measure with. A receiver that is named is expected to be there, and waited for.
  private static func hostCapabilities(_ source: ServiceSettings.Source) -> HostCapabilities {
    var hasReceiver = true
    if source == .firstFound {
      let list = (try? DeviceList.installed()) ?? DeviceList()
      hasReceiver = ReceiverPorts.enumerate(list: list).contains { $0.likelihood.isPlausible }
    }
    return HostCapabilities(
      hasSatelliteReceiver: hasReceiver, hasSignificantChanges: hasReceiver, hasCompass: false, hasBluetooth: false)
  }

  // MARK: Managers

  /// The age up to which a fix of this program counts as the newest without a read of the other programs' files.
  private static var ownFixAge: Milliseconds { Milliseconds(5000) }

  /// Takes over a newer location that another program has stored, as the newest location is the system's (LC-2). This costs
  /// two system calls if no file has changed, and none while this program has a recent fix of its own.
  package func refreshNewest() {
    if settings.stateFolder == nil { return }
    let now = System.now().instant
    let (measured, known) = state.withLock { ($0.core.engine.newestMeasured, $0.newestMarks) }
    if let measured, now.milliseconds(since: measured) < Self.ownFixAge.count { return }
    let marks = store.newestMarks
    guard marks != known else { return }
    // Read before the lock is taken. Of two threads that read, an older location that comes second is not taken over.
    let newest = store.newest
    state.withLock { state in
      state.newestMarks = marks
      if let newest { state.core.change { $0.learn(newest) } }
    }
  }

  /// Adds a manager, which receives its events until it is removed.
  package func add(_ client: any LocationServiceClient) -> Positioning.ClientID {
    refreshNewest()
    return change { state, _ in
      let id = Positioning.ClientID(state.takeNumber())
      state.clients[id] = client
      state.core.change { $0.add(id) }
      return id
    }
  }

  package func remove(_ id: Positioning.ClientID) {
    change { state, _ in
      state.clients[id] = nil
      state.answered.remove(id)
      state.core.change { $0.remove(id) }
    }
  }

  /// Takes a manager's call. Returns at once.
  package func call(_ call: ClientCall, by id: Positioning.ClientID) {
    if call.needsSensors { listSensors() }
    // They begin with the newest location (SU-1, SC-1).
    if call == .startUpdatingLocation || call == .startSignificantChanges { refreshNewest() }
    change { state, now in
      // A request is pending until its answer is delivered (RQ-8).
      if call == .requestLocation, state.answered.contains(id) || state.core.engine.answers(id) { return }
      if call.endsRequest { state.answered.remove(id) }
      state.core.call(call, by: id, at: now.instant)
    }
  }

  /// Reads the decisions. `body` runs under the lock, so it has to be brief.
  package func read<Value: Sendable>(_ body: (borrowing PositioningEngine) -> Value) -> Value {
    state.withLock { body($0.core.engine) }
  }

  /// Whether an event may still be delivered. Waits while ``delayDelivery(_:)`` runs.
  package func isCurrent(_ event: DelegateEvent, _ ticket: Ticket, for id: Positioning.ClientID) -> Bool {
    deliveryGate.withLock { _ in }
    return state.withLock { state in
      if ticket.isAnswer { state.answered.remove(id) }
      return state.core.engine.isCurrent(ticket, for: id) && state.core.engine.isWanted(event, by: id)
    }
  }

  /// Runs `body`, before whose end no event is delivered.
  func delayDelivery(_ body: () -> Void) { deliveryGate.withLock { _ in body() } }

  // MARK: Sensors

  /// Returns what the host can measure with at this moment, as sensors and adapters come and go.
  package func hostCapabilities() -> HostCapabilities {
    listSensors()
    return read { $0.hostCapabilities }
  }

  /// Lists the sensors that the kernel shows. This reads names in folders and no sensor.
  func listSensors() {
    let tree = SensorTree(root: settings.sensorRoot)
    post(
      .sensing(
        .listed(
          magnetometer: tree.has(.magneticField), accelerometer: tree.has(.acceleration),
          bluetoothAdapter: tree.hasBluetoothAdapter && BusSource.mayHaveBus)))
  }

  // MARK: The end

  /// Ends the service: stores what is known and restores the receiver. Waits for that, six seconds at most; what is not
  /// restored by then is in the crash-recovery record.
  package func finish() {
    guard var poller = try? Poller() else { return }
    let waker = poller.waker
    let hasEnded = change { state, now in
      state.core.receive(.finish, at: now)
      switch state.stage {
      case .running: state.stage = .finishing([waker])
      case .finishing(let wakers): state.stage = .finishing(wakers + [waker])
      case .ended: return true
      }
      return false
    }
    if hasEnded { return }
    let limit = System.now().instant + Milliseconds(6000)
    _ = try? poller.wait(deadline: limit.nanoseconds)
  }

  /// Registers a function that is called when the program ends by `exit` or by its last line.
  package static func atEnd(_ body: @convention(c) () -> Void) { System.atEnd(body) }

  // MARK: Changes

  /// Changes the state from any thread, and wakes the service's thread. Foreground or background is checked before, as the
  /// result of a call may depend on it.
  func change<Value>(_ body: (inout sending State, Moment) -> Value) -> Value {
    let now = System.now()
    checkApplication(at: now.instant)
    let (value, waker) = state.withLock { (body(&$0, now), $0.waker) }
    waker?.wake()
    return value
  }

  /// Passes an input to the core, from a thread that is not the service's.
  func post(_ input: ServiceInput) { change { $0.core.receive(input, at: $1) } }

  /// Passes an input to the core, from the service's thread, which needs no waking.
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

  func answer(_ answer: Authorization.Answer, to prompt: Authorization.Prompt) {
    change { state, now in state.core.change { $0.authorizationAnswered(answer, to: prompt, at: now.instant) } }
  }

  /// Checks whether the program is in the foreground. No signal reports a change, so this runs at each occasion.
  func checkApplication(at now: Instant) {
    guard settings.application == nil else { return }
    let found: ApplicationState = System.isInForeground() ? .foreground : .background
    state.withLock { state in
      if state.core.engine.application != found { state.core.change { $0.setApplication(found, at: now) } }
    }
  }

  // MARK: The service's thread

  func setWaker(_ waker: Poller.Waker) { state.withLock { $0.waker = waker } }

  func client(_ id: Positioning.ClientID) -> (any LocationServiceClient)? { state.withLock { $0.clients[id] } }
  func stream(_ id: Int) -> (any LiveUpdateReader)? { state.withLock { $0.streams[id] } }

  var isFinished: Bool { state.withLock { if case .running = $0.stage { false } else { true } } }

  /// The time of the thread's next round. While a client waits for a return to the foreground, a round comes each second.
  func deadline(after now: Instant) -> Instant? {
    let (deadline, waits) = state.withLock { ($0.core.deadline, $0.core.engine.waitsForForeground) }
    return settings.application == nil && waits ? .earlier(deadline, now + Milliseconds(1000)) : deadline
  }

  func actions(at now: Moment) -> [ServiceAction] {
    state.withLock { state in
      let actions = state.core.actions(at: now)
      for case .deliver(let id, _, let ticket) in actions where ticket.isAnswer { state.answered.insert(id) }
      return actions
    }
  }

  func wake(at now: Moment) { state.withLock { $0.core.wake(at: now) } }

  private func ended() {
    let waiting = state.withLock { state in
      defer { state.stage = .ended }
      if case .finishing(let wakers) = state.stage { return wakers }
      return []
    }
    for waker in waiting { waker.wake() }
  }

  // MARK: The receiver's problem

  func setProblem(_ problem: ReceiverProblem?) {
    let listener = state.withLock { state in
      defer { state.problem = problem }
      return state.problem == problem ? nil : state.problemListener
    }
    listener?(problem)
  }

  /// Has a function called, on the service's thread, with the reason why the receiver cannot be opened, and with nil once it
  /// is open.
  package func observeProblem(_ listener: @escaping @Sendable (ReceiverProblem?) -> Void) {
    let problem = state.withLock { state in
      state.problemListener = listener
      // A mistake in the configuration file stays one, even if another receiver was found.
      return settings.isMisconfigured ? .misconfigured : state.problem
    }
    if let problem { listener(problem) }
  }
}

extension ClientCall {
  /// Whether it takes back a request and its answer (RQ-10, RQ-11).
  fileprivate var endsRequest: Bool {
    switch self {
    case .startUpdatingLocation, .stopUpdatingLocation, .allowDeferredUpdates: true
    default: false
    }
  }
}
