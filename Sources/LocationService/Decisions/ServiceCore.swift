import MonotonicTime
import Positioning
import PowerControl
import Receiver
import ReceiverPower
import ReceiverStream

/// The service without its thread: what clients ask and what is measured go in, what is to be done comes out. Whoever holds
/// it brings the time.
struct ServiceCore: Sendable {
  /// For how long the receiver is read at the end of a program that had fixes collected.
  static var lastRead: Milliseconds { Milliseconds(2000) }
  /// How often the newest location is stored while it changes: a card wears by writing.
  static var storeInterval: Milliseconds { Milliseconds(60_000) }

  var engine: PositioningEngine
  /// From what clients need to what the receiver does.
  var coordinator: PowerCoordinator
  /// Between the engine's clients and the policy's.
  var power = PowerDemands()
  /// Fixes of the receiver's memory on their way to their clients.
  var batch = BatchDelivery()
  var extra: [ServiceAction] = []
  var source: Location.Source?
  var sourceActivity = SourceActivity.searching
  /// Whose fixes clients are told of.
  var choice = ReceiverChoice()
  /// Whether there are receivers beside the first one.
  private(set) var hasOthers = false
  private var areOthersWanted = false
  private(set) var isReceiverWanted = false
  private var isFinished = false
  /// The computer waits with its suspend until the receiver rests.
  var isSuspendWaiting = false
  var sensing = HostSensing()
  private var newest: Location?
  /// What came behind it; in a deferral it may wait.
  private var untold: Location?
  private var isNewestStored = true
  private var isNewestRemembered = true
  /// Whether the disk has a newest location.
  private var hasStored: Bool
  private var storeAt = Instant.zero
  private var lastFix: (measured: Instant, timestamp: UTCTime)?
  /// The program ends: the receiver is released then.
  private var releaseAt: Instant?

  /// What the readers of sessions were told last.
  private var reportedSessions: Diagnostic

  /// What holds where nothing is stored.
  private let undecided: Authorization.Record
  /// The text of the program's permission, as it was read or stored last.
  private var knownAuthorization: String?

  /// - Parameters:
  ///   - undecided: the permission of a program that nobody has decided about.
  ///   - storedAuthorization: the text that the engine was made with.
  ///   - deferred: locations that an earlier process kept for a deferral and did not deliver.
  init(
    engine: PositioningEngine, coordinator: PowerCoordinator, undecided: Authorization.Record = .init(),
    storedAuthorization: String? = nil, deferred: [Location] = []
  ) {
    self.engine = engine
    self.coordinator = coordinator
    self.undecided = undecided
    knownAuthorization = storedAuthorization
    hasStored = engine.newest != nil
    reportedSessions = engine.sessionDiagnostic
    batch.restored = deferred
  }

  // MARK: What goes in

  mutating func change(_ body: (inout PositioningEngine) -> Void) { body(&engine) }

  /// A fix that came then, as it was measured.
  mutating func deliver(_ fix: Fix, received: Moment, at now: Moment) {
    guard let location = Location(fix, received: received.utc, source: source) else { return }
    // More of an epoch that came before is no other fix.
    let isNew = location.timestamp != lastFix?.timestamp
    deliver(location, received: received.instant, at: now)
    guard isNew, power.isDeferring, engine.authorization.status.isAuthorized else { return }
    // It waits in this process alone, which may die.
    batch.stored()
    extra.append(.keepLocation(StateText.text(of: location)))
  }

  mutating func deliver(_ location: Location, received: Instant? = nil, at now: Moment) {
    engine.receive(location, measured: measured(location, at: received ?? now.instant), at: now)
    remember(location)
  }

