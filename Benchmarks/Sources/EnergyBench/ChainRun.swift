// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import PowerControl
import Receiver
import ReceiverPower
import ReceiverSimulator
import ReceiverStream

/// The same day with all layers between the policy and a receiver: coordinator, session, a serial line at its own
/// rate, and a simulated receiver that computes its charge independently. It checks the plant of ``Run``.
///
///     clients ─▶ PowerCoordinator ─ commands ─▶ ReceiverSession ─ bytes ─▶ VirtualLine: VirtualReceiver
struct ChainRun {
  private let day: Day
  private let host: VirtualHost<Chain, VirtualLine>

  /// - Parameters:
  ///   - baud: the configured rate of the line; nil for the receiver's default.
  ///   - isHot: whether the receiver has time, position and orbits at the beginning.
  ///   - pollsOrbits: whether the session polls the orbits' validity.
  init(
    day: Day, model: ReceiverModel, policy: PowerPolicy, seed: UInt64, baud: UInt32?, isHot: Bool = false,
    pollsOrbits: Bool = true
  ) {
    self.day = day
    let utc: Int64 = 1_780_000_000
    var scenario = Scenario(day)
    scenario.beginsHot = isHot
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.pollsOrbits = pollsOrbits
    settings.desired = { receiver in
      var desired = DesiredConfiguration.navigation(for: receiver)
      desired.portRate = baud
      return desired
    }
    host = VirtualHost(
      Chain(day, scenario, PowerCoordinator(policy: policy, at: .zero)),
      VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: utc), settings: settings,
      startUTCSeconds: utc)
  }

  /// Runs the day; returns its results.
  func runDay() -> Metrics {
    if day.hasAccelerometer { host.withMachine { $0.coordinator.handle(.accelerometer(isPresent: true), at: $1) } }
    let end = Instant.zero + Milliseconds(seconds: day.seconds)
    while host.now < end {
      let scripted = Instant.zero + Milliseconds(seconds: min(host.machine.nextScripted(after: host.now), day.seconds))
      host.run(to: max(scripted, host.now + Milliseconds(1)))
      host.withMachine { $0.runScript(at: $1) }
    }
    var metrics = host.machine.results
    let receiver = host.line.receiver
    metrics.chargeMilliampereSeconds = receiver.chargeMilliampereSeconds + receiver.pinChargeMilliampereSeconds
    return metrics
  }
}

/// The coordinator of a day, its clients, and what they receive.
private struct Chain: CoordinatedMachine {
  var coordinator: PowerCoordinator
  private let day: Day
  private let scenario: Scenario
  private var clients: [BenchClient]
  private var metrics = Metrics()
  private var wakeups = Hourly()
  private var hostBusyUntil = -1.0
  private var pendingDepartures: [Double] = []
  private var departures: ArraySlice<Double>
  private var nextHint = Double.infinity
  private var lastSkyReturn: Double?
  private var skySince = 0.0
  private var readSinceReport = 0
  private var start = Metrics.Start()

  init(_ day: Day, _ scenario: Scenario, _ coordinator: PowerCoordinator) {
    (self.day, self.scenario, self.coordinator) = (day, scenario, coordinator)
    clients = day.clients.enumerated().map {
      BenchClient(id: ClientID(UInt64($0.offset)), script: $0.element, watchesMovement: day.hasAccelerometer)
    }
    departures = day.path.departures[...]
  }

  /// The results of the day, without the charge.
  var results: Metrics {
    var metrics = metrics
    metrics.seconds = day.seconds
    metrics.hostWakeups = wakeups.total
    metrics.hostWakeupsInWorstHour = wakeups.worst
    metrics.start = start
    metrics.judge(clients, on: day, unnoticed: pendingDepartures)
    return metrics
  }

  mutating func hostWoke(at now: Instant) {
    let seconds = now.seconds(since: .zero)
    if seconds - hostBusyUntil > 0.5 { wakeups.count(at: seconds) }
    hostBusyUntil = seconds
  }

  mutating func receive(_ output: CoordinatorOutput, at now: Instant) {
    switch output {
    case .report(let report): receive(report, at: now)
    case .live(let fix, _): deliver(fix, at: now)
    case .batched:
      readSinceReport += 1
    case .readOutEnds:
      for index in clients.indices where clients[index].isActive {
        clients[index].receiveBatch(readSinceReport, at: now.seconds(since: .zero))
      }
      readSinceReport = 0
    case .lost(let count, _): metrics.fixesLost += count
    case .command: noteSaving(at: now)
    case .collects, .collectsNoMore, .readOutBegins, .startedAnew: break
    }
  }

