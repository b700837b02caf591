import MonotonicTime

/// From what all clients want to what the receiver does: the policy that lets the receiver sleep.
///
/// A plain value: events and the time go in, actions come out. It owns no clock, and no promise of it rests on being called
/// at any other time than at an event or at ``deadline``. Every event is legal in every state.
///
///     var power = PowerControl(at: now)
///     carryOut(power.handle(.receiverFound(.m10), at: now))
///     carryOut(power.handle(.demand(client, demand), at: now))
///     // … and at power.deadline:
///     carryOut(power.wake(at: now))
public struct PowerControl: Sendable {
  public let policy: PowerPolicy
  /// What the present receiver can do, as it was told; nil without a receiver.
  public internal(set) var capabilities: ReceiverCapabilities?
  /// What the receiver is to do.
  public internal(set) var wanted = WantedState(mode: .backup(until: nil))

  var phase = Phase.absent
  var clients: [ClientState] = []
  var batch: BatchRun?
  /// Since when the receiver is listened to again after a batch.
  var listeningSince = Instant.zero
  /// How often the size of a batch was halved because the receiver refused it.
  var batchHalvings = 0
  /// What reading one fix out took, once a read-out has shown it.
  var measuredSecondsPerFix: Double?
  /// What it takes by the line's rate, where that is known.
  var expectedSecondsPerFix: Double?
  /// The receiver has forgotten what it was told: the wanted state is told again.
  var mustReportAgain = false
  var orbits = Orbits()
  var hotStarts = TimeToFix(usualSeconds: 2)
  var coldStarts = TimeToFix(usualSeconds: 30)
  var epochs = EpochGrid(usualSeconds: 2)
  var newestFix: (observation: FixObservation, at: Instant)?
  var outage = Outage.none
  var lastThoroughSearch: Instant?
  var lastSearchEnd: Instant?
  var hasAccelerometer = false
  var lastHint: Instant?
  /// A movement hint is looked into until then.
  var hintHold: Instant?
  var modeSince = Instant.zero
  /// When cyclic tracking was last left although the receiver stayed awake.
  var cyclicEndedAt: Instant?
  var coarseSince: Instant?
  var refusedUntil: [Refusal: Instant] = [:]
  var activeReports: [PowerReport] = []
  var oneShotAt: Instant?
  var oneShotGapSeconds: Double?
  var now: Instant

  public init(policy: PowerPolicy = .standard, at now: Instant) {
    self.policy = policy
    self.now = now
  }

  /// Takes an event.
  public mutating func handle(_ event: PowerEvent, at instant: Instant) -> [PowerAction] {
    var actions: [PowerAction] = []
    // A clock that stepped back must not undo what was decided.
    now = max(now, instant)
    switch event {
    case .demand(let id, let demand): take(demand?.sanitized, of: id, &actions)
    case .fix(let observation): take(observation, &actions)
    case .noFix(let signal): take(signal, &actions)
    case .entered(let mode): entered(mode, &actions)
    case .wakeConfirmed: answered(&actions)
    case .wakeFailed: wakeFailed(&actions)
    case .refused(let refusal): refused(refusal, &actions)
    case .batchRetrieved(let count, let lost): batchRetrieved(count: count, lost: lost, &actions)
    case .retrievalCut: retrievalCut(&actions)
    case .rebooted: rebooted(&actions)
    case .orbits(let seconds): orbits.reported(usableSeconds: seconds, at: now)
    case .movementHint(let source): hinted(source)
    case .accelerometer(let isPresent): hasAccelerometer = isPresent
    case .hostSuspending: hostSuspends(&actions)
    case .hostResumed(let seconds): hostResumed(after: seconds, &actions)
    case .receiverLost: receiverLost(&actions)
    case .receiverFound(let capabilities): receiverFound(capabilities, &actions)
    }
    settle(&actions)
    return actions
  }

  /// Lets the time pass. To be called at ``deadline``, and harmless at any other time.
  public mutating func wake(at instant: Instant) -> [PowerAction] {
    var actions: [PowerAction] = []
    now = max(now, instant)
    settle(&actions)
    return actions
  }

  /// When ``wake(at:)`` is to be called next, whatever else happens; nil: only an event can change anything.
  public var deadline: Instant? {
    switch phase {
    case .absent: return nil
    case .suspended(let since): return since + Milliseconds(seconds: Self.suspendPatienceSeconds)
    case .asleep(let asleep): return Instant.earlier(asleep.until, lateDue)
    case .waking(let waking): return wakeDeadline(waking)
    case .awake(let awake): return awakeDeadline(awake)
    }
  }

  /// Whether the client is paused, by whoever decides that.
  public func isPaused(_ id: ClientID) -> Bool { clients.first { $0.id == id }?.isPaused ?? false }

  /// Carries on until nothing changes any more; each step leads to a phase that cannot lead back at the same instant.
  private mutating func settle(_ actions: inout [PowerAction]) {
    refusedUntil = refusedUntil.isEmpty ? refusedUntil : refusedUntil.filter { now < $0.value }
    for _ in 0..<4 {
      switch phase {
      case .absent:
        if clients.contains(where: { !$0.demand.isEmpty }) { reportOnce(.noReceiver, &actions) }
        return
      case .suspended(let since):
        guard now.seconds(since: since) >= Self.suspendPatienceSeconds else { return }
        hostResumed(after: 0, &actions)
      case .asleep(let asleep):
        guard sleepEnds(asleep, &actions) else { return }
      case .waking(let waking):
        guard wakeStep(waking, &actions) else { return }
      case .awake(let awake):
        guard serve(awake, &actions) else { return }
      }
    }
  }

  /// A host that announced to suspend and still runs after this time did not.
  static let suspendPatienceSeconds = 120.0

  // MARK: What is said and done

  mutating func want(_ state: WantedState, _ actions: inout [PowerAction]) {
    guard state != wanted || mustReportAgain else { return }
    if state.mode != wanted.mode { modeSince = now }
    if case .cyclicTracking = wanted.mode, case .continuous = state.mode { cyclicEndedAt = now }
    if state.mode.isAsleep { cyclicEndedAt = nil }
    mustReportAgain = false
    wanted = state
    actions.append(.enter(state))
  }

  /// Reports what is said once until it is over.
  mutating func reportOnce(_ report: PowerReport, _ actions: inout [PowerAction]) {
    guard !activeReports.contains(report) else { return }
    activeReports.append(report)
    actions.append(.report(report))
  }

  /// A trouble is over: the next of its kind is told again.
  mutating func isOver(_ report: PowerReport) -> Bool {
    guard let index = activeReports.firstIndex(of: report) else { return false }
    activeReports.remove(at: index)
    return true
  }

  func isRefused(_ refusal: Refusal) -> Bool { refusedUntil[refusal].map { now < $0 } ?? false }
}
