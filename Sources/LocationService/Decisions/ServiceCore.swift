// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverStream

/// The decisions of the service, without its thread: its inputs are clients' calls, epochs and ``ServiceInput``, its
/// output is ``ServiceAction``. The caller passes the time.
///
/// Each cluster of state is a value with its own transitions: the programs with their clients (`programs`), the receiver's
/// power (`coordinator`), the receivers in use (`receivers`) and the chosen one (`choice`), the epoch that is reported in
/// parts (`completion`), the newest location (`newest`), batches (`batch`), the computer's sensors (`sensing`). This type
/// passes inputs to these values, and their results between them. A service in a program has only that program, the
/// daemon has all connected programs.
package struct ServiceCore: Sendable {
  var programs = Programs()
  /// The programs' revision whose demands the policy has, and whether the receiver was needed for headings then.
  private var passed: (revision: UInt64, isAwakeForHeading: Bool)?
  private(set) var hostCapabilities: HostCapabilities
  package internal(set) var coordinator: PowerCoordinator
  /// Translates the engine's demands for the power policy.
  private(set) var power = PowerDemands()
  /// Undelivered fixes of the receiver's memory.
  var batch: BatchDelivery
  var sensing = HostSensing()
  private(set) var receivers = ReceiverUse()
  /// The receiver whose fixes clients get.
  private var choice = ReceiverChoice()
  /// The receiver whose fixes programs get; nil before the first fix.
  var chosenReceiver: Int? { choice.chosen }
  private var completion = EpochCompletion()
  private var newest: NewestLocation
  private var clock = MeasurementClock()
  /// Actions that wait for the next ``actions(at:)``.
  private var queue: [ServiceAction] = []
  /// The kind of the first receiver's last epoch; nil before one, and after its loss.
  var lastKind: Fix.Kind?
  /// The origin of the first receiver's fixes.
  private var source: Location.Source?
  /// The activity last passed to the engines.
  private var activity = SourceActivity.searching
  /// Whether the computer delays its suspend until the receiver is idle.
  private var isSuspendWaiting = false
  /// The latest end of the current read-out of the receiver's memory.
  private(set) var readOutEnds: Instant?

  /// - Parameters:
  ///   - newest: the newest location on the disk; nil if there is none.
  ///   - deferred: locations that an earlier process kept for a deferral and did not deliver.
  package init(
    hostCapabilities: HostCapabilities, coordinator: PowerCoordinator, newest: Location? = nil,
    deferred: [Location] = []
  ) {
    self.hostCapabilities = hostCapabilities
    self.coordinator = coordinator
    batch = BatchDelivery(restored: deferred)
    self.newest = NewestLocation(restored: newest)
  }

  /// The newest location that was published, of this process or an earlier one.
  var newestPublished: Location? { newest.known }

  // MARK: Programs

  /// Adds a program, and passes the current state to its engine.
  package mutating func add(_ program: Program, at now: Moment) {
    programs.append(program)
    // A deferral whose time is over ends with the locations that an earlier process kept for it.
    if batch.hasRestored { readOutEnds = readOutEnds ?? now.instant + BatchDelivery.longestWait }
    change(program.id) { [hostCapabilities, activity, readOutEnds] engine in
      if engine.hostCapabilities != hostCapabilities { engine.setHostCapabilities(hostCapabilities) }
      if activity != .searching { engine.sourceBecame(activity, at: now.instant) }
      if let readOutEnds { engine.batchBegins(until: readOutEnds) }
    }
  }

  /// Removes a program. Returns the state to store.
  mutating func remove(_ id: ProgramID) -> [ProgramAction] {
    guard let index = index(of: id) else { return [] }
    let outputs = programs.list[index].engine.outputs.filter(\.isStored)
    let actions = outputs.compactMap { programs.action(for: $0, of: index) }
    programs.remove(at: index)
    return actions
  }

  func index(of id: ProgramID) -> Int? { programs.index(of: id) }

  /// Returns the decisions for a program; nil if it was removed.
  package func engine(of id: ProgramID) -> PositioningEngine? { index(of: id).map { programs.list[$0].engine } }

  /// Changes the requests of a program's clients.
  mutating func change(_ id: ProgramID, _ body: (inout PositioningEngine) -> Void) {
    if let index = index(of: id) { programs.change(index) { body(&$0.engine) } }
  }

  mutating func changeEngines(_ body: (inout PositioningEngine) -> Void) {
    for index in programs.indices { programs.change(index) { body(&$0.engine) } }
  }

  /// The combined demand of all programs.
  var known: ProgramsSummary { programs.summary }

  // MARK: Inputs

  package mutating func receive(_ input: ServiceInput, at now: Moment) {
    switch input {
    case .receiver(let event): receive(event, at: now)
    case .leftoverBatch:
      coordinator.expectLeftover()
      batch.beginLeftover()
    case .leftoverSettings: receivers.restoreLeftover()
    case .receiverPermitted(let isPermitted):
      changeEngines { $0.setReceiverForbidden(!isPermitted, at: now.instant) }
    case .receiverFound: receiverFound()
    case .standbyFound: receivers.standbyFound()
    case .standbyLost(let number):
      if number == 0 { lastKind = nil }
      choice.lost(number)
    case .published(let location):
      // Not published again: the other program publishes it.
      changeEngines { $0.receive(location, measured: now.instant, at: now) }
    case .administration(let program, let administration): receive(administration, of: program, at: now.instant)
    case .sensing(let input): receive(input, at: now)
    case .suspending:
      // The computer may not resume.
      deliverHeldEpoch(at: now)
      storeNewest()
      isSuspendWaiting = true
      handle(.hostSuspending, at: now)
    case .resumed(let seconds):
      isSuspendWaiting = false
      handle(.hostResumed(suspendedSeconds: seconds), at: now)
    // Only the first receiver keeps fixes in its memory.
    case .lend(receiver: 0): lend(at: now.instant)
    case .takeBack(receiver: 0): if receivers.takeBack() { enqueue(.takeBack(receiver: 0)) }
    case .lend(let receiver): enqueue(.lend(receiver: receiver))
    case .takeBack(let receiver): enqueue(.takeBack(receiver: receiver))
    case .finish:
      deliverHeldEpoch(at: now)
      finish(at: now.instant)
    }
  }

  /// Handles an epoch of the first receiver.
  ///
  /// - Parameter isUpdate: whether it adds to an epoch that was already reported.
  package mutating func receive(
    _ fix: Fix, sky: borrowing Sky, isUpdate: Bool, source: Location.Source?, at now: Moment
  ) {
    self.source = source
    // Programs get no location beyond the receiver's limits.
    lastKind = fix.isWithinLimits ? fix.kind : Fix.Kind.none
    coordinator.receive(fix, sky: sky, isUpdate: isUpdate, at: now.instant)
    drain(at: now)
    // After the location, which gives the declination.
    receiveHeading(of: fix, at: now)
  }

  /// Handles a fix of a standby receiver.
  mutating func receive(_ fix: Fix, ofStandby receiver: Int, source: Location.Source?, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source), !coordinator.isSilenceWanted,
      choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: receiver, at: now.instant),
      clock.isNewEpoch(location.timestamp)
    else { return }
    deliver(location, received: now.instant, at: now)
  }

  /// Once a receiver was found, positions count as available, even after the receiver is removed (GE-6).
  private mutating func receiverFound() {
    var after = hostCapabilities
    after.hasSatelliteReceiver = true
    after.hasSignificantChanges = true
    setHostCapabilities(after)
  }

  mutating func setHostCapabilities(_ hostCapabilities: HostCapabilities) {
    self.hostCapabilities = hostCapabilities
    changeEngines { $0.setHostCapabilities(hostCapabilities) }
  }

  /// Applies the external decisions about a program, at the start and after each change of their files (AU-3).
  private mutating func receive(_ administration: Administration, of id: ProgramID, at now: Instant) {
    guard let index = index(of: id) else { return }
    programs.change(index) { program in
      program.engine.setServicesEnabled(administration.servicesAreOn, at: now)
      program.engine.setRestricted(administration.isRestricted, at: now)
      if let record = program.authorization.receive(administration.authorization) {
        program.engine.authorizationChanged(to: record, at: now)
      }
    }
  }

  /// Stores the state, and starts a read-out of the receiver's memory for a client that waits for it.
  private mutating func finish(at now: Instant) {
    guard !receivers.isFinished else { return }
    storeNewest()
    requestSensors(SensorDemand())
    let readsOut = owesFixes
    if readsOut { coordinator.readOut(at: now) }
    receivers.finish(readsOut: readsOut, at: now)
  }

  /// Starts a read-out of the receiver's memory before its line is lent to a program.
  private mutating func lend(at now: Instant) {
    let readsOut = owesFixes
    if readsOut { coordinator.readOut(at: now) }
    receivers.lend(readsOut: readsOut, at: now)
  }

  /// Whether the receiver's memory has fixes that a client waits for.
  private var owesFixes: Bool { receivers.isOpen && coordinator.holdsFixes && power.isDeferring }

  package mutating func wake(at now: Moment) {
    programs.summarize()
    wakeSensing(at: now.instant)
    // Before the engine's `wake`: the policy starts a read-out for a deferral that ends at this instant.
    if let due = coordinator.deadline, now.instant >= due { coordinator.wake(at: now.instant) }
    drain(at: now)
    applyWaitingCalls(at: now.instant)
    programs.summarize()
    if let due = completion.deadline, now.instant >= due { deliverHeldEpoch(at: now) }
    if let due = readOutEnds, now.instant >= due { replay(at: now) }
    guard let due = known.deadline, now.instant >= due else { return }
    // A request or deferral that ends has received the fix.
    deliverHeldEpoch(at: now)
    for index in programs.indices {
      if let due = programs.list[index].engine.deadline, now.instant >= due {
        programs.change(index) { $0.engine.wake(at: now) }
      }
    }
  }

  mutating func readOutBegins(until end: Instant) {
    readOutEnds = end
    changeEngines { $0.batchBegins(until: end) }
  }

  mutating func readOutEnded(at now: Moment) {
    readOutEnds = nil
    changeEngines { $0.batchEnded(at: now) }
  }

  // MARK: Locations

  /// Handles a report of the first receiver, and delivers it when its epoch is complete.
  mutating func receive(_ fix: Fix, received: Moment, at now: Moment) {
    if let epoch = completion.releaseEpoch(before: fix) { deliver(epoch.fix, received: epoch.received, at: now) }
    if let received = completion.receive(fix, at: received) { deliver(fix, received: received, at: now) }
  }

  /// Delivers the epoch that waits for its dilutions, if there is one.
  mutating func deliverHeldEpoch(at now: Moment) {
    if let epoch = completion.release() { deliver(epoch.fix, received: epoch.received, at: now) }
  }

  /// Delivers a fix of the first receiver.
  mutating func deliver(_ fix: Fix, received: Moment, at now: Moment) {
    guard
      !fix.hasPosition || choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: 0, at: now.instant),
      let location = Location(fix, received: received.utc, source: source)
    else { return }
    // A delivered epoch is not delivered again when it is complete.
    guard clock.isNewEpoch(location.timestamp) else { return }
    deliver(location, received: received.instant, at: now)
    guard power.isDeferring, isAnyAuthorized else { return }
    // Until the deferral ends only this process has the location, and it may be killed.
    batch.stored()
    enqueue(.keepLocation(StateText.text(of: location)))
  }

  /// Delivers a location that was kept for a deferral, or a fix of any receiver.
  mutating func deliver(_ location: Location, received: Instant, at now: Moment) {
    let measured = clock.measured(location.timestamp, receivedAt: received)
    changeEngines { $0.receive(location, measured: measured, at: now) }
    noteNewest(location)
  }

  /// Delivers a fix of the receiver's memory.
  mutating func deliverRemembered(_ fix: Fix, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    // A batch collected for an earlier process is delivered to its clients as if it arrived now.
    if batch.isLeftover { return deliver(location, received: now.instant, at: now) }
    let measured = clock.instant(of: location.timestamp, at: now)
    changeEngines { $0.receive(location, measured: measured, at: now) }
    if newest.isNewest(location.timestamp) { noteNewest(location) }
  }

  /// Records a location for other programs and later runs. Simulated locations are excluded, so that they are not
  /// mistaken for real ones.
  private mutating func noteNewest(_ location: Location) {
    let isSimulated = location.source?.isSimulatedBySoftware ?? false
    if isAnyAuthorized, location.horizontalAccuracyMetres >= 0, !isSimulated { newest.receive(location) }
  }

  private mutating func storeNewest() { if let location = newest.storeNow() { enqueue(store(location)) } }

  private func store(_ location: Location) -> ServiceAction { .store(.newestLocation, StateText.text(of: location)) }

  var isAnyAuthorized: Bool { programs.indices.contains { programs.list[$0].isAuthorized } }

  /// The programs that would receive other events in another state of theirs.
  var dependentOnApplication: Set<ProgramID> {
    Set(programs.indices.lazy.filter { programs.list[$0].engine.dependsOnApplication }.map { programs.list[$0].id })
  }

  /// Whether any program waits for its return to the foreground.
  var waitsForForeground: Bool { programs.indices.contains { programs.list[$0].engine.waitsForForeground } }

  // MARK: Power

  /// Passes an event to the power policy.
  mutating func handle(_ event: PowerEvent, at now: Moment) {
    coordinator.handle(event, at: now.instant)
    drain(at: now)
  }

  /// Passes changed demands to the power policy. Returns whether any has changed.
  @discardableResult
  mutating func updateDemands(at now: Instant) -> Bool {
    programs.summarize()
    let isAwakeForHeading = needsReceiverForHeading
    let isPassed = passed.map { $0 == (programs.revision, isAwakeForHeading) } ?? false
    guard !isPassed || power.deadline != nil else { return false }
    passed = (programs.revision, isAwakeForHeading)
    let events = power.update(known.demands(isAwakeForHeading: isAwakeForHeading), at: now)
    for event in events { coordinator.handle(event, at: now) }
    return !events.isEmpty
  }

  mutating func drain(at now: Moment) {
    while let output = coordinator.nextOutput(at: now.instant) { take(output, at: now) }
    // Between two searches for satellites clients still wait (SU-17).
    let isIdle = coordinator.isSilenceWanted && !coordinator.power.restsWithoutSky
    let activity: SourceActivity = isIdle ? .idle : .searching
    guard activity != self.activity else { return }
    self.activity = activity
    changeEngines { $0.sourceBecame(activity, at: now.instant) }
  }

  /// Whether corrections are useful now: the receiver measures, and a program needs the best accuracy.
  ///
  /// - Parameter always: whether they are used for any program.
  func needsCorrections(always: Bool) -> Bool {
    guard receivers.isOpen, !receivers.isFinished, always || known.needsBestAccuracy else { return false }
    return switch powerStatus {
    case .awake, .saving: !coordinator.isSilenceWanted
    case .absent, .identifying, .suspended, .batching, .waking, .asleep, .asleepUntilTimer, .asleepBetweenChecks,
      .asleepWithoutSky, .unread:
      false
    }
  }

  // MARK: Actions

  /// The time at which `wake` and `actions` are due.
  package var deadline: Instant? {
    var next = Instant.earlier(receivers.deadline, receivers.lendingDeadline)
    next = .earlier(next, known.deadline)
    next = .earlier(next, coordinator.deadline)
    next = .earlier(next, batch.deadline)
    next = .earlier(next, sensingDeadline)
    next = .earlier(next, completion.deadline)
    return .earlier(next, power.deadline)
  }

  mutating func enqueue(_ action: ServiceAction) { queue.append(action) }

  /// Returns the actions to perform now, once, in their order.
  package mutating func actions(at now: Moment) -> [ServiceAction] { round(at: now).actions }

  /// Returns the actions to perform now, once.
  mutating func round(at now: Moment) -> ServiceRound {
    for _ in 0..<4 where updateDemands(at: now.instant) { drain(at: now) }
    drain(at: now)
    var round = takeOutputs(at: now.instant)
    let isResting = coordinator.isSilenceWanted
    round.after += receivers.open(isNeeded: needsReceiverForHeading || known.needsPosition, isResting: isResting)
    if !receivers.isFinished { updateSensors() }
    if isSuspendWaiting, coordinator.isSilenceReached {
      isSuspendWaiting = false
      enqueue(.readyForSuspend)
    }
    round.after += takeQueue()
    if receivers.lendNow(isReadingOut: coordinator.isReadingOut, at: now.instant) {
      round.after.append(.lend(receiver: 0))
    }
    round.after += receivers.release(isReadingOut: coordinator.isReadingOut, isResting: isResting, at: now.instant)
    if let location = newest.storeDue(isEnd: receivers.isFinished, at: now.instant) {
      round.after.append(.storeNewestLater(StateText.text(of: location)))
    }
    return round
  }

  /// Collects the engines' outputs. The newest location is remembered after the delegates' events, whose delivery waits
  /// for that, and before all other actions.
  private mutating func takeOutputs(at now: Instant) -> ServiceRound {
    var round = ServiceRound()
    var delivered: UTCTime?
    let changed = programs.mayHaveOutputs ? programs.indices : 0..<0
    for index in changed {
      var outputs = programs.takeOutputs(of: index)
      if outputs.isEmpty { continue }
      let hasCrossing = outputs.contains(where: \.isCrossingOrVisit)
      // After a kill or a power cut between the two, the event takes precedence.
      if programs.list[index].isAbsent || hasCrossing {
        outputs = outputs.filter { !$0.isStored } + outputs.filter(\.isStored)
      }
      // An event that follows another output of its program is not moved before it.
      var isAfterOther = false
      for output in outputs {
        if case .event(_, .didUpdateLocations(let locations), _) = output, let newest = locations.last?.timestamp {
          delivered = max(delivered ?? newest, newest)
        }
        guard let action = programs.action(for: output, of: index) else { continue }
        isAfterOther = isAfterOther || !output.isForDelegate
        if hasCrossing, !programs.list[index].isAbsent, case .store(let file, let text) = action {
          round.stores.append(.storeAfterEvents(programs.list[index].id, file, text))
        } else if isAfterOther {
          round.after.append(.program(programs.list[index].id, action))
        } else {
          round.events.append(.program(programs.list[index].id, action))
        }
      }
    }
    round.remembered = newest.publish(delivered: delivered, isDeferring: power.isDeferring).map(ServiceAction.remember)
    if let location = newest.storeFirst(at: now) { round.before = takeQueue() + [store(location)] }
    noteDelivered(round.events + round.after)
    for index in changed {
      if let diagnostic = programs.takeSessions(of: index) {
        round.after.append(.program(programs.list[index].id, .sessions(diagnostic)))
      }
    }
    programs.noteOutputsTaken()
    return round
  }

  private mutating func takeQueue() -> [ServiceAction] {
    defer { queue = [] }
    return queue
  }
}

