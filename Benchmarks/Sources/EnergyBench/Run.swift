// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverSimulator

/// One random day of one receiver under the policy: the plant, the clients and the policy, from event to event in
/// virtual time.
struct Run {
  let day: Day
  private(set) var power: PowerControl
  var plant: Plant
  private var clients: [RandomClient]
  private(set) var seconds = 0.0
  private var random: SeededRandomNumberGenerator
  /// Changes between sleep and activity.
  private var switches = Hourly()
  private var wasAsleep = true
  private var departures: ArraySlice<Double>
  /// Accelerometer hints that are due.
  private var nextHint = Double.infinity
  /// Observers for tests.
  var onAction: ((PowerAction, Double) -> Void)?
  var onEvent: ((PowerEvent, Double) -> Void)?
  /// Called after each step with the current policy.
  var onStep: ((borrowing Run) -> Void)?
  /// Injected events, in order of time.
  var disturbances: ArraySlice<(seconds: Double, disturbance: Disturbance)> = []
  private var pluggedInAt = Double.infinity
  private var spins = 0
  /// Actions in the order of the policy's decisions. The consequences of an action are decided at once and
  /// performed after the actions before it.
  private var pending: [PowerAction] = []
  private var isPerforming = false

  enum Disturbance: Sendable {
    /// An event that may be false.
    case event(PowerEvent)
    case reboot
    case unplug(seconds: Double)
    case faults(Plant.Faults)
  }

  init(
    day: Day, clients: [RandomClient.Script], capabilities: ReceiverCapabilities, policy: PowerPolicy, seed: UInt64
  ) {
    self.day = day
    power = PowerControl(policy: policy, at: .zero)
    plant = Plant(capabilities, seed: seed)
    self.clients = clients.enumerated().map { RandomClient(id: ClientID($0.offset), script: $0.element) }
    departures = day.path.departures[...]
    random = SeededRandomNumberGenerator(seed: seed ^ 0x5EED)
  }

  private var now: Instant { Instant(nanoseconds: UInt64((max(seconds, 0) * 1e9).rounded())) }

  mutating func runDay() {
    plant.wake(at: 0)
    if day.hasAccelerometer { handle(.accelerometer(isPresent: true)) }
    handle(.receiverFound(plant.capabilities))
    // A receiver without any command runs at full power.
    _ = plant.apply(power.wanted, at: 0)
    while seconds < day.seconds { step() }
  }

  /// The most changes between sleep and activity in an hour, without the first.
  var switchesInWorstHour: Int { switches.worst }

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
    if scripted <= seconds { runScript() }
    if let departure = departures.first, departure <= seconds { depart() }
    if nextHint <= seconds {
      nextHint = day.path.speed(at: seconds + 5) > 0 ? seconds + 5 : .infinity
      handle(.movementHint(.accelerometer))
    }
    if let next = disturbances.first, next.seconds <= seconds {
      disturbances.removeFirst()
      suffer(next.disturbance)
    }
    if pluggedInAt <= seconds { plugIn() }
    if let occurrence = plant.advance(to: seconds, in: day) { receive(occurrence) }
    if deadline <= seconds {
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
        handle(.demand(clients[index].id, clients[index].opening(at: now)))
      } else if clients[index].isActive, script.untilSeconds <= seconds {
        clients[index].isActive = false
        handle(.demand(clients[index].id, nil))
      }
    }
  }

  private mutating func depart() {
    departures.removeFirst()
    if day.hasAccelerometer { nextHint = seconds + 1 }
  }

  // MARK: From the plant to the policy and back

  private mutating func receive(_ occurrence: Plant.Occurrence) {
    let isUnread = if case .unread = power.wanted.mode { true } else { false }
    if isUnread { return }
    switch occurrence {
    case .woke: handle(.wakeConfirmed)
    case .noFix(let satellites, let strong):
      handle(.noFix(SignalObservation(satellites: satellites, strongSatellites: strong)))
    case .fix: deliverFix()
    case .readOut(let count, let lost):
      // The newest fix of the batch reports the position before the policy decides.
      if plant.hasFix, count > 0 { handle(.fix(observation(of: measured()))) }
      handle(.batchRetrieved(count: count, lost: lost))
    case .readOutCut: handle(.retrievalCut)
    }
  }

  private mutating func deliverFix() {
    let place = measured()
    handle(.fix(observation(of: place)))
    for index in clients.indices where clients[index].isActive {
      if let demand = clients[index].receive(place, at: seconds) { handle(.demand(clients[index].id, demand)) }
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
    let speedError = isOpen ? 0.1 : 0.4
    return FixObservation(
      latitudeDegrees: 47 + place.north / Geodesic.metresPerDegree,
      longitudeDegrees: 8 + place.east / (Geodesic.metresPerDegree * 0.681_998_36), errorMetres: errorMetres,
      speedMetresPerSecond: max(0, day.path.speed(at: seconds) + random.normal(deviation: speedError / 2)),
      speedErrorMetresPerSecond: speedError)
  }

  mutating func handle(_ event: PowerEvent) {
    onEvent?(event, seconds)
    carryOut(power.handle(event, at: now))
  }

  private mutating func carryOut(_ actions: [PowerAction]) {
    pending += actions
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while !pending.isEmpty {
      let action = pending.removeFirst()
      onAction?(action, seconds)
      switch action {
      case .enter(let wanted): apply(wanted)
      case .wakeAgain: plant.wake(at: seconds)
      case .reset: plant.reset(at: seconds)
      case .retrieveBatch: plant.readOut(at: seconds, in: day)
      case .cutRetrieval: break
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
    guard case .deferralDue(let id) = report, let client = clients.first(where: { $0.id == id }) else { return }
    for demand in client.deferralEnded(at: now) { handle(.demand(id, demand)) }
  }
}
