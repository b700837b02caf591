// SPDX-License-Identifier: Apache-2.0
import Positioning
import Power

/// The lower bound: the charge with the same promises, and with perfect knowledge of the sky, every time to first fix
/// and every position, but not of the start of a movement.
///
/// The oracle polls at the last possible moment, uses exactly the start time of the data sheet, renews orbits at the
/// last moment or starts cold (whichever costs less), never searches without a sky, and ends a pause as late as
/// possible after the sky returns. It shares the promises with the product (`Pausing.threshold`, `Reach`, the promise
/// times of `PowerPolicy`), but not their implementation.
struct Oracle {
  let day: Day
  let capabilities: ReceiverCapabilities
  let policy: PowerPolicy
  private var seconds = 0.0
  private var charge = 0.0
  private var orbitsAt: Double?
  private var liveSince: Double?
  /// The start of the time without a sky.
  private var outageSince: Double?
  private var clients: [Client]

  private struct Client {
    var script: Day.Client
    var anchor: Path.Place
    var restsSince: Double
    var isPaused = false
    var filterPlace: Path.Place
    var isActive = false
    /// The time of the next timed request.
    var requestAt = Double.infinity
  }

  /// The search that is needed to detect the absence of the sky: the second of a hot start, in which all signals of
  /// an open sky are received.
  private static let searchSeconds = 1.0
  /// Without it the bound has to search like the policy: the bound without knowledge of the sky.
  private let knowsSky: Bool

  init(day: Day, capabilities: ReceiverCapabilities, policy: PowerPolicy, knowsSky: Bool) {
    self.day = day
    self.knowsSky = knowsSky
    self.capabilities = capabilities
    self.policy = policy
    let place = day.path.place(at: 0)
    clients = day.clients.map {
      Client(script: $0, anchor: place, restsSince: $0.fromSeconds, filterPlace: place)
    }
  }

  /// The uninterrupted reception for a complete set of orbits, seconds.
  private static let orbitsSeconds = 30.0

  private func hasOrbits(at time: Double) -> Bool { orbitsAt.map { time - $0 < Plant.orbitsSeconds } ?? false }

  private var currents: Currents { capabilities.currents }
  private var acquisition: Double { currents.acquisition + currents.inputOutput }
  private var tracking: Double { currents.tracking + currents.inputOutput }
  private var cyclic: Double { currents.cyclic.map { $0 + currents.inputOutput * 0.9 } ?? tracking }
  private var hot: Double { start(capabilities.startTimes.hotSeconds, urban: Plant.urbanHotFactor) }
  private var cold: Double { start(capabilities.startTimes.coldSeconds, urban: Plant.urbanColdFactor) }
  private func start(_ openSeconds: Double, urban: Double) -> Double {
    openSeconds * (day.sky(at: seconds) == .urban ? urban : 1) + Plant.startSeconds
  }
  private var standby: Double { capabilities.backup == nil ? tracking : capabilities.standbyMilliamperes }

  /// The charge of the whole day, milliampere-seconds.
  mutating func run() -> Double {
    while seconds < day.seconds {
      observe()
      switch obligation() {
      case .nothing(let until): sleep(until: until)
      case .live(let milliamperes): live(milliamperes)
      case .fix(let by): poll(by: by)
      case .search(let from, let until):
        sleep(until: from)
        let search = min(hot, Plant.startSeconds + Self.searchSeconds)
        spend(acquisition, until: min(seconds + search, max(until, seconds)))
      }
    }
    return charge
  }

  private enum Obligation {
    case nothing(until: Double)
    /// Continuous fixes at this current.
    case live(Double)
    case fix(by: Double)
    /// A search that begins at this time, of the minimum useful length; none once the sky is back.
    case search(from: Double, until: Double)
  }