extension Demand {
  /// Whether it needs the best accuracy, or an accuracy that a receiver does not reach without corrections.
  var needsBestAccuracy: Bool {
    let needed = [oneShot, isPaused ? nil : updates?.accuracy]
    return needed.contains { $0.map { $0.coarsenessMetres < 1 } ?? false }
  }
}

extension PositioningOutput {
  /// Whether it goes into an event queue, which is emptied once the round's newest location is remembered.
  fileprivate var isForDelegate: Bool { if case .event = self { true } else { false } }
  fileprivate var isStored: Bool { if case .store = self { true } else { false } }
  fileprivate var isCrossingOrVisit: Bool {
    switch self {
    case .event(_, .didEnter, _), .event(_, .didExit, _), .event(_, .didVisit, _): true
    default: false
    }
  }
}

/// The receivers that the service has open, from the first demand to the end of the program. One that a killed process left changed or
/// asleep is in use from the start, so that the end restores it.
///
///     unused ──need──▶ inUse ──finish──▶ ending(by) ──read out, or the time is over──▶ released
///        └──────────────────────────finish────────────────────────────────────────────────▲
///
/// Its line may be lent to a program meanwhile, after the receiver's memory was read out:
///
///     served ──lend──▶ readingOut(by) ──read out, or the time is over──▶ lent ──takeBack──▶ served
///
/// The first receiver (number 0) stays open until the program ends and sleeps while no client needs it. Standby receivers
/// (numbers from 1) are open while the first one is in use and not idle.
struct ReceiverUse: Sendable {
  /// The longest time for reading a receiver's memory out when the program ends.
  static var lastRead: Milliseconds { Milliseconds(2000) }

