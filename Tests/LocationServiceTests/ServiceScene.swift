// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverSimulator
import ReceiverStream

@testable import LocationService

/// The whole service without its thread, on a virtual receiver's line, in virtual time.
typealias ServiceScene = VirtualHost<ServiceLog, VirtualLine>

/// The core of a service with one client, and a record of its actions.
struct ServiceLog: HostMachine {
  static let startSeconds: Int64 = 1_780_000_000
  static let client = ClientID(0)

  fileprivate(set) var core: ServiceCore
  /// The events of each program.
  fileprivate var eventsOfPrograms: [ProgramID: [(at: Instant, event: DelegateEvent)]] = [:]
  /// The programs whose requests were answered, an entry for each answer.
  fileprivate(set) var answers: [ProgramID] = []
  private(set) var logged: [String] = []
  private(set) var hostWakeUps = 0
  /// The journal of the batch on the disk.
  private(set) var journal: BatchJournal?
  /// The number of deferred locations on the disk.
  private(set) var keptLocations = 0

  init(_ core: ServiceCore) { self.core = core }

  static func moment(_ now: Instant) -> Moment {
    let milliseconds = startSeconds * 1000 + Int64(now.milliseconds(since: .zero))
    return Moment(now, utc: UTCTime(nanosecondsSince1970: milliseconds * 1_000_000))
  }

  var events: [(at: Instant, event: DelegateEvent)] { events(of: .own) }
  func events(of program: ProgramID) -> [(at: Instant, event: DelegateEvent)] { eventsOfPrograms[program] ?? [] }

  var locations: [Location] { locations(of: .own) }
  func locations(of program: ProgramID) -> [Location] {
    events(of: program).flatMap { (_, event) -> [Location] in
      if case .didUpdateLocations(let locations) = event { locations } else { [] }
    }
  }

  /// Whole seconds since the first location.
  var seconds: [Int] {
    guard let first = locations.first?.timestamp.nanosecondsSince1970 else { return [] }
    return locations.map { Int(($0.timestamp.nanosecondsSince1970 - first + 500_000_000) / 1_000_000_000) }
  }

  // MARK: The host

  var deadline: Instant? { core.deadline }

  mutating func hostWoke(at now: Instant) { hostWakeUps += 1 }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    core.receive(report.fix, sky: sky, isUpdate: report.isUpdate, source: nil, at: Self.moment(now))
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
    return actions.isEmpty ? nil : actions.compactMap { take($0, at: now) }
  }

  /// Records an action; returns its command for the host.
  private mutating func take(_ action: ServiceAction, at now: Instant) -> HostCommand? {
    switch action {
    case .program(let id, .output(.event(_, let event, let ticket))):
      if ticket.isAnswer { answers.append(id) }
      guard let engine = core.engine(of: id) else { return nil }
      if engine.isCurrent(ticket, for: Self.client), engine.isWanted(event, by: Self.client) {
        eventsOfPrograms[id, default: []].append((now, event))
      }
    case .log(let text): logged.append(text)
    case .openReceiver: return .receiver(.listen(true))
    case .releaseReceiver: return .finish
    case .receiver(let command): return .receiver(command)
    case .keepBatch(let journal), .noteBatch(let journal): self.journal = journal
    case .discardBatch(let collects): if !collects { journal = nil }
    case .keepLocation: keptLocations += 1
    case .discardLocations: keptLocations = 0
    default: break
    }
    return nil
  }
}

extension VirtualHost where Machine == ServiceLog, Line == VirtualLine {
  convenience init(
    _ model: ReceiverModel, scenario: Scenario = Scenario(), application: ApplicationState = .background,
    pauseSeconds: Double? = nil, probeSeconds: Double = 60, programs: UInt32 = 1, lingers: Bool = true
  ) {
    var line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: Machine.startSeconds)
    line.hostRate = 9600
    var positioning = PositioningSettings()
    positioning.pauseSeconds = pauseSeconds
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var engine = PositioningEngine(
      keys: .init(), hostCapabilities: all, application: application, settings: positioning,
      authorizationOverride: .authorizedAlways, at: .zero)
    engine.add(Machine.client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: Machine.client, at: .zero)
    engine.outputs = []
    var policy = PowerPolicy.standard
    policy.movementCheckSeconds = probeSeconds
    let now = Instant.zero + Milliseconds(4000)
    var core = ServiceCore(engine: engine, coordinator: PowerCoordinator(policy: policy, at: now))
    for number in 1..<max(programs, 1) { core.add(Program(ProgramID(number), engine), at: Machine.moment(now)) }
    for index in core.programs.indices { core.programs.change(index) { $0.lingers = lingers } }
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.desired = { .saving(for: $0) }
    settings.pollsOrbits = true
    self.init(ServiceLog(core), line, settings: settings, startUTCSeconds: Machine.startSeconds, at: now)
    // The service opens its receiver on its own.
    apply(.listen(false))
  }

  func count(_ event: DelegateEvent) -> Int { machine.events.count { $0.event == event } }
  func time(of event: DelegateEvent) -> Instant? { machine.events.last { $0.event == event }?.at }
  func clearEvents() { machine.eventsOfPrograms = [:] }
  func takeAnswers() -> [ProgramID] {
    defer { machine.answers = [] }
    return machine.answers
  }
  func events(of program: ProgramID) -> [(at: Instant, event: DelegateEvent)] { machine.events(of: program) }
  func locations(of program: ProgramID) -> [Location] { machine.locations(of: program) }

  func call(_ call: ClientCall, of program: ProgramID = .own) {
    withMachine { $0.core.call(call, by: ManagerID(program: program, client: Machine.client), at: $1) }
  }

  func change(_ body: (inout PositioningEngine, Moment) -> Void) {
    withMachine { machine, now in machine.core.change { body(&$0, Machine.moment(now)) } }
  }

  func add(_ program: Program) { withMachine { $0.core.add(program, at: Machine.moment($1)) } }
  func remove(_ program: ProgramID) { withMachine { machine, _ in _ = machine.core.remove(program) } }

  func setAuthorization(_ status: AuthorizationStatus, of program: ProgramID) {
    withMachine { machine, now in
      machine.core.change(program) { $0.authorizationChanged(to: Authorization.Record(status: status), at: now) }
    }
  }

  /// Ends the service normally.
  func finish() {
    withMachine { $0.core.receive(.finish, at: Machine.moment($1)) }
    run(10) { !$0.isOpen }
  }
}