  /// Notes the first state below full power after the first fix.
  private mutating func noteSaving(at now: Instant) {
    let power = coordinator.power
    guard start.fixSeconds != nil, start.savingSeconds == nil, power.capabilities != nil else { return }
    let wanted = power.wanted
    if wanted.mode != .continuous(everySeconds: 1) || wanted.batching != nil {
      start.savingSeconds = now.seconds(since: .zero)
    }
  }

  private mutating func deliver(_ fix: Fix, at now: Instant) {
    guard fix.hasPosition, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else { return }
    let seconds = now.seconds(since: .zero)
    if start.fixSeconds == nil { start.fixSeconds = seconds }
    if let back = lastSkyReturn {
      metrics.worstSkyReturnSeconds = max(metrics.worstSkyReturnSeconds ?? 0, seconds - back)
      lastSkyReturn = nil
    }
    let metres = scenario.metres(latitudeDegrees: latitude, longitudeDegrees: longitude)
    let place = Path.Place(east: metres.east, north: metres.north)
    let truth = day.path.place(at: seconds)
    for index in clients.indices where clients[index].isActive {
      let demand = clients[index].receive(
        place, truth: truth, at: seconds, path: day.path, isPaused: coordinator.power.isPaused(clients[index].id),
        skySince: skySince)
      if let demand { coordinator.handle(.demand(clients[index].id, demand), at: now) }
    }
  }

  private mutating func receive(_ report: PowerReport, at now: Instant) {
    switch report {
    case .resumed:
      for departure in pendingDepartures {
        metrics.worstMovementSeconds = max(metrics.worstMovementSeconds ?? 0, now.seconds(since: .zero) - departure)
      }
      pendingDepartures = []
    case .deferralDue(let id):
      guard let client = clients.first(where: { $0.id == id }) else { return }
      for demand in client.deferralEnded() { coordinator.handle(.demand(id, demand), at: now) }
    default: break
    }
  }

  // MARK: The script

  /// The time of the next event of the script, seconds of the day.
  func nextScripted(after now: Instant) -> Double {
    let seconds = now.seconds(since: .zero)
    let next = min(clients.nextScripted(after: seconds), nextHint, departures.first ?? .infinity)
    return min(next, day.skyChange(after: seconds) ?? .infinity)
  }

  /// Performs the events that are due.
  mutating func runScript(at now: Instant) {
    let seconds = now.seconds(since: .zero)
    noteSky(at: seconds)
    for index in clients.indices {
      let script = clients[index].script
      if !clients[index].isActive, max(script.fromSeconds, 0.001) <= seconds, script.untilSeconds > seconds {
        clients[index].isActive = true
        for demand in clients[index].opening() { coordinator.handle(.demand(clients[index].id, demand), at: now) }
      } else if clients[index].isActive, script.untilSeconds <= seconds {
        clients[index].isActive = false
        coordinator.handle(.demand(clients[index].id, nil), at: now)
      }
    }
    if let departure = departures.first, departure <= seconds { depart(departure, at: seconds) }
    if nextHint <= seconds {
      nextHint = day.path.speed(at: seconds + 5) > 0 ? seconds + 5 : .infinity
      hostWoke(at: now)
      coordinator.handle(.movementHint(.accelerometer), at: now)
    }
  }

  private mutating func depart(_ departure: Double, at seconds: Double) {
    departures.removeFirst()
    if day.hasAccelerometer { nextHint = seconds + 1 }
    // A client that is not paused receives every fix anyway.
    guard clients.contains(where: { $0.isActive && coordinator.power.isPaused($0.id) }) else { return }
    pendingDepartures.append(departure)
  }

  private mutating func noteSky(at seconds: Double) {
    guard let back = day.skyReturn(before: seconds), back > skySince else { return }
    skySince = back
    lastSkyReturn = back
  }
}

extension Scenario {
  /// The day's way and sky.
  init(_ day: Day) {
    self.init(stayingAt: ReceiverSimulator.Place(latitudeDegrees: 47, longitudeDegrees: 8, altitudeMetres: 500))
    var from = 0.0
    for piece in day.path.pieces {
      move(northMetres: piece.place.north, eastMetres: piece.place.east, seconds: piece.untilSeconds - from)
      from = piece.untilSeconds
    }
    for change in day.sky {
      let sky: ReceiverSimulator.SkyView =
        switch change.sky {
        case .open: .open
        case .urban: .urban
        case .none: .none
        }
      setSky(sky, fromSeconds: change.fromSeconds)
    }
  }
}
