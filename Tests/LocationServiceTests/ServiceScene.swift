// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import PowerControl
import Receiver
import ReceiverPower
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService

/// The whole service without its thread, on a virtual receiver's line, in virtual time.
final class ServiceScene {
  static let startSeconds: Int64 = 1_780_000_000
  static let client = Positioning.ClientID(0)

  var line: VirtualLine
  private(set) var core: ServiceCore
  private(set) var now = Instant.zero
  private var connection: OpenSession?
  /// An optional of the session itself cannot be borrowed.
  private struct OpenSession: ~Copyable { var session: ReceiverSession }
  private var memory: SessionMemory?
  private var isOpen = false
  private var nextAttempt = Instant.zero

  private(set) var events: [(at: Instant, event: DelegateEvent)] = []
  private(set) var logged: [String] = []
  private(set) var receivedBytes = 0
  private(set) var hostWakeUps = 0
  /// The journal of the batch on the disk.
  private(set) var journal: BatchJournal?
  /// The number of deferred locations on the disk.
  private(set) var keptLocations = 0

  init(
    _ model: ReceiverModel, scenario: Scenario = Scenario(), application: ApplicationState = .background,
    pauseSeconds: Double? = nil, probeSeconds: Double = 60
  ) {
    line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: Self.startSeconds)
    line.hostRate = 9600
    var settings = PositioningSettings()
    settings.pauseSeconds = pauseSeconds
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var engine = PositioningEngine(
      keys: .init(), hostCapabilities: all, application: application, settings: settings,
      authorizationOverride: .authorizedAlways, at: .zero)
    engine.add(Self.client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Self.client, at: .zero)
    engine.outputs = []
    var policy = PowerPolicy.standard
    policy.pauseProbeSeconds = probeSeconds
    now = Instant.zero + Milliseconds(4000)
    line.advance(to: now)
    _ = line.takeReceived()
    core = ServiceCore(engine: engine, coordinator: PowerCoordinator(policy: policy, at: now))
  }

  private var moment: Moment {
    Moment(now, utc: UTCTime(nanosecondsSince1970: line.receiver.utcMilliseconds(at: now) * 1_000_000))
  }

  var isAsleep: Bool { line.receiver.powerState == .standby }
  var locations: [Location] {
    events.flatMap { (_, event) -> [Location] in
      if case .didUpdateLocations(let locations) = event { locations } else { [] }
    }
  }
  func count(_ event: DelegateEvent) -> Int { events.count { $0.event == event } }
  func time(of event: DelegateEvent) -> Instant? { events.last { $0.event == event }?.at }
  func clearEvents() { events = [] }

  /// Whole seconds since the first location.
  var seconds: [Int] {
    guard let first = locations.first?.timestamp.nanosecondsSince1970 else { return [] }
    return locations.map { Int(($0.timestamp.nanosecondsSince1970 - first + 500_000_000) / 1_000_000_000) }
  }

  func call(_ call: ClientCall) {
    core.call(call, by: Self.client, at: now)
    work()
  }

  func inject(_ fault: Fault) {
    line.inject(fault, at: now)
    plug()
    work()
  }

  func finish() {
    core.receive(.finish, at: moment)
    work()
    run(10) { $0.connection == nil }
  }

  @discardableResult
  func run(_ seconds: Double, until condition: (ServiceScene) -> Bool = { _ in false }) -> Bool {
    let end = now + Milliseconds(seconds: seconds)
    var rounds = 0
    while now < end {
      step(before: end)
      if condition(self) { return true }
      rounds += 1
      if rounds > 2_000_000 {
        Issue.record("the scene does not settle at \(now)")
        return false
      }
    }
    return condition(self)
  }

  private var hostDeadline: Instant? {
    var next = core.deadline
    if connection == nil { return isOpen ? Instant.earlier(next, nextAttempt) : next }
    next = .earlier(next, connection!.session.deadline)
    return next
  }

  private func step(before end: Instant) {
    let host = hostDeadline
    let wasAt = now
    let next = Instant.earlier(Instant.earlier(line.deadline, host), end) ?? end
    now = max(now, next)
    line.advance(to: now)
    plug()
    let bytes = line.takeReceived()
    let isDue = host.map { now >= $0 } ?? false
    if connection != nil, !bytes.isEmpty {
      receivedBytes += bytes.count
      let moment = moment
      unsafe connection!.session.receive(bytes.span.bytes, at: now) { report, sky in
        core.receive(report.fix, sky: sky, isUpdate: report.isUpdate, source: nil, at: moment)
      }
    }
    if isDue || !bytes.isEmpty { hostWakeUps += 1 }
    if connection != nil, let due = connection!.session.deadline, now >= due {
      let moment = moment
      connection!.session.wake(at: now) { report, sky in
        core.receive(report.fix, sky: sky, isUpdate: report.isUpdate, source: nil, at: moment)
      }
    }
    if isDue || !bytes.isEmpty { work() }
    if let again = hostDeadline, again <= now, wasAt == now { now = now + Milliseconds(1) }
  }

  private func plug() {
    if connection != nil, !line.isPresent {
      connection!.session.lost { _, _ in }
      drainSession()
      memory = connection!.session.memory
      connection = nil
      core.receive(.receiver(.lost), at: moment)
      nextAttempt = now + Milliseconds(500)
    } else if connection == nil, isOpen, now >= nextAttempt {
      nextAttempt = now + Milliseconds(500)
      if line.isPresent { openSession() }
    }
  }

  private func openSession() {
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.memory = memory
    settings.desired = { .saving(for: $0) }
    _ = line.takeReceived()
    connection = OpenSession(
      session: ReceiverSession(settings, lineRate: line.hostRate, reference: moment.utc, now: now))
  }

  private func work() {
    for _ in 0..<64 {
      drainSession()
      core.wake(at: moment)
      let actions = core.actions(at: moment)
      for action in actions { take(action) }
      drainSession()
      if connection != nil, connection!.session.isEnded { connection = nil }
      if actions.isEmpty { return }
    }
    Issue.record("the service and the session do not settle")
  }

  private func drainSession() {
    while connection != nil, let action = connection!.session.nextAction() {
      switch action {
      case .send(let bytes): line.send(bytes, at: now)
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report(let report):
        let (desired, receiver, port) = (
          connection!.session.desired, connection!.session.description, connection!.session.port
        )
        core.receive(.receiver(.session(report, desired: desired, receiver: receiver, port: port)), at: moment)
      case .batch(let event): core.receive(.receiver(.batch(event)), at: moment)
      case .finished: break
      }
    }
  }

  private func take(_ action: ServiceAction) {
    switch action {
    case .program(_, .output(.event(_, let event, let ticket))):
      if core.engine.isCurrent(ticket, for: Self.client), core.engine.isWanted(event, by: Self.client) {
        events.append((now, event))
      }
    case .log(let text): logged.append(text)
    case .openReceiver:
      isOpen = true
      nextAttempt = now
    case .releaseReceiver:
      isOpen = false
      connection?.session.finish(at: now)
    case .receiver(let command): apply(command)
    case .keepBatch(let journal), .noteBatch(let journal): self.journal = journal
    case .discardBatch(let collects): if !collects { journal = nil }
    case .keepLocation: keptLocations += 1
    case .discardLocations: keptLocations = 0
    default: break
    }
  }

  private func apply(_ command: ReceiverCommand) {
    switch command {
    case .set(let desired): connection?.session.set(desired, at: now)
    case .sleep(let duration): connection?.session.sleep(for: duration, at: now)
    case .wakeUp: connection?.session.wakeUp(at: now)
    case .retrieveBatch(let journal): connection?.session.retrieveBatch(journal, at: now)
    case .listen(let listens):
      isOpen = listens
      nextAttempt = now
      if !listens { connection = nil }
    case .supply: break
    }
  }
}