  /// A fix of a receiver that stands by beside the first one.
  mutating func receive(_ fix: Fix, ofOther receiver: Int, source: Location.Source?, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source), !coordinator.isSilenceWanted,
      choice.takes(accuracyMetres: fix.horizontalAccuracyMetres, of: receiver, at: now.instant)
    else { return }
    engine.receive(location, measured: measured(location, at: now.instant), at: now)
    remember(location)
  }

  /// A fix of the receiver's memory.
  ///
  /// - Parameter isLeftover: an earlier process had it collected; who waits now did not, and is given it all the same.
  mutating func deliverRemembered(_ fix: Fix, isLeftover: Bool, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    let instant = isLeftover ? measured(location, at: now.instant) : instant(of: location.timestamp, at: now)
    engine.receive(location, measured: instant, at: now)
    // What came live meanwhile is newer.
    if !isLeftover, let known = untold ?? newest, known.timestamp > location.timestamp { return }
    remember(location)
  }

  /// Not by its time: one that came before the receiver knew a date bears the computer's.
  private mutating func remember(_ location: Location) {
    guard engine.authorization.status.isAuthorized, location.horizontalAccuracyMetres >= 0 else { return }
    untold = location
  }

  /// What waits in a deferral is not yet the newest location that later runs begin with: they get it from the deferral, in
  /// its order.
  private mutating func noteNewest(_ outputs: [PositioningOutput]) {
    guard let location = untold else { return }
    let isReported = outputs.contains { output in
      guard case .event(_, .didUpdateLocations(let locations), _) = output, let last = locations.last else {
        return false
      }
      return last.timestamp >= location.timestamp
    }
    guard isReported || !power.isDeferring else { return }
    untold = nil
    newest = location
    isNewestStored = false
    isNewestRemembered = false
  }

  /// The instant of a time: by the newest fix that came as it was measured, else by the computer's clock.
  private func instant(of time: UTCTime, at now: Moment) -> Instant {
    let (instant, utc) = lastFix.map { ($0.measured, $0.timestamp) } ?? (now.instant, now.utc)
    let later = time.nanosecondsSince1970 - utc.nanosecondsSince1970
    let nanoseconds = Int64(clamping: instant.nanoseconds) + later
    return min(Instant(nanoseconds: UInt64(max(nanoseconds, 0))), now.instant)
  }

  /// Epochs that are read together, as after a stall, keep their order: a later one was measured later.
  private mutating func measured(_ location: Location, at now: Instant) -> Instant {
    var instant = now
    if let lastFix, instant <= lastFix.measured {
      // One that is told twice is the same.
      guard location.timestamp > lastFix.timestamp else { return lastFix.measured }
      instant = Instant(nanoseconds: lastFix.measured.nanoseconds + 1)
    }
    lastFix = (instant, location.timestamp)
    return instant
  }

  /// Whether the system lets this program open its receiver; what it does not let reads as denied.
  mutating func receiverIsPermitted(_ isPermitted: Bool, at now: Instant) {
    engine.setReceiverForbidden(!isPermitted, at: now)
  }

  /// There is a receiver on this machine, from now on and also when it goes again (GE-6).
  mutating func receiverCame() {
    var hostCapabilities = engine.hostCapabilities
    hostCapabilities.hasSatelliteReceiver = true
    hostCapabilities.hasSignificantChanges = true
    engine.setHostCapabilities(hostCapabilities)
  }

  /// What was decided outside the program, at the start and when its files may have changed (AU-3).
  mutating func administration(_ administration: Administration, at now: Instant) {
    engine.setServicesEnabled(administration.servicesAreOn, at: now)
    engine.setRestricted(administration.isRestricted, at: now)
    // What the program itself has stored is no news, and must not undo what was answered since.
    guard administration.authorization != knownAuthorization else { return }
    knownAuthorization = administration.authorization
    guard let text = administration.authorization else { return engine.authorizationChanged(to: undecided, at: now) }
    guard let record = StateText.authorization(in: text) else { return }
    engine.authorizationChanged(to: record, at: now)
  }

  /// The program ends: what is known is kept, and what the receiver holds for a client is fetched.
  mutating func finish(at now: Instant) {
    isFinished = true
    storeNewest()
    if let action = asked(SensorDemand()) { extra.append(action) }
    guard isReceiverWanted, releaseAt == nil else { return }
    releaseAt = now
    if coordinator.holdsFixes, power.isDeferring {
      coordinator.readOut(at: now)
      releaseAt = now + Self.lastRead
    }
  }

  /// The computer is about to suspend: what is known is kept, as it may not come back, and the receiver is put to rest.
  mutating func hostSuspends(at now: Moment) {
    storeNewest()
    isSuspendWaiting = true
    coordinator.handle(.hostSuspending, at: now.instant)
    drain(at: now)
  }

  mutating func wake(at now: Moment) {
    wakeSensing(at: now.instant)
    // The policy first: it has the receiver read out for a deferral that ends at this instant.
    if let due = coordinator.deadline, now.instant >= due { coordinator.wake(at: now.instant) }
    drain(at: now)
    batch.wake(at: now.instant)
    applyWaitingCalls(at: now.instant)
    if let due = engine.deadline, now.instant >= due { engine.wake(at: now) }
  }

  // MARK: What comes out

  /// When `wake` and `actions` are due.
  var deadline: Instant? {
    var next = Instant.earlier(engine.deadline, releaseAt)
    next = .earlier(next, coordinator.deadline)
    next = .earlier(next, batch.deadline)
    next = .earlier(next, sensingDeadline)
    return .earlier(next, power.deadline)
  }

  /// What is to be done now, once.
  mutating func actions(at now: Moment) -> [ServiceAction] {
    for _ in 0..<4 where updateDemands(at: now.instant) { drain(at: now) }
    drain(at: now)
    var actions: [ServiceAction] = []
    let outputs = engine.outputs
    engine.outputs = []
    noteNewest(outputs)
    // The very first one comes to the disk before anybody is told of it; later ones hold up no delivery.
    if !isNewestRemembered, newest != nil, !hasStored, !isNewestStored {
      storeAt = now.instant + Self.storeInterval
      storeNewest()
      actions += extra
      extra = []
    }
    var isRemembered = isNewestRemembered
    isNewestRemembered = true
    for output in outputs {
      if !isRemembered, !output.isForDelegate, let newest {
        isRemembered = true
        actions.append(.remember(newest))
      }
      actions.append(contentsOf: action(for: output))
    }
    if !isRemembered, let newest { actions.append(.remember(newest)) }
    noteDelivered(actions)
    if engine.sessionDiagnostic != reportedSessions {
      reportedSessions = engine.sessionDiagnostic
      actions.append(.sessions(reportedSessions))
    }
    decideReceiver(at: now.instant, &actions)
    decideOthers(&actions)
    if !isFinished { decideSensors(isReceiverWanted: isReceiverWanted) }
    tellSuspend()
    actions += extra
    extra = []
    if !isNewestStored, isFinished || now.instant >= storeAt {
      storeAt = now.instant + Self.storeInterval
      storeNewest()
      actions += extra
      extra = []
    }
    return actions
  }

  private mutating func storeNewest() {
    guard !isNewestStored, let newest else { return }
    isNewestStored = true
    hasStored = true
    extra.append(.store(.newestLocation, StateText.text(of: newest)))
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
    case .store(.authorization): storeAuthorization()
    case .store(.monitor(let name)):
      .store(.monitor(name), StateText.text(ofMonitor: engine.monitor(name)?.records ?? []))
    case .monitorHasEvent(let name): .monitorHasEvent(name)
    }
  }

  private mutating func storeAuthorization() -> ServiceAction? {
    let record = engine.authorization.record
    let text = StateText.text(of: record)
    // What was read from the file stands there already; a file that was removed is not made anew.
    guard text != knownAuthorization, knownAuthorization != nil || record != undecided else { return nil }
    knownAuthorization = text
    return .store(.authorization, text)
  }

  /// There is one more beside the first: it is opened when others are.
  mutating func otherCame() {
    hasOthers = true
    areOthersWanted = false
  }

  /// The others stand by while fixes are wanted of the first one, and are left alone while it rests.
  private mutating func decideOthers(_ actions: inout [ServiceAction]) {
    guard hasOthers else { return }
    let areWanted = isReceiverWanted && releaseAt == nil && !coordinator.isSilenceWanted
    guard areWanted != areOthersWanted else { return }
    areOthersWanted = areWanted
    actions.append(areWanted ? .openOthers : .releaseOthers)
  }

  /// The receiver stays ours until the program ends: while nobody needs it, it sleeps.
  private mutating func decideReceiver(at now: Instant, _ actions: inout [ServiceAction]) {
    if let releaseAt {
      guard isReceiverWanted, now >= releaseAt || !coordinator.isReadingOut else { return }
      isReceiverWanted = false
      self.releaseAt = nil
      actions += extra
      extra = [.releaseReceiver]
    } else if !isReceiverWanted, engine.demands.contains(where: \.needsPosition) || needsReceiverForHeading {
      actions.append(.openReceiver)
      isReceiverWanted = true
    }
  }
}

extension Positioning.Demand {
  /// Whether a receiver of satellites serves it; a compass and beacons are other hardware.
  var needsPosition: Bool {
    standard != nil || oneShot != nil || significantChange != nil || border != nil || visits || live || liveIsStationary
  }
}

extension PositioningOutput {
  /// Whether it goes to a mailbox, which is opened when the round's newest location is remembered.
  fileprivate var isForDelegate: Bool { if case .event = self { true } else { false } }
}

extension [ServiceAction] {
  fileprivate mutating func append(contentsOf action: ServiceAction?) { if let action { append(action) } }
}
