import FileSystem
import Hotplug
import MonotonicTime
import Positioning
import PowerControl
import ReceiverPower
import ReceiverStream
import SerialPort
import Synchronization

/// What a manager's side of the service is told, on the service's thread: it keeps it and hands it on where the manager
/// lives.
public protocol LocationServiceClient: AnyObject, Sendable {
  /// An event for the delegate; `LocationService.isCurrent` is to be asked just before it is delivered.
  func receive(_ event: DelegateEvent, _ ticket: Ticket)
  /// A request for full accuracy is over; without an error when the user was asked.
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?)
  /// The wish to calibrate the compass is to be shown, or not any longer.
  func calibrationShows(_ shows: Bool)
}

/// Why no receiver can be opened.
public enum ReceiverTrouble: Sendable {
  /// The system does not let this program.
  case forbidden
  /// Another program has it.
  case held
  /// What is named is no receiver, and will be none: a directory, a scenario that there is not.
  case misnamed
  /// The scenario that is named has a mistake.
  case miswritten
  /// A configuration file has a mistake.
  case misconfigured
}

/// Receivers, rules and memory of one program: its managers call it from any thread, its own thread does the rest.
///
/// A call changes what is decided at once, under a lock, and wakes the thread, which carries out what follows from it: so a
/// call never waits for a receiver or for what is to be stored, no delegate is called from inside it, and what is read after it is what it
/// made.
public final class LocationService: Sendable {
  let app: AppDescription
  let settings: ServiceSettings
  let store: StateStore
  /// Where lines for people go: standard error.
  public let log: @Sendable (String) -> Void
  let state: Mutex<State>
  /// Held while what comes before the opening of a mailbox is done.
  private let holdsBack = Mutex(())

  struct State {
    var core: ServiceCore
    var clients: [Positioning.ClientID: any LocationServiceClient] = [:]
    var streams: [Int: any LiveUpdateReader] = [:]
    var monitorReaders: [Int: (name: String, reader: any MonitorReader)] = [:]
    var sessionReaders: [Int: any SessionReader] = [:]
    var nextNumber = 0
    var waker: Poller.Waker?
    var trouble: ReceiverTrouble?
    var troubleListener: (@Sendable (ReceiverTrouble?) -> Void)?
    /// The files of the newest location as they were when they were read last.
    var newestMarks: [FileLookup.Mark?] = []
    /// Whose requests have an answer that the delegate was not told yet.
    var answered: Set<Positioning.ClientID> = []
    var isFinished = false
    var hasEnded = false
    /// Who waits for the end of the thread.
    var atEnd: [Poller.Waker] = []
  }

