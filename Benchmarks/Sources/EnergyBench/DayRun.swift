// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import LocationService
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverSimulator
import ReceiverStream

/// A day as programs have it, in virtual time: all layers between a manager's calls and a simulated receiver, which
/// integrates its charge.
///
///     programs ─ calls ─▶ ServiceCore ─ commands ─▶ ReceiverSession ─ bytes ─▶ VirtualLine: VirtualReceiver
///         ▲            rules, power policy                                                      │
///         └────────────────────── delegates' events ◀── fixes ◀──────────────────────────────────┘
struct DayRun {
  /// The time until an M10 that was switched on takes commands.
  private static let bootTime = Milliseconds(300)
  /// Switches GLONASS on in the memory and the battery-backed memory of an M10, which has GPS and Galileo by default: the table of
  /// its currents counts three constellations.
  private static let withGLONASS = Command(
    .cfgVALSET, [0, 3, 0, 0, 0x25, 0x00, 0x31, 0x10, 1], answer: .acknowledgement)

  private let day: Day
  private let model: ReceiverModel
  /// Whether the service has ephemerides of a caster at any time.
  private let assistance: Assistance
  private let host: VirtualHost<DayPrograms, VirtualLine>

  /// The receiver's current states with their starts; the last 8,192.
  var powerLog: [(since: Instant, state: VirtualPowerState)] { host.line.receiver.powerLog }

  /// - Parameters:
  ///   - baud: the line's rate.
  ///   - isHot: whether the receiver has time, position and orbits at the beginning.
  ///   - pollsOrbits: whether the session polls the orbits' validity.
  ///   - assistance: what the receiver gets at a start.
  init(
    day: Day, model: ReceiverModel, policy: PowerPolicy, seed: UInt64, baud: LineRate, isHot: Bool = false,
    pollsOrbits: Bool = true, assistance: Assistance = .none
  ) {
    self.day = day
    self.assistance = assistance
    self.model = model
    var scenario = Scenario(day)
    scenario.beginsHot = isHot
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.pollsOrbits = pollsOrbits
    settings.desired = { receiver in
      guard case .fixed(let rate) = baud else { return .saving(for: receiver) }
      var desired = DesiredConfiguration.navigation(for: receiver)
      desired.portRate = rate
      return desired
    }
    host = VirtualHost(
      DayPrograms(day, scenario, policy),
      VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: DayPrograms.startSeconds),
      settings: settings, startUTCSeconds: DayPrograms.startSeconds)
    // The service opens its receiver itself.
    host.apply(.listen(false))
  }

  /// The service fetches ephemerides before the last hour of their use.
  private static let refreshSeconds = 3600.0

  private func refreshOrbits() {
    let utc = DayPrograms.utc(host.now)
    var settings = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: false)
    if assistance == .broadcast {
      settings.ephemerides = .broadcast(at: utc)
    } else {
      settings.predictions = .simulated(at: utc)
      // A receiver without MGA-ANO gets none, and the policy must not rely on them.
      guard host.read({ $0.description?.acceptsPredictions }) == true else { return }
    }
    host.settings.assistance = settings
    host.withSession { $0.set(settings, time: utc, at: host.now) }
    host.withMachine { $0.assist(at: $1) }
  }

  /// Runs the day; returns its results.
  func runDay() -> Metrics {
    let end = Instant.zero + Milliseconds(seconds: day.seconds)
    if model == .m10 {
      host.run(to: .zero + Self.bootTime)
      host.line.send(Self.withGLONASS.bytes, at: host.now)
      host.withMachine { $0.runScript(at: $1) }
    }
    var refreshed = -Double.infinity
    while host.now < end {
      var next = min(host.machine.nextScripted(after: host.now), day.seconds)
      if assistance == .broadcast || assistance == .predicted {
        let seconds = host.now.seconds(since: .zero)
        if seconds >= refreshed + Self.refreshSeconds {
          refreshed = seconds
          refreshOrbits()
        }
        next = min(next, refreshed + Self.refreshSeconds)
      }
      let scripted = Instant.zero + Milliseconds(seconds: next)
      host.run(to: max(scripted, host.now + Milliseconds(1)))
      host.withMachine { $0.runScript(at: $1) }
    }
    var metrics = host.machine.results
    metrics.mainChargeMilliampereSeconds = host.line.receiver.chargeMilliampereSeconds
    metrics.pinChargeMilliampereSeconds = host.line.receiver.pinChargeMilliampereSeconds
    return metrics
  }
}