  private enum Stage: Sendable, Equatable { case unused, inUse, ending(by: Instant), released }
  private enum Standby: Sendable { case none, released, open }
  private enum Lending: Sendable, Equatable { case served, readingOut(by: Instant), lent }

  private var stage = Stage.unused
  private var standby = Standby.none
  private var lending = Lending.served
  /// Whether an earlier process left the receiver changed.
  private var hasLeftover = false

  mutating func restoreLeftover() { hasLeftover = true }

  /// Whether the first receiver is open, also while the program ends.
  var isOpen: Bool { deadline != nil || stage == .inUse }
  /// Whether the program ends.
  var isFinished: Bool { deadline != nil || stage == .released }
  /// The time at which the first receiver is released at the latest.
  var deadline: Instant? { if case .ending(let limit) = stage { limit } else { nil } }

  /// The time at which the line is lent at the latest.
  var lendingDeadline: Instant? { if case .readingOut(let limit) = lending { limit } else { nil } }

  /// Lends the line to a program.
  ///
  /// - Parameter readsOut: whether the receiver's memory has fixes that a client waits for.
  mutating func lend(readsOut: Bool, at now: Instant) {
    if lending == .served { lending = .readingOut(by: readsOut ? now + Self.lastRead : now) }
  }

  /// Handles the return of the line by the program. Returns whether it had the line.
  mutating func takeBack() -> Bool {
    defer { lending = .served }
    return lending == .lent
  }

