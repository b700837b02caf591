// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import PowerControl
import ReceiverSimulator

/// One day of one receiver under the policy: the plant, the clients and the policy, from event to event in virtual
/// time.
struct Run {
  let day: Day
  private(set) var power: PowerControl
  var plant: Plant
  private(set) var clients: [BenchClient]
  private(set) var metrics = Metrics()
  private(set) var seconds = 0.0
  private var random: SeededRandomNumberGenerator
  private var wakeups = Hourly()
  private var hostBusyUntil = -1.0
  private var switches = Hourly()
  private var wasAsleep = true
  /// Departures of paused clients that are not detected yet.
  private var pendingDepartures: [Double] = []
  private var departures: ArraySlice<Double>
  /// Accelerometer hints that are due.
  private var nextHint = Double.infinity
  private var skySince = 0.0
  private var lastSkyReturn: Double?
  /// Observers for tests.
  var onAction: ((PowerAction, Double) -> Void)?
  var onEvent: ((PowerEvent, Double) -> Void)?
  /// Called after each step with the current policy.
  var onStep: ((borrowing Run) -> Void)?
  /// Injected events, in order of time.
  var disturbances: ArraySlice<(seconds: Double, disturbance: Disturbance)> = []
  private var pluggedInAt = Double.infinity
  private var spins = 0

  enum Disturbance: Sendable {
    /// An event that may be false.
    case event(PowerEvent)
    case reboot
    case unplug(seconds: Double)
    case faults(Plant.Faults)
  }

  init(day: Day, capabilities: ReceiverCapabilities, policy: PowerPolicy, seed: UInt64 = 1, keepsLog: Bool = false) {
    self.day = day
    power = PowerControl(policy: policy, at: .zero)
    plant = Plant(capabilities, seed: seed, keepsLog: keepsLog)
    clients = day.clients.enumerated().map {
      BenchClient(id: ClientID(UInt64($0.offset)), script: $0.element, watchesMovement: day.hasAccelerometer)
    }
    departures = day.path.departures[...]
    random = SeededRandomNumberGenerator(seed: seed ^ 0x5EED)
  }

  private var now: Instant { Instant(nanoseconds: UInt64((max(seconds, 0) * 1e9).rounded())) }

  mutating func runDay() -> Metrics {
    plant.wake(at: 0)
    if day.hasAccelerometer { handle(.accelerometer(isPresent: true)) }
    handle(.receiverFound(plant.capabilities))
    // A receiver without any command runs at full power.
    _ = plant.apply(power.wanted, at: 0)
    while seconds < day.seconds { step() }
    plant.charge(until: day.seconds)
    close()
    return metrics
  }

  private mutating func step() {
    let scripted = nextScripted
    let deadline = power.deadline.map { Double($0.nanoseconds) / 1e9 } ?? .infinity
    let skyChange = plant.isAsleep ? .infinity : day.skyChange(after: seconds) ?? .infinity
    let before = seconds
    let coming = [
      plant.next, deadline, scripted, nextHint, departures.first ?? .infinity, skyChange, day.seconds,
      disturbances.first?.seconds ?? .infinity, pluggedInAt,
    ]
    seconds = max(coming.min() ?? day.seconds, before)
    guard seconds < day.seconds else { return }
    spins = seconds > before ? 0 : spins + 1
    // An event may cause a few more at the same instant; a hundred mean that the policy loops.
    if spins > 100 {
      seconds += 0.001
      overruns += 1
    }
    noteSky()
    if scripted <= seconds { runScript() }
    if let departure = departures.first, departure <= seconds { depart(departure) }
    if nextHint <= seconds {
      nextHint = day.path.speed(at: seconds + 5) > 0 ? seconds + 5 : .infinity
      wakeHost()
      handle(.movementHint(.accelerometer))
    }
    if let next = disturbances.first, next.seconds <= seconds {
      disturbances.removeFirst()
      suffer(next.disturbance)
    }
    if pluggedInAt <= seconds { plugIn() }
    if let occurrence = plant.advance(to: seconds, in: day) { receive(occurrence) }
    if deadline <= seconds {
      wakeHost()
      carryOut(power.wake(at: now))
    }
    noteSwitch()
    onStep?(self)
  }

  /// The number of detected loops of the policy; 0 in a correct run.
  private(set) var overruns = 0

  private mutating func noteSwitch() {
    guard plant.isAsleep != wasAsleep else { return }
    wasAsleep = plant.isAsleep
    switches.count(at: seconds)
  }

  private mutating func noteSky() {
    let change = day.sky.last { $0.fromSeconds <= seconds }
    guard let change, change.sky != .none, change.fromSeconds > skySince else { return }
    let index = day.sky.firstIndex { $0.fromSeconds == change.fromSeconds } ?? 0
    guard index > 0, day.sky[index - 1].sky == .none else { return }
    skySince = change.fromSeconds
    lastSkyReturn = change.fromSeconds
  }

  /// Records a wake-up of the host. Work within half a second, or while a batch is read, belongs to the same wake-up.
  private mutating func wakeHost() {
    if seconds - hostBusyUntil > 0.5 {
      wakeups.count(at: seconds)
    }
    hostBusyUntil = max(seconds, plant.readOutEnds ?? seconds)
  }

