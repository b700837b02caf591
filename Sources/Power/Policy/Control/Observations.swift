// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

// Updates the policy's state from events, before it decides.
extension PowerControl {
  mutating func take(_ demand: Demand?, of id: ClientID) {
    let index = clients.firstIndex { $0.id == id }
    guard let demand, demand.needsPosition else {
      if let index { clients.remove(at: index) }
      return
    }
    if demand.oneShot != nil, index.map({ clients[$0].demand.oneShot == nil }) ?? true { tookOneShot() }
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

  private mutating func tookOneShot() {
    if let last = oneShotAt { oneShotGapSeconds = now.seconds(since: last) }
    oneShotAt = now
  }

  mutating func take(_ fix: FixObservation, _ actions: inout [PowerAction]) {
    if case .asleep(let asleep) = phase { receivedUnexpectedEpoch(asleep, &actions) } else { answered(&actions) }
    skyIsBack(&actions)
    if case .awake(var awake) = phase {
      if awake.firstFix == nil {
        awake.firstFix = now
        let seconds = now.seconds(since: awake.since)
        epochs.came(at: now, isFirstFix: true)
        learn(from: awake, seconds)
      } else {
        epochs.came(at: now, isFirstFix: false)
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
    guard awake.isHot else { return coldStarts.observe(seconds, at: now) }
    if seconds < coldSeconds / 2 {
      epochs.started(in: seconds)
      return hotStarts.observe(seconds, at: now)
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
    epochs.came(at: now, isFirstFix: false)
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
    if source == .accelerometer { hasAccelerometer = true }
    defer { lastHint = now }
    // A lorry that passes shakes a parked car: a false hint is not followed by another check at once.
    if let lastHint, now.seconds(since: lastHint) < policy.hintShortestSeconds, hintHold == nil, !isAwake { return }
    hintHold = now + Milliseconds(seconds: policy.hintSeconds)
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
  }
}
