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
  private var storeAt = Instant.zero
  private var extra: [ServiceAction] = []
  private var lastFix: (measured: Instant, timestamp: UTCTime)?

  /// What the readers of sessions were told last.
  private var toldSessions: Diagnostic

  init(engine: PositioningEngine) {
    self.engine = engine
    toldSessions = engine.sessionDiagnostic
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
    guard engine.authorization.servicesAreEnabled != isPermitted else { return }
    engine.setServicesEnabled(isPermitted, at: now)
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
    for output in outputs { actions.append(contentsOf: action(for: output)) }
    if engine.sessionDiagnostic != toldSessions {
      toldSessions = engine.sessionDiagnostic
      actions.append(.sessions(toldSessions))
    }
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
    extra.append(.store(.newestLocation, StateText.text(of: newest)))
  }

  private func action(for output: PositioningOutput) -> ServiceAction? {
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
    case .store(.authorization): .store(.authorization, StateText.text(of: engine.authorization.record))
    case .store(.monitor(let name)):
      .store(.monitor(name), StateText.text(ofMonitor: engine.monitor(name)?.records ?? []))
    case .monitorHasEvent(let name): .monitorHasEvent(name)
    }
  }

  private mutating func decideReceiver(at now: Instant, _ actions: inout [ServiceAction]) {
    if engine.demands.contains(where: \.needsPosition) {
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