/// The rate of a day's line.
public enum LineRate: Sendable {
  /// As programs have it: a slow line is raised to 115200 baud.
  case raised
  /// This rate, in baud; nil for the receiver's own.
  case fixed(UInt32?)
}

/// The location service of a day with its programs, and what they receive.
struct DayPrograms: HostMachine {
  /// UTC of the day's start, seconds since 1970.
  static let startSeconds: Int64 = 1_780_000_000
  private static let manager = ClientID(0)

  private var core: ServiceCore
  private let day: Day
  private let scenario: Scenario
  private var clients: [DayClient]
  private var metrics = Metrics()
  private var wakeups = Hourly()
  private var hostBusyUntil = -1.0
  private var readsMovement = false
  private var pendingDepartures: [Double] = []
  private var departures: ArraySlice<Double>
  private var nextHint = Double.infinity
  private var lastFix = -1.0
  private var lastSkyReturn: Double?
  private var skySince = 0.0
  private var start = Metrics.Start()

  init(_ day: Day, _ scenario: Scenario, _ policy: PowerPolicy) {
    (self.day, self.scenario) = (day, scenario)
    clients = day.clients.map { DayClient($0, on: day) }
    departures = day.path.departures[...]
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    core = ServiceCore(hostCapabilities: all, coordinator: PowerCoordinator(policy: policy, at: .zero))
    for index in clients.indices {
      var engine = PositioningEngine(
        keys: .init(), hostCapabilities: all, application: .background, authorizationOverride: .authorizedAlways,
        at: .zero)
      engine.add(Self.manager)
      core.add(Program(ProgramID(UInt32(index)), engine), at: Self.moment(.zero))
    }
    guard day.hasAccelerometer else { return }
    let sensors = SensingInput.listed(magnetometer: false, accelerometer: true, bluetoothAdapter: false)
    core.receive(.sensing(sensors), at: Self.moment(.zero))
  }

  static func utc(_ now: Instant) -> UTCTime {
    UTCTime(nanosecondsSince1970: (startSeconds * 1000 + Int64(now.milliseconds(since: .zero))) * 1_000_000)
  }

  private static func moment(_ now: Instant) -> Moment { Moment(now, utc: utc(now)) }

