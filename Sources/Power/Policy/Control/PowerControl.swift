// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The policy that lets the receiver sleep: it turns the demands of all clients into the receiver's power state.
///
/// It is a value: events and the time go in, actions come out. It owns no clock. It has to be called at events and at
/// ``deadline``, and may be called at any other time. Every event is legal in every state.
///
///     var power = PowerControl(at: now)
///     perform(power.handle(.receiverFound(.m10), at: now))
///     perform(power.handle(.demand(client, demand), at: now))
///     // … and at power.deadline:
///     perform(power.wake(at: now))
public struct PowerControl: Sendable {
  public let policy: PowerPolicy
  /// The capabilities of the present receiver; nil before the first.
  public internal(set) var capabilities: ReceiverCapabilities?
  /// The state that the receiver should have.
  public internal(set) var wanted = WantedState(mode: .backup(until: nil))

  var phase = Phase.absent
  var clients: [ClientState] = []
  var batch: BatchRun?
  /// The time since which fixes arrive live again after a batch.
  var listeningSince = Instant.zero
  /// The number of times that the size of a batch was halved because the receiver refused it.
  var batchHalvings = 0
  /// Seconds for reading one fix, as the last read has measured it.
  var measuredSecondsPerFix: Double?
  /// The same by the line's rate, where that is known.
  var expectedSecondsPerFix: Double?
  /// The receiver has lost its configuration: the wanted state is sent again.
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
  /// The receiver stays awake until then to confirm a movement hint.
  var hintHold: Instant?
  var modeSince = Instant.zero
  /// The time at which cyclic tracking last ended although the receiver stayed awake.
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
    // A clock that steps back must not undo a decision.
    now = max(now, instant)
    switch event {
    case .demand(let id, let demand): take(demand?.sanitized, of: id)
    case .fix(let observation): take(observation, &actions)
    case .noFix(let signal): take(signal, &actions)
    case .entered(let mode): entered(mode, &actions)
    case .wakeConfirmed: answered(&actions)
    case .wakeFailed: wakeFailed(&actions)
    case .refused(let refusal): refused(refusal, &actions)
    case .batchRetrieved(let count, let lost): batchRetrieved(count: count, lost: lost, &actions)
    case .retrievalCut: retrievalCut(&actions)
    case .rebooted: rebooted(&actions)
    case .orbits(let seconds): orbits.reported(usableSeconds: seconds, at: now, policy: policy)
    case .assistance(let seconds): orbits.assisted(usableSeconds: seconds, at: now)
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

  /// Lets the time pass. Must be called at ``deadline``, and may be called at any other time.
  public mutating func wake(at instant: Instant) -> [PowerAction] {
    var actions: [PowerAction] = []
    now = max(now, instant)
    settle(&actions)
    return actions
  }

  /// The time of the next call of ``wake(at:)``; nil if only an event can change anything.
  public var deadline: Instant? {
    switch phase {
    case .absent: return nil
    case .suspended(let since): return since + Milliseconds(seconds: Self.suspendPatienceSeconds)
    case .asleep(let asleep): return asleep.until
    case .waking(let waking): return wakeDeadline(waking)
    case .awake(let awake): return awakeDeadline(awake)
    }
  }

  /// Proceeds until nothing changes. Each step leads to a phase that cannot lead back at the same instant.
  private mutating func settle(_ actions: inout [PowerAction]) {
    refusedUntil = refusedUntil.isEmpty ? refusedUntil : refusedUntil.filter { now < $0.value }
    for _ in 0..<4 {
      switch phase {
      case .absent:
        if clients.contains(where: { $0.demand.needsPosition }) { reportOnce(.noReceiver, &actions) }
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

  /// A host that still runs so long after `hostSuspending` has not suspended.
  static let suspendPatienceSeconds = 120.0

  // MARK: Actions

  mutating func want(_ state: WantedState, _ actions: inout [PowerAction]) {
    guard state != wanted || mustReportAgain else { return }
    if state.mode != wanted.mode { modeSince = now }
    if case .cyclicTracking = wanted.mode, case .continuous = state.mode { cyclicEndedAt = now }
    if state.mode.isAsleep { cyclicEndedAt = nil }
    mustReportAgain = false
    wanted = state
    actions.append(.enter(state))
  }

  /// Sends a report once until its cause is over.
  mutating func reportOnce(_ report: PowerReport, _ actions: inout [PowerAction]) {
    guard !activeReports.contains(report) else { return }
    activeReports.append(report)
    actions.append(.report(report))
  }

  /// Ends the cause of a report, so that the next one is sent again. Returns whether it was reported.
  mutating func end(_ report: PowerReport) -> Bool {
    guard let index = activeReports.firstIndex(of: report) else { return false }
    activeReports.remove(at: index)
    return true
  }

  func isRefused(_ refusal: Refusal) -> Bool { refusedUntil[refusal].map { now < $0 } ?? false }
}
