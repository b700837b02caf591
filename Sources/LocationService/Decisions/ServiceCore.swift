// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import PowerControl
import Receiver
import ReceiverPower
import ReceiverStream

/// The decisions of the service, without its thread: clients' calls, epochs and ``ServiceInput`` go in, ``ServiceAction``
/// comes out. The caller brings the time.
///
/// Each cluster of state is a value with its own transitions: the clients (`engine`), the receiver's power (`coordinator`),
/// the receivers in use (`receivers`) and the chosen one (`choice`), the newest location (`newest`), batches (`batch`), the
/// computer's sensors (`sensing`). This type passes inputs to them and their results on.
struct ServiceCore: Sendable {
  var engine: PositioningEngine
  var coordinator: PowerCoordinator
  /// Translates the engine's demands for the power policy.
  private(set) var power = PowerDemands()
  /// Fixes of the receiver's memory on their way to their clients.
  var batch: BatchDelivery
  var sensing = HostSensing()
  private(set) var receivers = ReceiverUse()
  /// The receiver whose fixes clients get.
  private var choice = ReceiverChoice()
  private var newest: NewestLocation
  private var clock = MeasurementClock()
  private var authorization: AuthorizationFile
  /// Actions that wait for the next ``actions(at:)``.
  private var queue: [ServiceAction] = []
  /// The origin of the first receiver's fixes.
  private var source: Location.Source?
  /// The activity that the engine was given last.
  private var activity = SourceActivity.searching
  /// Whether the computer delays its suspend until the receiver rests.
  private var isSuspendWaiting = false
  /// The diagnostic that the readers of sessions were given last.
  private var reportedSessions: Diagnostic

  /// - Parameters:
  ///   - undecided: the permission of a program without a decision.
  ///   - storedAuthorization: the text that the engine was made with.
  ///   - deferred: locations that an earlier process kept for a deferral and did not deliver.
  init(
    engine: PositioningEngine, coordinator: PowerCoordinator, undecided: Authorization.Record = .init(),
    storedAuthorization: String? = nil, deferred: [Location] = []
  ) {
    self.engine = engine
    self.coordinator = coordinator
    batch = BatchDelivery(restored: deferred)
    newest = NewestLocation(isOnDisk: engine.newest != nil)
    authorization = AuthorizationFile(undecided: undecided, text: storedAuthorization)
    reportedSessions = engine.sessionDiagnostic
  }

  // MARK: Inputs

  /// Changes what clients ask for.
  mutating func change(_ body: (inout PositioningEngine) -> Void) { body(&engine) }

  mutating func receive(_ input: ServiceInput, at now: Moment) {
    switch input {
    case .receiver(let event): receive(event, at: now)
    case .leftoverBatch:
      coordinator.expectLeftover()
      batch.beginLeftover()
    case .receiverPermitted(let isPermitted): engine.setReceiverForbidden(!isPermitted, at: now.instant)
    case .receiverFound: receiverFound()
    case .standbyFound: receivers.standbyFound()
    case .standbyLost(let number): choice.lost(number)
    case .administration(let administration): receive(administration, at: now.instant)
    case .sensing(let input): receive(input, at: now)
    case .suspending:
      // The computer may not come back.
      storeNewest()
      isSuspendWaiting = true
      handle(.hostSuspending, at: now)
    case .resumed(let seconds):
      isSuspendWaiting = false
      handle(.hostResumed(suspendedSeconds: seconds), at: now)
    case .finish: finish(at: now.instant)
    }
  }

  /// Takes an epoch of the first receiver.
  ///
  /// - Parameter isUpdate: whether it adds to an epoch that came before.
  mutating func receive(_ fix: Fix, sky: borrowing Sky, isUpdate: Bool, source: Location.Source?, at now: Moment) {
    self.source = source
    coordinator.receive(fix, sky: sky, isUpdate: isUpdate, at: now.instant)
    drain(at: now)
    // After the location, which gives the declination.
    receiveHeading(of: fix, at: now)
  }

