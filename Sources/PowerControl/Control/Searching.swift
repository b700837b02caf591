import MonotonicTime

// No fix: how long a search goes on, and when the next one begins.
extension PowerControl {
  /// True when the phase has changed.
  mutating func search(_ awake: Phase.Awake, _ need: Need, _ actions: inout [PowerAction]) -> Bool {
    noteOutage(awake)
    reportNoFixPauses(&actions)
    guard searchEnd(awake, need) <= now, canSleep, let until = nextSearch() else {
      want(fullPower, &actions)
      return false
    }
    if outage.report() { actions.append(.report(.skyLost)) }
    if thoroughIsDue { lastThoroughSearch = now }
    lastSearchEnd = now
    return leave(to: .noSky, until: until, need, &actions)
  }

  /// The outage began with the last fix, or with the search for the first one.
  private mutating func noteOutage(_ awake: Phase.Awake) {
    if awake.firstFix != nil, let newestFix {
      outage.begin(at: max(newestFix.at, listeningSince))
    } else {
      outage.begin(at: awake.since)
    }
  }

  /// Clients that may be paused are, when there was no fix for long.
  mutating func reportNoFixPauses(_ actions: inout [PowerAction]) {
    for index in clients.indices where noFixPause(clients[index]).map({ $0 <= now }) ?? false {
      pause(index, .noFix, &actions)
    }
  }

  /// When the client will be paused for want of a fix; nil: not at all.
  private func noFixPause(_ client: ClientState) -> Instant? {
    guard let outageSince = outage.since, client.pause == nil, client.demand.updates?.pausing == .automatic else {
      return nil
    }
    return max(outageSince, client.startedAt) + Milliseconds(seconds: pauseNoFixSeconds)
  }

  /// `SEXTANT_PAUSE_SECONDS` shortens this time as well; it does not lengthen it.
  private var pauseNoFixSeconds: Double { min(policy.pauseNoFixSeconds, policy.pauseSeconds ?? .infinity) }

  /// When the present search is given up, by what it has received so far.
  private func searchEnd(_ awake: Phase.Awake, _ need: Need) -> Instant {
    let began = awake.firstFix == nil ? awake.since : awake.fixless ?? awake.since
    let firstSeconds = need.live == nil ? policy.searchFirstCheckSeconds : policy.searchFirstSeconds
    let first = (outage.since ?? awake.since) + Milliseconds(seconds: firstSeconds)
    return max(began + Milliseconds(seconds: patience(awake)), first)
  }

  private func patience(_ awake: Phase.Awake) -> Double {
    if awake.signal.isEnoughForFix { return coldSeconds * policy.strongPatienceFactor }
    if awake.signal.satellites > 0 { return max(policy.weakPatienceSeconds, hotSeconds * 2) }
    if thoroughIsDue {
      return orbits.isUsable(at: now) ? policy.thoroughPatienceSeconds : policy.thoroughColdPatienceSeconds
    }
    if newestFix != nil, awake.firstFix == nil, awake.isSkyEmpty { return 0 }
    return newestFix == nil ? policy.coldPatienceSeconds : policy.patienceSeconds
  }

  private var thoroughIsDue: Bool {
    guard let last = lastThoroughSearch ?? outage.since else { return false }
    return now.seconds(since: last) >= policy.thoroughEverySeconds
  }

  /// The next search: later the longer the outage lasts, and never so late that a fix would be too late after the sky's
  /// return.
  private func nextSearch() -> Instant? {
    guard let outageSince = outage.since else { return nil }
    let outageSeconds = now.seconds(since: outageSince)
    // Where the orbits hold until then, all that has to be left is a hot start.
    let sky = now + Milliseconds(seconds: policy.skyReturnSeconds)
    let startSeconds = sureOrbitsEnd.map { $0 > sky } ?? false ? hotSeconds : coldSeconds
    let latest =
      policy.skyReturnSeconds - startSeconds - 2 * policy.marginSeconds - policy.wakePatienceSeconds
      - policy.patienceSeconds
    let seconds = min(max(outageSeconds * policy.searchShare, policy.searchShortestSeconds), max(latest, 60))
    return wakeForEpoch(
      by: now + Milliseconds(seconds: seconds), leadSeconds: policy.emptySkySeconds + policy.emptySkyMarginSeconds)
  }

  /// A hint or a new client may begin a search before its time, but not one after the other.
  var searchIsAllowed: Bool {
    guard let lastSearchEnd else { return true }
    return now.seconds(since: lastSearchEnd) >= policy.hintShortestSeconds
  }

  func searchDeadline(_ awake: Phase.Awake, _ need: Need) -> Instant? {
    canSleep ? max(searchEnd(awake, need), now) : nil
  }

  /// What falls due although the receiver sleeps: a client is to be told that it is paused.
  var lateDue: Instant? {
    clients.reduce(nil) { Instant.earlier($0, noFixPause($1)) }
  }
}