  /// Lends the line if it is due. Returns whether the program gets it now.
  mutating func lendNow(isReadingOut: Bool, at now: Instant) -> Bool {
    guard let lendingDeadline, now >= lendingDeadline || !isReadingOut else { return false }
    lending = .lent
    return true
  }

  /// Adds a standby receiver, which is opened with the others.
  mutating func standbyFound() { standby = .released }

  /// Ends the use.
  ///
  /// - Parameter readsOut: whether the receiver's memory has fixes that a client waits for.
  mutating func finish(readsOut: Bool, at now: Instant) {
    switch stage {
    case .unused: stage = .released
    case .inUse: stage = .ending(by: readsOut ? now + Self.lastRead : now)
    case .ending, .released: break
    }
  }

  /// Returns the receivers to open.
  mutating func open(isNeeded: Bool, isResting: Bool) -> [ServiceAction] {
    var actions: [ServiceAction] = []
    if stage == .unused, isNeeded || hasLeftover {
      stage = .inUse
      actions.append(.openReceiver)
    }
    if standby == .released, needsStandby(isResting: isResting) {
      standby = .open
      actions.append(.openStandby)
    }
    return actions
  }

  /// Returns the receivers to release.
  mutating func release(isReadingOut: Bool, isResting: Bool, at now: Instant) -> [ServiceAction] {
    var actions: [ServiceAction] = []
    if let deadline, now >= deadline || !isReadingOut {
      stage = .released
      actions.append(.releaseReceiver)
    }
    if standby == .open, !needsStandby(isResting: isResting) {
      standby = .released
      actions.append(.releaseStandby)
    }
    return actions
  }

  private func needsStandby(isResting: Bool) -> Bool { stage == .inUse && !isResting }
}