  // MARK: Injected events

  private mutating func suffer(_ disturbance: Disturbance) {
    switch disturbance {
    case .event(let event): handle(event)
    case .faults(let faults): plant.faults = faults
    case .reboot:
      guard !plant.isAsleep else { return }
      plant.reboot(at: seconds)
      handle(.rebooted)
    case .unplug(let length):
      guard pluggedInAt == .infinity else { return }
      plant.unplug(at: seconds)
      pluggedInAt = seconds + length
      handle(.receiverLost)
    }
  }

  private mutating func plugIn() {
    pluggedInAt = .infinity
    plant.faults = Plant.Faults()
    plant.reset(at: seconds)
    handle(.receiverFound(plant.capabilities))
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
    guard clients.contains(where: { $0.isActive && power.isPaused($0.id) }) else { return }
    pendingDepartures.append(departure)
  }

  // MARK: From the plant to the policy and back

  private mutating func receive(_ occurrence: Plant.Occurrence) {
    let isUnread = if case .unread = power.wanted.mode { true } else { false }
    if isUnread { return }
    wakeHost()
    switch occurrence {
    case .woke: handle(.wakeConfirmed)
    case .noFix(let satellites, let strong):
      handle(.noFix(SignalObservation(satellites: satellites, strongSatellites: strong)))
    case .fix: deliverFix()
    case .readOut(let count, let lost):
      metrics.fixesLost += lost
      for index in clients.indices where clients[index].isActive { clients[index].receiveBatch(count, at: seconds) }
      // The newest fix of the batch reports the position before the policy decides.
      if plant.hasFix, count > 0 { handle(.fix(observation(of: measured()))) }
      handle(.batchRetrieved(count: count, lost: lost))
    case .readOutCut: handle(.retrievalCut)
    }
  }

  private mutating func deliverFix() {
    let place = measured()
    if let back = lastSkyReturn {
      metrics.worstSkyReturnSeconds = max(metrics.worstSkyReturnSeconds ?? 0, seconds - back)
      lastSkyReturn = nil
    }
    handle(.fix(observation(of: place)))
    let truth = day.path.place(at: seconds)
    for index in clients.indices where clients[index].isActive {
      let demand = clients[index].receive(
        place, truth: truth, at: seconds, path: day.path, isPaused: power.isPaused(clients[index].id),
        skySince: skySince)
      if let demand { handle(.demand(clients[index].id, demand)) }
    }
  }

  private mutating func measured() -> Path.Place {
    let truth = day.path.place(at: seconds)
    let deviation = errorMetres / 2.squareRoot()
    return Path.Place(
      east: truth.east + random.normal(deviation: deviation), north: truth.north + random.normal(deviation: deviation))
  }

  private var errorMetres: Double { day.sky(at: seconds) == .open ? 2.5 : 8 }

  private mutating func observation(of place: Path.Place) -> FixObservation {
    let isOpen = day.sky(at: seconds) == .open
    let metresPerDegree = 111_195.0
    let speedError = isOpen ? 0.1 : 0.4
    return FixObservation(
      latitudeDegrees: 47 + place.north / metresPerDegree,
      longitudeDegrees: 8 + place.east / (metresPerDegree * 0.681_998_36), errorMetres: errorMetres,
      speedMetresPerSecond: max(0, day.path.speed(at: seconds) + random.normal(deviation: speedError / 2)),
      speedErrorMetresPerSecond: speedError)
  }

  mutating func handle(_ event: PowerEvent) {
    onEvent?(event, seconds)
    carryOut(power.handle(event, at: now))
  }

  private mutating func carryOut(_ actions: [PowerAction]) {
    for action in actions {
      onAction?(action, seconds)
      switch action {
      case .enter(let wanted): apply(wanted)
      case .wakeAgain: plant.wake(at: seconds)
      case .reset: plant.reset(at: seconds)
      case .retrieveBatch:
        plant.readOut(at: seconds, in: day)
        hostBusyUntil = max(hostBusyUntil, plant.readOutEnds ?? seconds)
      case .report(let report): receive(report)
      }
    }
  }

  private mutating func apply(_ wanted: WantedState) {
    if wanted.batching != nil, plant.faults.refusesBatching { return handle(.refused(.batching)) }
    if case .cyclicTracking = wanted.mode, plant.faults.refusesCyclic { return handle(.refused(.cyclicTracking)) }
    if plant.apply(wanted, at: seconds), !wanted.mode.isAsleep, !plant.isAsleep { handle(.entered(wanted.mode)) }
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
      for demand in client.deferralEnded() { handle(.demand(id, demand)) }
    default: break
    }
  }

  // MARK: The end

  private mutating func close() {
    metrics.chargeMilliampereSeconds = plant.chargeMilliampereSeconds
    metrics.seconds = day.seconds
    metrics.hostWakeups = wakeups.total
    metrics.hostWakeupsInWorstHour = wakeups.worst
    metrics.switchesInWorstHour = switches.worst
    metrics.judge(clients, on: day, unnoticed: pendingDepartures)
  }
}