  /// Takes a fix of a standby receiver.
  mutating func receive(_ fix: Fix, ofStandby receiver: Int, source: Location.Source?, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source), !coordinator.isSilenceWanted,
      choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: receiver, at: now.instant)
    else { return }
    deliver(location, received: now.instant, at: now)
  }

  /// Once there was a receiver, there is something to measure with, also after the receiver is gone (GE-6).
  private mutating func receiverFound() {
    var hostCapabilities = engine.hostCapabilities
    hostCapabilities.hasSatelliteReceiver = true
    hostCapabilities.hasSignificantChanges = true
    engine.setHostCapabilities(hostCapabilities)
  }

  /// Takes the decisions outside the program, at the start and after each change of their files (AU-3).
  private mutating func receive(_ administration: Administration, at now: Instant) {
    engine.setServicesEnabled(administration.servicesAreOn, at: now)
    engine.setRestricted(administration.isRestricted, at: now)
    if let record = authorization.receive(administration.authorization) {
      engine.authorizationChanged(to: record, at: now)
    }
  }

  /// Stores what is known and has the receiver's memory read out for a client that waits for it.
  private mutating func finish(at now: Instant) {
    guard !receivers.isFinished else { return }
    storeNewest()
    requestSensors(SensorDemand())
    let readsOut = receivers.isOpen && coordinator.holdsFixes && power.isDeferring
    if readsOut { coordinator.readOut(at: now) }
    receivers.finish(readsOut: readsOut, at: now)
  }

  mutating func wake(at now: Moment) {
    wakeSensing(at: now.instant)
    // Before the engine: the policy reads the receiver out for a deferral that ends at this instant.
    if let due = coordinator.deadline, now.instant >= due { coordinator.wake(at: now.instant) }
    drain(at: now)
    applyWaitingCalls(at: now.instant)
    if let due = engine.deadline, now.instant >= due { engine.wake(at: now) }
  }

  // MARK: Locations

  /// Delivers a fix of the first receiver.
  mutating func deliver(_ fix: Fix, received: Moment, at now: Moment) {
    guard
      !fix.hasPosition || choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: 0, at: now.instant),
      let location = Location(fix, received: received.utc, source: source)
    else { return }
    let isNew = clock.isNewEpoch(location.timestamp)
    deliver(location, received: received.instant, at: now)
    guard isNew, power.isDeferring, isAuthorized else { return }
    // Until the deferral ends only this process has the location, and it may be killed.
    batch.stored()
    enqueue(.keepLocation(StateText.text(of: location)))
  }

  /// Delivers a location that was kept for a deferral, or a fix of any receiver.
  mutating func deliver(_ location: Location, received: Instant, at now: Moment) {
    engine.receive(location, measured: clock.measured(location.timestamp, receivedAt: received), at: now)
    noteNewest(location)
  }

  /// Delivers a fix of the receiver's memory.
  mutating func deliverRemembered(_ fix: Fix, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    // The clients of a batch that an earlier process had collected are given it as if it came now.
    if batch.isLeftover { return deliver(location, received: now.instant, at: now) }
    engine.receive(location, measured: clock.instant(of: location.timestamp, at: now), at: now)
    if newest.isNewest(location.timestamp) { noteNewest(location) }
  }

  /// Notes a location for other programs and later runs, which must not take a simulated one for theirs.
  private mutating func noteNewest(_ location: Location) {
    let isSimulated = location.source?.isSimulatedBySoftware ?? false
    if isAuthorized, location.horizontalAccuracyMetres >= 0, !isSimulated { newest.receive(location) }
  }

  private mutating func storeNewest() { if let location = newest.storeNow() { enqueue(store(location)) } }

  private func store(_ location: Location) -> ServiceAction { .store(.newestLocation, StateText.text(of: location)) }

  var isAuthorized: Bool { engine.authorization.status.isAuthorized }

  // MARK: Power

  /// Passes an event to the power policy.
  mutating func handle(_ event: PowerEvent, at now: Moment) {
    coordinator.handle(event, at: now.instant)
    drain(at: now)
  }

  /// Passes changed demands to the power policy. Returns whether any has changed.
  @discardableResult
  mutating func updateDemands(at now: Instant) -> Bool {
    let events = power.update(demandsOfManagers, shared: engine.sharedDemand, at: now)
    for event in events { coordinator.handle(event, at: now) }
    return !events.isEmpty
  }

  mutating func drain(at now: Moment) {
    while let output = coordinator.nextOutput(at: now.instant) { take(output, at: now) }
    let activity: SourceActivity = coordinator.isSilenceWanted ? .idle : .searching
    guard activity != self.activity else { return }
    self.activity = activity
    engine.sourceBecame(activity, at: now.instant)
  }

  // MARK: Actions

  /// The time at which `wake` and `actions` are due.
  var deadline: Instant? {
    var next = Instant.earlier(engine.deadline, receivers.deadline)
    next = .earlier(next, coordinator.deadline)
    next = .earlier(next, batch.deadline)
    next = .earlier(next, sensingDeadline)
    return .earlier(next, power.deadline)
  }

  mutating func enqueue(_ action: ServiceAction) { queue.append(action) }

  /// Returns what is to be done now, once.
  mutating func actions(at now: Moment) -> [ServiceAction] {
    for _ in 0..<4 where updateDemands(at: now.instant) { drain(at: now) }
    drain(at: now)
    var actions = takeOutputs(at: now.instant)
    noteDelivered(actions)
    if engine.sessionDiagnostic != reportedSessions {
      reportedSessions = engine.sessionDiagnostic
      actions.append(.sessions(reportedSessions))
    }
    let isResting = coordinator.isSilenceWanted
    let isNeeded = engine.demands.contains(where: \.needsPosition) || needsReceiverForHeading
    actions += receivers.open(isNeeded: isNeeded, isResting: isResting)
    if !receivers.isFinished { updateSensors() }
    if isSuspendWaiting, coordinator.isSilenceReached {
      isSuspendWaiting = false
      enqueue(.readyForSuspend)
    }
    actions += takeQueue()
    actions += receivers.release(isReadingOut: coordinator.isReadingOut, isResting: isResting, at: now.instant)
    if let location = newest.storeDue(isEnd: receivers.isFinished, at: now.instant) { actions.append(store(location)) }
    return actions
  }

  /// Takes the engine's outputs. The newest location is remembered after the delegates' events, whose delivery waits for
  /// that, and before all else.
  private mutating func takeOutputs(at now: Instant) -> [ServiceAction] {
    let outputs = engine.outputs
    engine.outputs = []
    let delivered = outputs.lazy.compactMap { output -> UTCTime? in
      guard case .event(_, .didUpdateLocations(let locations), _) = output else { return nil }
      return locations.last?.timestamp
    }
    var unremembered = newest.publish(delivered: delivered.max(), isDeferring: power.isDeferring)
    var actions: [ServiceAction] = []
    if let location = newest.storeFirst(at: now) { actions = takeQueue() + [store(location)] }
    for output in outputs {
      if let location = unremembered, !output.isForDelegate {
        unremembered = nil
        actions.append(.remember(location))
      }
      if let action = action(for: output) { actions.append(action) }
    }
    if let unremembered { actions.append(.remember(unremembered)) }
    return actions
  }

  private mutating func takeQueue() -> [ServiceAction] {
    defer { queue = [] }
    return queue
  }

  private mutating func action(for output: PositioningOutput) -> ServiceAction? {
    switch output {
    case .event(let id, let event, let ticket): .deliver(id, event, ticket)
    case .prompt(let prompt): .prompt(prompt)
    case .temporaryAccuracy(let id, let token, let error): .temporaryAccuracy(id, token: token, error)
    case .showCalibration(let id): .showCalibration(id, true)
    case .hideCalibration(let id): .showCalibration(id, false)
    case .live(let id, let update): .live(id, update)
    case .advice(_, let advice): .log(advice.message)
    case .store(.regions): .store(.regions, StateText.text(of: engine.regions.records))
    case .store(.visits): .store(.visits, StateText.text(of: engine.visits.record))
    case .store(.authorization): authorization.store(engine.authorization.record).map { .store(.authorization, $0) }
    case .store(.monitor(let name)):
      .store(.monitor(name), StateText.text(ofMonitor: engine.monitor(name)?.records ?? []))
    case .monitorHasEvent(let name): .monitorHasEvent(name)
    }
  }
}

extension Positioning.Demand {
  /// Whether it needs a position; a compass and beacons are other hardware.
  var needsPosition: Bool {
    standard != nil || oneShot != nil || significantChange != nil || border != nil || visits || live || liveIsStationary
  }
}

extension PositioningOutput {
  /// Whether it goes into an event queue, which is emptied once the round's newest location is remembered.
  fileprivate var isForDelegate: Bool { if case .event = self { true } else { false } }
}