  /// Makes the service and starts its thread.
  ///
  /// - Parameters:
  ///   - app: the program.
  ///   - settings: nil: what the environment says.
  ///   - say: where lines for people go; nil: to standard error.
  public init(app: AppDescription, settings: ServiceSettings? = nil, log: (@Sendable (String) -> Void)? = nil) {
    let settings = settings ?? .ofThisProcess()
    self.log = log ?? { System.log($0) }
    for complaint in settings.complaints { self.log(complaint) }
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
    let now = System.now().instant
    let engine = PositioningEngine(
      keys: app.keys, hostCapabilities: Self.hostCapabilities(settings.source), application: application,
      settings: positioning,
      authorizationOverride: settings.authorization, restored: restored, at: now)
    var policy = PowerPolicy.standard
    policy.pauseSeconds = settings.pauseSeconds
    if let seconds = settings.pauseProbeSeconds { policy.pauseProbeSeconds = seconds }
    let supply: ReceiverCapabilities.PowerSwitch =
      settings.supply.map { $0.keepsMemory ? .keepsMemory : .losesMemory } ?? .none
    let coordinator = PowerCoordinator(policy: policy, isReadOnly: settings.isReadOnly, supply: supply, at: now)
    var core = ServiceCore(
      engine: engine, coordinator: coordinator, undecided: undecided, storedAuthorization: stored,
      deferred: store.deferred)
    if !settings.others.isEmpty { core.otherCame() }
    let administration = store.administration()
    for complaint in administration.complaints(stateFolder: settings.stateFolder ?? "") { self.log(complaint) }
    core.administration(administration, at: now)
    state = Mutex(State(core: core))
    lookAtSensors()
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

  /// What is there to measure with: a receiver that is named is taken at its word, and waited for.
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

  /// How long a fix of this program is the newest without a look at what others have stored.
  private static var ownFixAge: Milliseconds { Milliseconds(5000) }

  /// The newest location is the system's (LC-2): what other programs have stored since is taken over, unless this one has
  /// a fix of its own of these seconds. Two calls of the system, if nobody has.
  public func lookAtNewest() {
    if settings.stateFolder == nil { return }
    let now = System.now().instant
    let (measured, known) = state.withLock { ($0.core.engine.newestMeasured, $0.newestMarks) }
    if let measured, now.milliseconds(since: measured) < Self.ownFixAge.count { return }
    let marks = store.newestMarks
    guard marks != known else { return }
    // The disk is read before the lock is taken; an older one that comes second is not taken over.
    let newest = store.newest
    state.withLock { state in
      state.newestMarks = marks
      if let newest { state.core.change { $0.learn(newest) } }
    }
  }

  /// A manager was made; it is told of its events until it is removed.
  public func add(_ client: any LocationServiceClient) -> Positioning.ClientID {
    lookAtNewest()
    return change { state, _ in
      let id = Positioning.ClientID(state.nextNumber)
      state.nextNumber += 1
      state.clients[id] = client
      state.core.change { $0.add(id) }
      return id
    }
  }

  public func remove(_ id: Positioning.ClientID) {
    change { state, _ in
      state.clients[id] = nil
      state.answered.remove(id)
      state.core.change { $0.remove(id) }
    }
  }

  /// What a manager was asked. Returns at once.
  public func call(_ call: ClientCall, by id: Positioning.ClientID) {
    if call.needsSensors { lookAtSensors() }
    // They begin with the newest location (SU-1, SC-1).
    if call == .startUpdatingLocation || call == .startSignificantChanges { lookAtNewest() }
    change { state, now in
      // A request whose answer waits to be told is still pending (RQ-8).
      if call == .requestLocation, state.answered.contains(id) || state.core.engine.answers(id) { return }
      if call.endsRequest { state.answered.remove(id) }
      state.core.call(call, by: id, at: now)
    }
  }

  /// Looks at what is decided; brief, as others wait meanwhile.
  public func read<Value: Sendable>(_ body: (borrowing PositioningEngine) -> Value) -> Value {
    state.withLock { body($0.core.engine) }
  }

  /// Whether an event may still be delivered.
  public func isCurrent(_ event: DelegateEvent, _ ticket: Ticket, for id: Positioning.ClientID) -> Bool {
    holdsBack.withLock { _ in }
    return state.withLock { state in
      if ticket.isAnswer { state.answered.remove(id) }
      return state.core.engine.isCurrent(ticket, for: id) && state.core.engine.isWanted(event, by: id)
    }
  }

  /// Nobody is told of an event before this is done.
  func holdBack(_ body: () -> Void) { holdsBack.withLock { _ in body() } }

  // MARK: The end

  /// Ends the service: what is known is stored, and the receiver set back as it was found. Waits for that: six seconds at
  /// most. What is not set back by then the next program knows of.
  public func finish() {
    guard var poller = try? Poller() else { return }
    let waker = poller.waker
    let hasEnded = change { state, now in
      if !state.isFinished { state.core.finish(at: now) }
      state.isFinished = true
      state.atEnd.append(waker)
      return state.hasEnded
    }
    if hasEnded { return }
    let limit = System.now().instant + Milliseconds(6000)
    _ = try? poller.wait(deadline: limit.nanoseconds)
  }

  /// Has a function called when the program ends by `exit` or by its last line.
  public static func atEnd(_ body: @convention(c) () -> Void) { System.atEnd(body) }

  // MARK: The thread's side

  /// Every change wakes the thread. Whether the program is in the foreground is looked at before, as what is asked for may
  /// depend on it.
  func change<Value>(_ body: (inout sending State, Instant) -> Value) -> Value {
    let now = System.now().instant
    lookAtApplication(at: now)
    let (value, waker) = state.withLock { (body(&$0, now), $0.waker) }
    waker?.wake()
    return value
  }

  /// Changes what is decided, from any thread.
  func changeCore(_ body: @Sendable (inout ServiceCore, Instant) -> Void) { change { body(&$0.core, $1) } }

  /// The same from the service's own thread, which looks at what follows from it anyway.
  func updateCore(_ body: @Sendable (inout ServiceCore) -> Void) { state.withLock { body(&$0.core) } }

  func waits(at waker: Poller.Waker) { state.withLock { $0.waker = waker } }

  func client(_ id: Positioning.ClientID) -> (any LocationServiceClient)? { state.withLock { $0.clients[id] } }
  func stream(_ id: Int) -> (any LiveUpdateReader)? { state.withLock { $0.streams[id] } }

  var isFinished: Bool { state.withLock { $0.isFinished } }
  /// When the thread is to look again. No signal tells of a return to the foreground: who waits for one looks each second.
  func deadline(after now: Instant) -> Instant? {
    let (deadline, waits) = state.withLock { ($0.core.deadline, $0.core.engine.waitsForForeground) }
    return settings.application == nil && waits ? .earlier(deadline, now + Milliseconds(1000)) : deadline
  }

  func actions(at now: Moment) -> [ServiceAction] {
    state.withLock { state in
      let actions = state.core.actions(at: now)
      for case .deliver(let id, _, let ticket) in actions where ticket.isAnswer { state.answered.insert(id) }
      // An ended service opens nothing.
      return actions.filter { $0 != .openReceiver || !state.isFinished }
    }
  }

  func wake(at now: Moment) { state.withLock { $0.core.wake(at: now) } }

  func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ origin: Location.Source, at now: Moment
  ) {
    let (fix, isUpdate) = (report.fix, report.isUpdate)
    state.withLock { $0.core.receive(fix, sky: sky, isUpdate: isUpdate, source: origin, at: now) }
  }