  /// The effect of a fix at this moment.
  private mutating func observe() {
    let place = day.path.place(at: seconds)
    let isMoving = day.path.speed(at: seconds) >= policy.movingMetresPerSecond
    noteOutage(at: place)
    for index in clients.indices {
      let script = clients[index].script
      let isActive = script.fromSeconds <= seconds && seconds < script.untilSeconds
      if isActive, !clients[index].isActive {
        clients[index].anchor = place
        clients[index].restsSince = seconds
        clients[index].filterPlace = place
        if case .requests = script.request { clients[index].requestAt = seconds }
      }
      clients[index].isActive = isActive
      if case .requests(let every, _) = script.request, clients[index].requestAt <= seconds {
        clients[index].requestAt += every
      }
      guard isActive, case .updates(let updates) = script.request else { continue }
      if place.metres(to: clients[index].filterPlace) >= updates.distanceFilterMetres {
        clients[index].filterPlace = place
      }
      guard updates.mayPause, let thresholds = Pausing.threshold(updates.activity) else { continue }
      let away = place.metres(to: clients[index].anchor)
      if clients[index].isPaused, isMoving || away > min(thresholds.radiusMetres, 50) {
        clients[index].isPaused = false
        clients[index].anchor = place
        clients[index].restsSince = seconds
      } else if away > thresholds.radiusMetres {
        clients[index].anchor = place
        clients[index].restsSince = seconds
      } else if !clients[index].isPaused, seconds - clients[index].restsSince >= thresholds.seconds {
        clients[index].isPaused = true
        clients[index].anchor = place
      }
    }
  }

  /// A client that was paused without a fix resumes with the first one (rules PA-6 and PA-9).
  private mutating func noteOutage(at place: Path.Place) {
    if day.sky(at: seconds) == .none {
      outageSince = outageSince ?? seconds
      return
    }
    guard let since = outageSince else { return }
    outageSince = nil
    guard seconds - since >= Pausing.secondsWithoutFix else { return }
    for index in clients.indices {
      clients[index].isPaused = false
      clients[index].anchor = place
      clients[index].restsSince = seconds
    }
  }

  private func obligation() -> Obligation {
    guard day.sky(at: seconds) != .none else {
      let back = day.sky.first { $0.fromSeconds > seconds && $0.sky != .none }?.fromSeconds ?? day.seconds
      // The time of the sky's return is known, so that the start can be late.
      if knowsSky { return .nothing(until: back + policy.skyReturnSeconds - cold) }
      // The sky may return right after the last search; a start from now on must be completed in time.
      let isHot = hasOrbits(at: seconds + policy.skyReturnSeconds)
      return .search(from: seconds + policy.skyReturnSeconds - (isHot ? hot : cold), until: back)
    }
    var due = Double.infinity
    var isAny = false
    var liveCurrent: Double?
    for client in clients where client.isActive {
      isAny = true
      switch client.script.request {
      case .requests: due = min(due, client.requestAt)
      case .significantChanges: due = min(due, seconds + policy.significantLongestSeconds)
      case .visits: due = min(due, seconds + 120)
      case .updates(let updates): add(updates, client, &due, &liveCurrent)
      case .region(let centre, let radius):
        let place = day.path.place(at: seconds)
        let metres = abs(place.metres(to: centre) - radius)
        // A crossing is detected this long after its earliest time, because of the dwell time.
        let reach = Reach(speed: day.path.speed(at: seconds), bound: 50).earliestSeconds(metres)
        due = min(due, seconds + reach + policy.crossingSeconds - policy.dwellSeconds)
      }
    }
    if let liveCurrent { return .live(liveCurrent) }
    if due < .infinity { return .fix(by: due) }
    return .nothing(until: isAny ? nextDeparture : nextScripted)
  }

