// SPDX-License-Identifier: Apache-2.0
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
struct ChainRun: ~Copyable {
  let day: Day
  private var coordinator: PowerCoordinator
  private var session: ReceiverSession
  private var line: VirtualLine
  private var clients: [BenchClient]
  private var metrics = Metrics()
  private var now = Instant.zero
  private var wakeups = Hourly()
  private var hostBusyUntil = -1.0
  private var pendingDepartures: [Double] = []
  private var departures: ArraySlice<Double>
  private var nextHint = Double.infinity
  private var lastSkyReturn: Double?
  private var skySince = 0.0
  private var readSinceReport = 0
  /// UTC at the beginning of the day, seconds since 1970.
  private static let utc: Int64 = 1_780_000_000

  /// - Parameter baud: The configured rate of the line; nil for the receiver's default.
  init(day: Day, model: ReceiverModel, policy: PowerPolicy, seed: UInt64, baud: UInt32?) {
    self.day = day
    line = VirtualLine(model: model, scenario: Scenario(day), seed: seed, startUTCSeconds: Self.utc)
    coordinator = PowerCoordinator(policy: policy, at: .zero)
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.desired = { receiver in
      var desired = DesiredConfiguration.navigation(for: receiver)
      desired.portRate = baud
      return desired
    }
    session = ReceiverSession(
      settings, lineRate: line.hostRate,
      reference: UTCTime(nanosecondsSince1970: Self.utc * 1_000_000_000), now: .zero)
    clients = day.clients.enumerated().map {
      BenchClient(id: ClientID(UInt32($0.offset)), script: $0.element, watchesMovement: day.hasAccelerometer)
    }
    departures = day.path.departures[...]
  }

  private var seconds: Double { now.seconds(since: .zero) }

  /// Runs the day; returns its results.
  consuming func runDay() -> Metrics {
    if day.hasAccelerometer { handle(.accelerometer(isPresent: true)) }
    while seconds < day.seconds { step() }
    metrics.chargeMilliampereSeconds =
      line.receiver.chargeMilliampereSeconds + line.receiver.pinChargeMilliampereSeconds
    metrics.seconds = day.seconds
    metrics.hostWakeups = wakeups.total
    metrics.hostWakeupsInWorstHour = wakeups.worst
    metrics.judge(clients, on: day, unnoticed: pendingDepartures)
    return metrics
  }

  private mutating func step() {
    let scripted = [nextScripted, nextHint, departures.first ?? .infinity, day.seconds].min() ?? day.seconds
    var next = Instant.zero + Milliseconds(seconds: scripted)
    let host = Instant.earlier(session.deadline, coordinator.deadline)
    next = Instant.earlier(.earlier(line.deadline, host), next) ?? next
    let before = now
    now = max(now, next)
    line.advance(to: now)
    noteSky()
    if nextScripted <= seconds { runScript() }
    if let departure = departures.first, departure <= seconds { depart(departure) }
    if nextHint <= seconds {
      nextHint = day.path.speed(at: seconds + 5) > 0 ? seconds + 5 : .infinity
      wakeHost()
      handle(.movementHint(.accelerometer))
    }
    receive(line.takeReceived())
    if let host, now >= host { wake() }
    work()
    // Work that stays due at this instant must not block the day.
    if now == before, let again = Instant.earlier(session.deadline, coordinator.deadline), again <= now {
      now = now + Milliseconds(1)
    }
  }

  private mutating func receive(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    wakeHost()
    // The session lends its output; the coordinator is another value.
    let span = bytes.span
    unsafe session.receive(span.bytes, at: now) { report, sky in
      coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
    }
  }

  private mutating func wake() {
    wakeHost()
    if let due = session.deadline, now >= due {
      session.wake(at: now) { report, sky in
        coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
      }
    }
    if let due = coordinator.deadline, now >= due { coordinator.wake(at: now) }
  }

  private mutating func wakeHost() {
    if seconds - hostBusyUntil > 0.5 { wakeups.count(at: seconds) }
    hostBusyUntil = seconds
  }

  // MARK: Work until neither side has anything to do

