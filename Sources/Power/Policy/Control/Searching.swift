// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// The receiver has no fix: the length of a search, and the time of the next one.
extension PowerControl {
  /// Searches for a fix. True when the phase has changed.
  mutating func search(_ awake: Phase.Awake, _ need: Need, _ actions: inout [PowerAction]) -> Bool {
    noteOutage(awake)
    guard searchEnd(awake, need) <= now, canSleep, let until = nextSearch() else {
      want(fullPower, &actions)
      return false
    }
    if outage.report() { actions.append(.report(.skyLost)) }
    searches.ended(at: now, thorough: thoroughIsDue)
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

  /// The time at which the present search is given up, by the reception so far.
  private func searchEnd(_ awake: Phase.Awake, _ need: Need) -> Instant {
    let began = awake.firstFix == nil ? awake.since : awake.fixless ?? awake.since
    let firstSeconds = need.live == nil ? policy.searchFirstCheckSeconds : policy.searchFirstSeconds
    let first = (outage.since ?? awake.since) + Milliseconds(seconds: firstSeconds)
    return max(began + Milliseconds(seconds: timeoutSeconds(awake)), first)
  }

  private func timeoutSeconds(_ awake: Phase.Awake) -> Double {
    if awake.signal.isEnoughForFix { return coldSeconds * policy.strongSearchTimeoutFactor }
    if awake.signal.satellites > 0 { return max(policy.weakSearchTimeoutSeconds, hotSeconds * 2) }
    if thoroughIsDue {
      return orbits.isUsable(at: now) ? policy.thoroughSearchTimeoutSeconds : policy.thoroughColdSearchTimeoutSeconds
    }
    if newestFix != nil, awake.firstFix == nil, awake.isSkyEmpty { return 0 }
    return newestFix == nil ? policy.coldSearchTimeoutSeconds : policy.searchTimeoutSeconds
  }

  private var thoroughIsDue: Bool {
    guard let last = searches.lastThorough ?? outage.since else { return false }
    return now.seconds(since: last) >= policy.thoroughEverySeconds
  }

  /// The time of the next search. The interval grows with the outage, and is limited so that a fix comes in time after
  /// the sky's return.
  private func nextSearch() -> Instant? {
    guard let outageSince = outage.since else { return nil }
    let outageSeconds = now.seconds(since: outageSince)
    // Where the orbits hold until then, only a hot start has to fit in.
    let sky = now + Milliseconds(seconds: policy.skyReturnSeconds)
    let startSeconds = sureOrbitsEnd.map { $0 > sky } ?? false ? hotSeconds : coldSeconds
    let latest =
      policy.skyReturnSeconds - startSeconds - 2 * policy.marginSeconds - policy.wakeTimeoutSeconds
      - policy.searchTimeoutSeconds
    let seconds = min(max(outageSeconds * policy.searchShare, policy.searchShortestSeconds), max(latest, 60))
    return wakeForEpoch(
      by: now + Milliseconds(seconds: seconds), leadSeconds: policy.emptySkySeconds + policy.emptySkyMarginSeconds)
  }

  /// Whether a hint or a new client may begin a search before its time. Such searches do not follow each other
  /// directly.
  var searchIsAllowed: Bool {
    guard let last = searches.lastEnd else { return true }
    return now.seconds(since: last) >= policy.hintShortestSeconds
  }

  func searchDeadline(_ awake: Phase.Awake, _ need: Need) -> Instant? {
    canSleep ? max(searchEnd(awake, need), now) : nil
  }
}