  /// The service has ephemerides, and can fetch further ones for a day.
  mutating func assist(at now: Instant) {
    core.receive(.receiver(.assistance(usableSeconds: 86_400)), at: Self.moment(now))
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

  // MARK: The host

  var deadline: Instant? { core.deadline }

  mutating func hostWoke(at now: Instant) {
    let seconds = now.seconds(since: .zero)
    if seconds - hostBusyUntil > 0.5 { wakeups.count(at: seconds) }
    hostBusyUntil = seconds
  }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    core.receive(report.fix, sky: sky, isUpdate: report.isUpdate, source: nil, at: Self.moment(now))
    guard report.fix.hasPosition else { return }
    let seconds = now.seconds(since: .zero)
    lastFix = seconds
    if start.fixSeconds == nil { start.fixSeconds = seconds }
    for index in clients.indices { clients[index].noteFix(at: seconds, skySince: skySince) }
  }

  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
    switch action {
    case .report(let report):
      let (desired, receiver, port) = (session.desired, session.description, session.port)
      core.receive(
        .receiver(.session(report, desired: desired, receiver: receiver, port: port)), at: Self.moment(now))
    case .batch(let event): core.receive(.receiver(.batch(event)), at: Self.moment(now))
    case .send, .setRate, .finished: break
    }
  }

  mutating func lineLost(at now: Instant) { core.receive(.receiver(.lost), at: Self.moment(now)) }

  mutating func commands(at now: Instant) -> [HostCommand]? {
    core.wake(at: Self.moment(now))
    let actions = core.actions(at: Self.moment(now))
    let commands = actions.compactMap { perform($0, at: now) }
    noteSaving(at: now)
    noteMovement(at: now)
    return actions.isEmpty ? nil : commands
  }

  /// Performs an action; returns its command for the host.
  private mutating func perform(_ action: ServiceAction, at now: Instant) -> HostCommand? {
    switch action {
    case .program(let id, .output(.event(_, let event, let ticket))): deliver(event, ticket, to: id, at: now)
    case .sense(let demand): readsMovement = demand.movement
    case .log(let text): metrics.fixesLost += Self.lostFixes(in: text)
    case .openReceiver: return .receiver(.listen(true))
    case .releaseReceiver: return .finish
    case .receiver(let command): return .receiver(command)
    default: break
    }
    return nil
  }

  private mutating func deliver(_ event: DelegateEvent, _ ticket: Ticket, to id: ProgramID, at now: Instant) {
    guard let engine = core.engine(of: id), engine.isCurrent(ticket, for: Self.manager),
      engine.isWanted(event, by: Self.manager)
    else { return }
    let seconds = now.seconds(since: .zero)
    if case .didUpdateLocations = event, let back = lastSkyReturn {
      metrics.worstSkyReturnSeconds = max(metrics.worstSkyReturnSeconds ?? 0, seconds - back)
      lastSkyReturn = nil
    }
    let index = Int(id.number)
    let calls = clients[index].receive(
      event, at: seconds, skySince: skySince, started: Double(Self.startSeconds))
    call(calls, by: index, at: now)
  }

  private mutating func call(_ calls: [ClientCall], by index: Int, at now: Instant) {
    let manager = ManagerID(program: ProgramID(UInt32(index)), client: Self.manager)
    for call in calls { core.call(call, by: manager, at: now) }
  }

  /// The number of fixes that a line of the service's log calls lost.
  private static func lostFixes(in text: String) -> Int {
    let words = text.split { !$0.isLetter && !$0.isNumber }
    guard words.contains("lost") else { return 0 }
    return words.lazy.compactMap { Int($0) }.first ?? 1
  }

  /// Notes the first state below full power after the first fix.
  private mutating func noteSaving(at now: Instant) {
    let power = core.coordinator.power
    guard start.fixSeconds != nil, start.savingSeconds == nil, power.capabilities != nil else { return }
    let wanted = power.wanted
    if wanted.mode != .continuous(everySeconds: 1) || wanted.batching != nil {
      start.savingSeconds = now.seconds(since: .zero)
    }
  }

  /// A departure is noticed when there is a fix and no client is paused.
  private mutating func noteMovement(at now: Instant) {
    guard let departure = pendingDepartures.first, lastFix > departure, !clients.contains(where: \.isPaused) else {
      return
    }
    for departure in pendingDepartures {
      metrics.worstMovementSeconds = max(metrics.worstMovementSeconds ?? 0, now.seconds(since: .zero) - departure)
    }
    pendingDepartures = []
  }

  // MARK: The script

  /// The time of the next event of the script, seconds of the day.
  func nextScripted(after now: Instant) -> Double {
    let seconds = now.seconds(since: .zero)
    let next = clients.reduce(min(nextHint, departures.first ?? .infinity)) {
      min($0, $1.nextScripted(after: seconds))
    }
    return min(next, day.skyChange(after: seconds) ?? .infinity)
  }

  /// Performs the events that are due.
  mutating func runScript(at now: Instant) {
    let seconds = now.seconds(since: .zero)
    noteSky(at: seconds)
    for index in clients.indices {
      let calls = clients[index].runScript(at: seconds, scenario)
      if !calls.isEmpty { hostWoke(at: now) }
      call(calls, by: index, at: now)
    }
    if let departure = departures.first, departure <= seconds { depart(departure, at: seconds) }
    guard nextHint <= seconds else { return }
    nextHint = day.path.speed(at: seconds + 5) > 0 ? seconds + 5 : .infinity
    // The accelerometer is read while the receiver rests.
    guard readsMovement else { return }
    hostWoke(at: now)
    core.receive(.sensing(.movement), at: Self.moment(now))
  }

  private mutating func depart(_ departure: Double, at seconds: Double) {
    departures.removeFirst()
    if day.hasAccelerometer { nextHint = seconds + 1 }
    // A client that is not paused receives its fixes anyway; an accelerometer replaces them.
    guard clients.contains(where: { $0.isActive && ($0.isPaused || day.hasAccelerometer) }) else { return }
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