  private mutating func work() {
    for _ in 0..<64 {
      drainSession()
      var isIdle = true
      while let output = coordinator.nextOutput(at: now) {
        isIdle = false
        take(output)
      }
      if isIdle { return }
    }
  }

  private mutating func drainSession() {
    while let action = session.nextAction() {
      switch action {
      case .send(let bytes): line.send(bytes, at: now)
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report(let report):
        coordinator.receive(
          report, desired: session.desired, receiver: session.description, port: session.port, at: now)
      case .batch(let event): coordinator.receive(event, at: now)
      case .finished: break
      }
    }
  }

  private mutating func take(_ output: CoordinatorOutput) {
    switch output {
    case .command(let command): apply(command)
    case .report(let report): receive(report)
    case .live(let fix, _): deliver(fix)
    case .batched:
      readSinceReport += 1
    case .readOutEnds:
      for index in clients.indices where clients[index].isActive {
        clients[index].receiveBatch(readSinceReport, at: seconds)
      }
      readSinceReport = 0
    case .lost(let count, _): metrics.fixesLost += count
    case .collects, .collectsNoMore, .readOutBegins, .startedAnew: break
    }
  }

  private mutating func apply(_ command: ReceiverCommand) {
    switch command {
    case .set(let desired): session.set(desired, at: now)
    case .sleep(let duration): session.sleep(for: duration, at: now)
    case .wakeUp: session.wakeUp(at: now)
    case .retrieveBatch(let journal): session.retrieveBatch(journal, at: now)
    // The bench's receivers accept commands, and none has a power switch.
    case .listen, .supply: break
    }
  }

  private mutating func deliver(_ fix: Fix) {
    guard fix.hasPosition, let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else { return }
    if let back = lastSkyReturn {
      metrics.worstSkyReturnSeconds = max(metrics.worstSkyReturnSeconds ?? 0, seconds - back)
      lastSkyReturn = nil
    }
    let metres = line.receiver.scenario.metres(latitudeDegrees: latitude, longitudeDegrees: longitude)
    let place = Path.Place(east: metres.east, north: metres.north)
    let truth = day.path.place(at: seconds)
    for index in clients.indices where clients[index].isActive {
      let demand = clients[index].receive(
        place, truth: truth, at: seconds, path: day.path, isPaused: coordinator.power.isPaused(clients[index].id),
        skySince: skySince)
      if let demand { coordinator.handle(.demand(clients[index].id, demand), at: now) }
    }
  }

  private mutating func receive(_ report: PowerReport) {
    switch report {
    case .resumed:
      for departure in pendingDepartures {
        metrics.worstMovementSeconds = max(metrics.worstMovementSeconds ?? 0, seconds - departure)
      }
      pendingDepartures = []
    case .deferralDue(let id):
      guard let client = clients.first(where: { $0.id == id }) else { return }
      for demand in client.deferralEnded() { coordinator.handle(.demand(id, demand), at: now) }
    default: break
    }
  }

  private mutating func handle(_ event: PowerEvent) {
    coordinator.handle(event, at: now)
    work()
  }

  // MARK: The script

  private var nextScripted: Double { clients.nextScripted(after: seconds) }

  private mutating func runScript() {
    for index in clients.indices {
      let script = clients[index].script
      if !clients[index].isActive, max(script.fromSeconds, 0.001) <= seconds, script.untilSeconds > seconds {
        clients[index].isActive = true
        for demand in clients[index].opening() { handle(.demand(clients[index].id, demand)) }
      } else if clients[index].isActive, script.untilSeconds <= seconds {
        clients[index].isActive = false
        handle(.demand(clients[index].id, nil))
      }
    }
  }

  private mutating func depart(_ departure: Double) {
    departures.removeFirst()
    if day.hasAccelerometer { nextHint = seconds + 1 }
    // A client that is not paused receives every fix anyway.
    guard clients.contains(where: { $0.isActive && coordinator.power.isPaused($0.id) }) else { return }
    pendingDepartures.append(departure)
  }

  private mutating func noteSky() {
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
