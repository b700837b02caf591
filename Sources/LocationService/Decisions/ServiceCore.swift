import MonotonicTime
import Positioning
import ReceiverStream

/// The service without its thread: what clients ask and what is measured go in, what is to be done comes out. Whoever holds
/// it brings the time.
struct ServiceCore: Sendable {
  /// For how long the receiver stays on when nobody needs it: who asks for one location often asks again.
  static var linger: Milliseconds { Milliseconds(5000) }
  /// How often the newest location is stored while it changes: a card wears by writing.
  static var storeInterval: Milliseconds { Milliseconds(60_000) }

  private(set) var engine: PositioningEngine
  private var isReceiverWanted = false
  private var releaseAt: Instant?
  private var newest: Location?
  private var isNewestStored = true
  private var isNewestRemembered = true
  /// Whether the disk has a newest location.
  private var hasStored: Bool
  private var storeAt = Instant.zero
  private var extra: [ServiceAction] = []
  private var lastFix: (measured: Instant, timestamp: UTCTime)?

  /// What holds where nothing is stored.
  private let undecided: Authorization.Record
  /// The text of the program's permission, as it was read or stored last.
  private var knownAuthorization: String?

  /// - Parameters:
  ///   - undecided: the permission of a program that nobody has decided about.
  ///   - storedAuthorization: the text that the engine was made with.
  init(
    engine: PositioningEngine, undecided: Authorization.Record = .init(), storedAuthorization: String? = nil
  ) {
    self.engine = engine
    self.undecided = undecided
    knownAuthorization = storedAuthorization
    hasStored = engine.newest != nil
  }

  // MARK: What goes in

  mutating func change(_ body: (inout PositioningEngine) -> Void) { body(&engine) }

  /// A fix of a receiver.
  mutating func receive(_ fix: Fix, source: Location.Source?, at now: Moment) {
    guard let location = Location(fix, received: now.utc, source: source) else { return }
    engine.receive(location, measured: measured(location, at: now.instant), at: now)
    guard engine.authorization.status.isAuthorized, location.horizontalAccuracyMetres >= 0 else { return }
    newest = location
    isNewestStored = false
    isNewestRemembered = false
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
    var facilities = engine.facilities
    facilities.hasSatelliteReceiver = true
    facilities.hasSignificantChanges = true
    engine.setFacilities(facilities)
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

  /// The program ends: what is known is kept.
  mutating func finish() {
    storeNewest()
    if isReceiverWanted { extra.append(.releaseReceiver) }
    isReceiverWanted = false
  }

  mutating func wake(at now: Moment) {
    if let due = engine.deadline, now.instant >= due { engine.wake(at: now) }
  }

  // MARK: What comes out

  /// When `wake` and `actions` are due.
  var deadline: Instant? { Instant.earlier(engine.deadline, releaseAt) }

  /// What is to be done now, once.
  mutating func actions(at now: Instant) -> [ServiceAction] {
    var actions = extra
    extra = []
    let outputs = engine.outputs
    engine.outputs = []
    if !isNewestRemembered, let newest {
      isNewestRemembered = true
      // The very first one comes to the disk before anybody is told of it; later ones hold up no delivery.
      if !hasStored, !isNewestStored {
        storeAt = now + Self.storeInterval
        storeNewest()
        actions += extra
        extra = []
      }
      actions.append(.remember(StateText.text(of: newest)))
    }
    for output in outputs { actions.append(contentsOf: action(for: output)) }
    decideReceiver(at: now, &actions)
    if !isNewestStored, now >= storeAt {
      storeAt = now + Self.storeInterval
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
    case .advice(_, let advice): .say(advice.message)
    case .store(.regions): .store(.regions, StateText.text(of: engine.regions.records))
    case .store(.visits): .store(.visits, StateText.text(of: engine.visits.record))
    case .store(.authorization): storeAuthorization()
    // No monitor is opened by this service.
    case .store(.monitor), .monitorHasEvent: nil
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

  /// Whether a receiver is wanted. One that may not be opened is tried again for as long as somebody would use it.
  private var needsReceiver: Bool {
    engine.demands.contains(where: \.needsPosition)
      || engine.authorization.receiverIsForbidden && engine.hasStartedPositionService
  }

  private mutating func decideReceiver(at now: Instant, _ actions: inout [ServiceAction]) {
    if needsReceiver {
      releaseAt = nil
      if !isReceiverWanted { actions.append(.openReceiver) }
      isReceiverWanted = true
    } else if isReceiverWanted {
      let due = releaseAt ?? now + Self.linger
      releaseAt = due
      guard now >= due else { return }
      releaseAt = nil
      isReceiverWanted = false
      storeNewest()
      actions += extra
      extra = []
      actions.append(.releaseReceiver)
    }
  }
}

extension Demand {
  /// Whether a receiver of satellites serves it; a compass and beacons are other hardware.
  fileprivate var needsPosition: Bool {
    standard != nil || oneShot != nil || significantChange != nil || border != nil || visits || live || liveIsStationary
  }
}

extension [ServiceAction] {
  fileprivate mutating func append(contentsOf action: ServiceAction?) { if let action { append(action) } }
}