  /// An epoch of a receiver that stands by.
  func receive(
    _ report: borrowing EpochAssembler.Report, ofOther receiver: Int, _ origin: Location.Source, at now: Moment
  ) {
    if report.isUpdate { return }
    let fix = report.fix
    state.withLock { $0.core.receive(fix, ofOther: receiver, source: origin, at: now) }
  }

  /// There is one more receiver that can stand by.
  func otherCame() { state.withLock { $0.core.otherCame() } }

  func otherIsLost(_ receiver: Int) { state.withLock { $0.core.choice.lost(receiver) } }

  func receive(_ events: ReceiverEvent, at now: Moment) { state.withLock { $0.core.receive(events, at: now) } }

  /// An earlier process of this program left the receiver collecting.
  func hasLeftoverBatch() { state.withLock { $0.core.hasLeftoverBatch() } }

  func receiverIsPermitted(_ isPermitted: Bool, at now: Instant) {
    state.withLock { $0.core.receiverIsPermitted(isPermitted, at: now) }
    trouble(isPermitted ? nil : .forbidden)
  }

  func receiverIs(_ trouble: ReceiverTrouble) { self.trouble(trouble) }

  private func trouble(_ trouble: ReceiverTrouble?) {
    let listener = state.withLock { state in
      defer { state.trouble = trouble }
      return state.trouble == trouble ? nil : state.troubleListener
    }
    listener?(trouble)
  }

  /// Has a function told, on the service's thread, why the receiver cannot be opened, and nil when it is.
  public func listenToTrouble(_ listener: @escaping @Sendable (ReceiverTrouble?) -> Void) {
    let trouble = state.withLock { state in
      state.troubleListener = listener
      // Another receiver that was found does not mend the file.
      return settings.isMisconfigured ? .misconfigured : state.trouble
    }
    if let trouble { listener(trouble) }
  }

  /// There is a receiver on this machine now.
  func receiverCame() { state.withLock { $0.core.receiverCame() } }

  func administration(_ administration: Administration, at now: Instant) {
    state.withLock { $0.core.administration(administration, at: now) }
  }

  func answer(_ answer: Authorization.Answer, to prompt: Authorization.Prompt) {
    change { state, now in state.core.change { $0.authorizationAnswered(answer, to: prompt, at: now) } }
  }

  /// Foreground or background may have changed; it is looked at whenever something happens anyway.
  func lookAtApplication(at now: Instant) {
    guard settings.application == nil else { return }
    let found: ApplicationState = System.isInForeground() ? .foreground : .background
    state.withLock { state in
      if state.core.engine.application != found { state.core.change { $0.setApplication(found, at: now) } }
    }
  }

  private func ended() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      state.isFinished = true
      return state.atEnd
    }
    for waker in waiting { waker.wake() }
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