  private func add(
    _ standard: Day.Updates, _ client: Client, _ due: inout Double, _ liveCurrent: inout Double?
  ) {
    let updates = standard.policy
    if client.isPaused {
      // Only an accelerometer detects the movement in time.
      due = min(due, day.hasAccelerometer ? nextDeparture + 10 : seconds + policy.movementSeconds)
    } else if standard.deferralSeconds != nil {
      liveCurrent = max(liveCurrent ?? 0, updates.accuracy == .navigation ? tracking : cyclic)
    } else if updates.spacingMetres > 0, updates.allowsSavingWhileMoving {
      if day.hasAccelerometer, day.path.speed(at: seconds) == 0 {
        let rests = Pausing.threshold(standard.activity)?.seconds ?? .infinity
        return due = min(due, nextDeparture, max(client.restsSince + rests, seconds + 1))
      }
      let metres = updates.spacingMetres - day.path.place(at: seconds).metres(to: client.filterPlace)
      due = min(
        due, earliest(metres, bound: updates.activity.speedBoundMetresPerSecond, atLeast: updates.lateSeconds))
    } else {
      liveCurrent = max(liveCurrent ?? 0, updates.allowsSavingWhileMoving ? cyclic : tracking)
    }
  }

  private func earliest(_ metres: Double, bound: Double, atLeast: Double) -> Double {
    seconds + max(Reach(speed: day.path.speed(at: seconds), bound: bound).earliestSeconds(metres), atLeast)
  }

  private var nextDeparture: Double {
    min(day.path.departures.first { $0 > seconds } ?? .infinity, nextScripted)
  }

  private var nextScripted: Double {
    clients.reduce(.infinity) { next, client in
      [client.script.fromSeconds, client.script.untilSeconds].filter { $0 > seconds }.reduce(next, min)
    }
  }

  // MARK: Charge

  private mutating func spend(_ milliamperes: Double, until: Double) {
    let end = min(until, day.seconds)
    if end > seconds { charge += milliamperes * (end - seconds) }
    seconds = max(seconds, min(until, day.seconds))
  }

  private mutating func sleep(until: Double) {
    liveSince = nil
    let end = max(until, seconds + 0.01)
    // A sleep until movement promises a fix within ten seconds, which requires usable orbits.
    while day.hasAccelerometer, let orbitsAt, orbitsAt + capabilities.sureOrbitsSeconds < min(end, day.seconds) {
      spend(standby, until: orbitsAt + capabilities.sureOrbitsSeconds - hot)
      spend(acquisition, until: seconds + hot)
      spend(tracking, until: seconds + Self.orbitsSeconds)
      self.orbitsAt = seconds
    }
    spend(standby, until: end)
  }

  private mutating func live(_ milliamperes: Double) {
    if liveSince == nil {
      // A start before the first fix, unless a fix was just made.
      if !hasOrbits(at: seconds) { startCold() }
      liveSince = seconds
    }
    spend(milliamperes, until: seconds + 1)
    if let liveSince, seconds - liveSince >= Self.orbitsSeconds { orbitsAt = seconds }
  }

  private mutating func poll(by due: Double) {
    let cheapest = cyclic
    // A client with an accelerometer needs usable orbits all the time.
    let isHot = orbitsAt != nil && day.hasAccelerometer || hasOrbits(at: due)
    let wait = max(due - seconds, 0)
    if orbitsAt == nil {
      // The first fix of the day.
      return startCold()
    }
    // Renewal now, for the next four hours, against a later cold start.
    if !isHot {
      let renewal = tracking * Self.orbitsSeconds
      let instead = acquisition * (cold - hot) + tracking * max(0, hot + Self.orbitsSeconds - cold)
      if renewal < instead, wait < Plant.orbitsSeconds {
        spend(tracking, until: seconds + Self.orbitsSeconds)
        orbitsAt = seconds
        return
      }
    }
    let start = isHot ? hot : cold
    if wait <= start || cheapest * wait <= acquisition * start + standby * (wait - start) {
      return live(cheapest)
    }
    sleep(until: due - start)
    if isHot { spend(acquisition, until: due) } else { startCold() }
  }

  /// The signals are received after the time of a hot start, and a complete set of orbits thirty seconds later: a
  /// cold start has its fix by then.
  private mutating func startCold() {
    let whole = seconds + max(cold, hot + Self.orbitsSeconds)
    spend(acquisition, until: seconds + cold)
    spend(tracking, until: whole)
    orbitsAt = seconds
  }
}
