// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Positioning

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
  /// When the sleeping receiver wakes by itself, by the last request; nil for never.
  var wakesItselfAt: Instant?
  /// The time since which fixes arrive live again after a batch.
  var listeningSince = Instant.zero
  var readOut = ReadOut()
  /// The receiver has lost its configuration: the wanted state is sent again.
  var mustReportAgain = false
  var orbits = Orbits()
  var starts = Starts(hotSeconds: 2, coldSeconds: 30)
  var newestFix: (observation: FixObservation, at: Instant)?
  var outage = FixOutage.none
  var searches = Searches()
  var hints = MovementHints()
  var modes = ModeHistory()
  /// The time since which all demands are coarse and fixes are good.
  var coarseSince: Instant?
  var refusedUntil: [Refusal: Instant] = [:]
  var activeReports: [PowerReport] = []
  var oneShots = OneShots()
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
    case .wakesByTimer(let end): wakesByTimer(at: end)
    case .refused(let refusal): refused(refusal, &actions)
    case .batchRetrieved(let count, let lost): batchRetrieved(count: count, lost: lost, &actions)
    case .retrievalCut: retrievalCut(&actions)
    case .rebooted: rebooted(&actions)
    case .orbits(let seconds): orbits.reported(usableSeconds: seconds, at: now, policy: policy)
    case .assistance(let seconds): orbits.assisted(usableSeconds: seconds, at: now)
    case .movementHint(let source): hinted(source)
    case .accelerometer(let isPresent): hints.hasAccelerometer = isPresent
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
    case .suspended(let since): return since + Milliseconds(seconds: Self.suspendTimeoutSeconds)
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
        guard now.seconds(since: since) >= Self.suspendTimeoutSeconds else { return }
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

  /// A host that still runs this long after `hostSuspending` has not suspended.
  static let suspendTimeoutSeconds = 120.0

  // MARK: Actions

  mutating func want(_ state: WantedState, _ actions: inout [PowerAction]) {
    guard state != wanted || mustReportAgain else { return }
    modes.changes(from: wanted.mode, to: state.mode, at: now)
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

// Refusals, restarts, the loss and return of the receiver, and a host that suspends.
extension PowerControl {
  mutating func refused(_ refusal: Refusal, _ actions: inout [PowerAction]) {
    switch refusal {
    case .batching:
      if batch != nil { endBatch() }
      // The size may be too large for this firmware: smaller ones are tried first.
      if readOut.halvings < policy.batchHalvings {
        readOut.halvings += 1
      } else {
        refuse(.batching, &actions)
      }
    case .backup, .powerSwitch:
      refuse(refusal, &actions)
      if case .asleep = phase { phase = .awake(Phase.Awake(since: now, isHot: orbits.isUsable(at: now))) }
    case .cyclicTracking, .onOff, .constellations:
      refuse(refusal, &actions)
    }
  }

  mutating func rebooted(_ actions: inout [PowerAction]) {
    switch phase {
    case .absent, .suspended: return
    case .awake, .asleep, .waking: break
    }
    answered(&actions)
    loseBatch(&actions)
    orbits.interrupted()
    mustReportAgain = true
    phase = .awake(Phase.Awake(since: now, isHot: orbits.isUsable(at: now)))
  }

  mutating func receiverLost(_ actions: inout [PowerAction]) {
    loseBatch(&actions)
    orbits.interrupted()
    hints.holdUntil = nil
    phase = .absent
  }

  mutating func receiverFound(_ found: ReceiverCapabilities, _ actions: inout [PowerAction]) {
    loseBatch(&actions)
    if capabilities != found {
      starts = Starts(
        hotSeconds: found.startTimes.hotSeconds + policy.wakeSeconds,
        coldSeconds: found.startTimes.coldSeconds + policy.wakeSeconds)
      refusedUntil = [:]
      readOut = ReadOut(expectedSecondsPerFix: readOut.expectedSecondsPerFix)
    }
    capabilities = found
    activeReports = []
    // The receiver may have kept its orbits; if so, it reports them.
    orbits.lost()
    mustReportAgain = true
    phase = .awake(Phase.Awake(since: now, isHot: false))
  }

  mutating func hostSuspends(_ actions: inout [PowerAction]) {
    guard capabilities != nil else { return }
    switch phase {
    case .absent, .suspended: return
    case .asleep, .awake, .waking: break
    }
    let need = need()
    if let run = batch, let collect = need.collect, need.live == nil {
      // The receiver collects without the host.
      let full = run.fullAt(marginSeconds: policy.batchMarginSeconds)
      actions.append(.report(.hostIsNeeded(by: min(full, collect.by.map { readBegin(run, for: $0) } ?? full))))
      return
    }
    if let wakeAt = wakeTime(need) { actions.append(.report(.hostIsNeeded(by: max(wakeAt, now)))) }
    loseBatch(&actions)
    orbits.interrupted()
    if case .asleep = phase {} else { wakesItselfAt = nil }
    phase = .suspended(since: now)
    if let mode = sleepMode(until: nil) { want(WantedState(mode: mode, reducedConstellations: wantsReduced), &actions) }
  }

  mutating func hostResumed(after seconds: Double, _ actions: inout [PowerAction]) {
    orbits.aged(seconds: seconds)
    if seconds > 0 {
      batch?.uncountedSeconds += seconds
      for index in clients.indices { clients[index].deferral?.uncountedSeconds += seconds }
    }
    guard case .suspended = phase else { return }
    if clients.contains(where: { $0.demand.needsPosition }) {
      // Everything that fell due during the suspend is due now.
      for index in clients.indices { clients[index].startedAt = now }
      beginWaking(&actions)
    } else {
      phase = .asleep(Phase.Asleep(since: now, until: nil, reason: .idle))
    }
  }
}

// Updates the policy's state from events, before it decides.
extension PowerControl {
  mutating func take(_ demand: Demand?, of id: ClientID) {
    let index = clients.firstIndex { $0.id == id }
    guard let demand, demand.needsPosition else {
      if let index { clients.remove(at: index) }
      return
    }
    if demand.oneShot != nil, index.map({ clients[$0].demand.oneShot == nil }) ?? true { oneShots.came(at: now) }
    guard let index else {
      clients.append(ClientState(id: id, demand: demand, at: now, newest: newestFix?.observation, policy: policy))
      clients.sort { $0.id < $1.id }
      return
    }
    change(index, to: demand)
  }

  /// Changes the demand of an existing client.
  private mutating func change(_ index: Int, to demand: Demand) {
    let old = clients[index].demand
    clients[index].demand = demand
    if demand.border != old.border { clients[index].borderedFix = newestFix?.observation }
    if demand.startsSomething(after: old) { clients[index].startedAt = now }
    if demand.deferral != old.deferral {
      clients[index].deferral = demand.deferral == nil ? nil : DeferralRun(from: newestFix?.observation)
    }
    if demand.running == nil { clients[index].filterAnchor = nil }
    clients[index].follow(at: now, policy: policy)
  }

  mutating func take(_ fix: FixObservation, _ actions: inout [PowerAction]) {
    if case .asleep(let asleep) = phase { receivedUnexpectedEpoch(asleep, &actions) } else { answered(&actions) }
    skyIsBack(&actions)
    if case .awake(var awake) = phase {
      if awake.firstFix == nil {
        awake.firstFix = now
        let seconds = now.seconds(since: awake.since)
        starts.epochs.came(at: now, isFirstFix: true)
        learn(from: awake, seconds)
      } else {
        starts.epochs.came(at: now, isFirstFix: false)
      }
      awake.fixless = nil
      phase = .awake(awake)
      switch wanted.mode {
      case .cyclicTracking: orbits.trackedCyclic(at: now, policy: policy)
      default: orbits.tracked(at: now, policy: policy, isReduced: wanted.reducedConstellations)
      }
    }
    newestFix = (fix, now)
    for index in clients.indices { observe(fix, index) }
  }

  /// Learns from the first fix after a wake-up how long starts take, and whether the receiver had its orbits.
  private mutating func learn(from awake: Phase.Awake, _ seconds: Double) {
    // A long search, as in a cellar, is not representative.
    guard seconds < policy.searchFirstSeconds else { return }
    guard awake.isHot else { return starts.cold.observe(seconds, at: now) }
    if seconds < coldSeconds / 2 {
      starts.epochs.started(in: seconds)
      return starts.hot.observe(seconds, at: now)
    }
    // A hot start that took as long as a cold one: the orbits were too old.
    orbits.disappointed()
  }

  /// Updates one client's state from a fix.
  private mutating func observe(_ fix: FixObservation, _ index: Int) {
    observeSignificant(fix, index)
    if let checks = clients[index].movementChecks { clients[index].movementChecks = next(after: checks) }
    guard let updates = clients[index].demand.running else { return }
    if clients[index].deferral != nil, clients[index].deferral?.from == nil { clients[index].deferral?.from = fix }
    if groundMetres(clients[index].filterAnchor ?? fix, fix) >= updates.distanceFilterMetres {
      clients[index].filterAnchor = fix
    } else if clients[index].filterAnchor == nil {
      clients[index].filterAnchor = fix
    }
  }

  /// The checks for a movement after one that showed none.
  private func next(after checks: ClientState.MovementChecks) -> ClientState.MovementChecks {
    // A fix that comes long before its time, for another client, does not make the checks rarer.
    let isDue = now.seconds(since: checks.last) >= checks.seconds * 0.8
    let longer = min(checks.seconds * policy.movementCheckGrowth, policy.movementCheckLongestSeconds)
    return ClientState.MovementChecks(seconds: isDue ? longer : checks.seconds, last: now)
  }

  /// Whether the speed of a fix alone counts as movement.
  public func moves(_ fix: FixObservation) -> Bool {
    guard let speed = fix.speedMetresPerSecond else { return false }
    return speed >= max(policy.movingMetresPerSecond, 3 * (fix.speedErrorMetresPerSecond ?? 0.3))
  }

  private mutating func observeSignificant(_ fix: FixObservation, _ index: Int) {
    guard clients[index].demand.significantChange else { return }
    guard let anchor = clients[index].significantAnchor, let last = clients[index].significantCheck else {
      clients[index].significantAnchor = fix
      clients[index].significantCheck = (fix, now)
      return
    }
    let interval = clients[index].significantSeconds
    guard now.seconds(since: last.at) >= interval * 0.8 else { return }
    // While stationary, position checks become rarer; after a movement they come every five minutes again.
    let isStationary = groundMetres(last.observation, fix) < policy.significantMetres / 5
    clients[index].significantSeconds =
      isStationary ? min(interval * 1.5, policy.significantLongestSeconds) : policy.significantShortestSeconds
    clients[index].significantCheck = (fix, now)
    if groundMetres(anchor, fix) >= policy.significantMetres { clients[index].significantAnchor = fix }
  }

  mutating func take(_ signal: SignalObservation, _ actions: inout [PowerAction]) {
    if case .asleep(let asleep) = phase { receivedUnexpectedEpoch(asleep, &actions) } else { answered(&actions) }
    guard case .awake(var awake) = phase else { return }
    if signal.isEnoughForFix { orbits.receiving(at: now) } else { orbits.interrupted() }
    starts.epochs.came(at: now, isFirstFix: false)
    if signal.satellites == 0, now.seconds(since: awake.since) >= policy.emptySkySeconds { awake.isSkyEmpty = true }
    if awake.fixless == nil {
      awake.fixless = now
      awake.signal = signal
    }
    awake.signal = SignalObservation(
      satellites: max(awake.signal.satellites, signal.satellites),
      strongSatellites: max(awake.signal.strongSatellites, signal.strongSatellites))
    phase = .awake(awake)
  }

  mutating func hinted(_ source: MovementSource) {
    if source == .accelerometer { hints.hasAccelerometer = true }
    defer { hints.last = now }
    // A lorry that passes shakes a parked car: a false hint is not followed by another check at once.
    if let last = hints.last, now.seconds(since: last) < policy.hintShortestSeconds, hints.holdUntil == nil, !isAwake {
      return
    }
    hints.holdUntil = now + Milliseconds(seconds: policy.hintSeconds)
  }

  var isAwake: Bool { if case .awake = phase { true } else { false } }

  private mutating func skyIsBack(_ actions: inout [PowerAction]) {
    if case .reported(let since?) = outage {
      actions.append(.report(.skyBack(afterSeconds: now.seconds(since: since))))
    }
    outage = .none
  }
}

extension Demand {
  /// Continuous locations that are not paused.
  var running: Updates? { isPaused ? nil : updates }

  var deferral: Deferral? { if case .deferred(let deferral) = updates?.delivery { deferral } else { nil } }

  /// Whether a demand is new: its first fix has to be a fresh one (rule SU-2).
  func startsSomething(after old: Demand) -> Bool {
    (running != nil && old.running == nil) || (oneShot != nil && old.oneShot == nil)
      || (significantChange && !old.significantChange)
      || (border != nil && old.border == nil) || (everySeconds != nil && old.everySeconds == nil)
      || (startedAt.map { $0 > old.startedAt ?? .zero } ?? false)
  }
}
