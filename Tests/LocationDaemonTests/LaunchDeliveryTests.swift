// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

@testable import sextantd

/// Events that wait for a program until its delegate has them, with a daemon and a program that are killed in between.
@Suite("Events that wait for a program are delivered once")
struct LaunchDeliveryTests {
  /// A daemon with its disk, and a program, in steps, each of which may be the last step of its process.
  struct Scene {
    enum Client { case present, oneVersionOlder }

    struct Daemon {
      var launch: ProgramLaunch
      var engine: PositioningEngine
      var served: ServedProgram?
      /// Numbers in the written updates, if the program does not acknowledge events.
      var written: [Int] = []
    }

    struct Running {
      var mirror = ProgramMirror(application: .background, at: .zero)
      var queue: [(event: DelegateEvent, ticket: Ticket)] = []
      var manager: ClientID?
      /// Messages that the program still has to send, in order.
      var calls: [ClientCall]
      var opensMonitor = true
      /// Whether it handles an event of the monitor.
      var isHandling = false
    }

    static let region = Region(
      "home", .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)))
    static let connection: UInt32 = 7
    private static let now = Moment(.zero, utc: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000))

    let client: Client
    // The disk.
    var record: LaunchRecord
    var regions = [Regions.Record(Scene.region, state: .outside)]
    var visits = Visits.Record(isRunning: true, current: nil)
    var monitor: [Monitor.Record]
    // The processes.
    var daemon: Daemon?
    var program: Running?
    /// The bytes in the socket's buffers: the bytes of a killed process can still be read.
    var toDaemon: [ClientMessage] = []
    var toProgram: [ServiceUpdate] = []
    /// The events received by the delegate and by the reader of the monitor.
    var received: [String] = []

    init(_ client: Client, _ waiting: [WaitingEvent]) {
      self.client = client
      record = LaunchRecord(unit: .system("hike.service"), executable: nil, keys: UsageKeys())
      record.waiting = zip(1..., waiting).map { NumberedEvent(number: $0, $1) }
      let start = Monitor.Event(identifier: "yard", state: .unsatisfied, date: Self.now.utc)
      monitor = [Monitor.Record(condition: Self.region.shape, lastEvent: start)]
    }

    private func engine() -> PositioningEngine {
      var restored = PositioningEngine.Restored()
      restored.authorization = Authorization.Record(status: .authorizedAlways)
      restored.regions = regions
      restored.visits = visits
      let host = HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
      return PositioningEngine(
        keys: UsageKeys(), hostCapabilities: host, application: .background, restored: restored, at: .zero)
    }

    // MARK: Steps

    /// The next step of the daemon. Returns false if there is none.
    mutating func stepDaemon() -> Bool {
      guard var daemon else {
        let launch = ProgramLaunch(waiting: record.waiting, isStopped: false, at: .zero)
        self.daemon = Daemon(launch: launch, engine: engine())
        return true
      }
      defer { if self.daemon != nil { self.daemon = daemon } }
      if !daemon.written.isEmpty {
        daemon.launch.taken(daemon.written)
        daemon.written = []
        record.waiting = daemon.launch.waiting
        return true
      }
      guard var served = daemon.served else { return connect(&daemon) }
      defer { if daemon.served != nil { daemon.served = served } }
      if !toDaemon.isEmpty {
        let message = toDaemon.removeFirst()
        let stored = monitor
        served.receive(message, &daemon.engine, records: { _ in stored }, at: Self.now)
        if message.action.losesDelegate { daemon.launch.returned(from: Self.connection) }
        if case .takeWaitingEvent(let number) = message.action { daemon.launch.taken([number]) }
        daemon.launch.deliver(to: Self.connection, &daemon.engine, at: .zero)
        record.waiting = daemon.launch.waiting
        return true
      }
      return endRound(&daemon, &served)
    }

    /// The end of a round: changes are stored, the launch record last, then the program gets its update.
    private mutating func endRound(_ daemon: inout Daemon, _ served: inout ServedProgram) -> Bool {
      let outputs = daemon.engine.outputs
      if outputs.contains(.store(.monitor("work"))) {
        let records = daemon.engine.monitor("work")?.records ?? []
        if monitor != records {
          monitor = records
          return true
        }
      }
      var launch = daemon.launch
      launch.takenFromMonitors(of: Self.connection, daemon.engine, at: Self.now.utc)
      if launch != daemon.launch {
        daemon.launch = launch
        record.waiting = launch.waiting
        return true
      }
      daemon.engine.outputs = []
      guard let update = served.update(outputs, daemon.engine, at: Self.now.utc) else { return false }
      toProgram.append(client == .present ? update : update.withoutNumbers)
      if served.program.version < 2 { daemon.written = update.waitingNumbers }
      return true
    }

    private mutating func connect(_ daemon: inout Daemon) -> Bool {
      guard var running = program, !running.mirror.isOpen else { return false }
      var request = running.mirror.openRequest(identifier: "hike", keys: UsageKeys(), showsPrompts: false)
      request.version = client == .present ? ServiceVersion.current : ServiceVersion.current - 1
      _ = daemon.launch.connected()
      daemon.engine = engine()
      daemon.engine.assume(daemon.launch.events, at: .zero)
      let served = ServedProgram(request, daemon.engine)
      daemon.served = served
      _ = running.mirror.opened(served.reply(serviceVersion: ""), at: .zero)
      program = running
      return true
    }

    /// The next step of the program. Returns false if there is none.
    mutating func stepProgram() -> Bool {
      guard var running = program else {
        program = Running(calls: [.setDelegate([.takesLocations]), .startSignificantChanges])
        return true
      }
      defer { program = running }
      if !running.mirror.messages.isEmpty, running.mirror.isOpen {
        toDaemon.append(running.mirror.messages.removeFirst())
        return true
      }
      if !toProgram.isEmpty {
        running.mirror.receive(.update(toProgram.removeFirst()), at: .zero)
        for case .deliver(_, let event, let ticket) in running.mirror.outputs { running.queue.append((event, ticket)) }
        running.mirror.outputs = []
        return true
      }
      guard running.mirror.isOpen || running.manager != nil else { return false }
      return call(&running)
    }

    /// The program's own code: its next call, or its next event.
    private mutating func call(_ running: inout Running) -> Bool {
      guard let manager = running.manager else {
        running.manager = running.mirror.addManager()
        return true
      }
      if !running.calls.isEmpty {
        running.mirror.call(running.calls.removeFirst(), by: manager, at: .zero)
        return true
      }
      if running.opensMonitor {
        running.opensMonitor = false
        running.mirror.openMonitor("work")
        return true
      }
      if !running.queue.isEmpty {
        let (event, ticket) = running.queue.removeFirst()
        let isCurrent = running.mirror.beginDelivery(of: event, ticket, to: manager)
        // The message is in the socket before the delegate has the event.
        toDaemon += running.mirror.isOpen ? running.mirror.messages : []
        if running.mirror.isOpen { running.mirror.messages = [] }
        if isCurrent { receive(event) }
        return true
      }
      let event = running.mirror.takeEvent(of: "work")
      running.isHandling = event != nil
      let messages = running.mirror.isOpen ? running.mirror.messages : []
      toDaemon += messages
      if running.mirror.isOpen { running.mirror.messages = [] }
      if let event { received.append("\(event.identifier) \(event.state)") }
      return event != nil || !messages.isEmpty
    }

    private mutating func receive(_ event: DelegateEvent) {
      switch event {
      case .didEnter(let region): received.append("entered \(region.identifier)")
      case .didExit(let region): received.append("left \(region.identifier)")
      case .didVisit: received.append("visit")
      case .didUpdateLocations(let locations):
        received += locations.map { "at \($0.coordinate.latitudeDegrees)" }
      default: break
      }
    }

    /// - Parameter reads: whether the program reads what the daemon has written.
    mutating func killDaemon(programReads reads: Bool) {
      daemon = nil
      while reads, !toProgram.isEmpty { _ = stepProgram() }
      (toDaemon, toProgram) = ([], [])
      program?.mirror.connectionLost(at: .zero)
    }

    mutating func killProgram() {
      program = nil
      toProgram = []
      // The daemon reads the bytes in the socket before the end of the connection.
      while daemon?.served != nil, !toDaemon.isEmpty { _ = stepDaemon() }
      toDaemon = []
      guard var daemon, let served = daemon.served else { return }
      while daemon.engine.outputs.contains(.store(.monitor("work"))) {
        var served = served
        if !endRound(&daemon, &served) { break }
      }
      daemon.launch.returned(from: Self.connection)
      daemon.launch.disconnected(at: .zero)
      daemon.served = nil
      self.daemon = daemon
      toProgram = []
    }

    mutating func finish() {
      for _ in 0..<1000 where !(stepDaemon() || stepProgram()) { return }
      Issue.record("it does not end")
    }
  }

  private static func location(_ degrees: Double) -> Location {
    Location(
      Coordinate(latitudeDegrees: degrees, longitudeDegrees: 11), horizontalAccuracyMetres: 5,
      timestamp: .init(nanosecondsSince1970: Int64(degrees * 1e9)))
  }

  static let waiting: [WaitingEvent] = [
    .delegate(.didEnter(Scene.region)), .delegate(.didUpdateLocations([location(48.1)])),
    .delegate(.didExit(Scene.region)), .delegate(.didUpdateLocations([location(48.2)])),
    .delegate(
      .didVisit(
        Visit(
          arrival: nil, departure: nil, coordinate: location(48).coordinate, horizontalAccuracyMetres: 50))),
    .monitor("work", Monitor.Event(identifier: "yard", state: .satisfied, date: location(48).timestamp)),
  ]
  static let expected = ["at 48.1", "at 48.2", "entered home", "left home", "visit", "yard satisfied"]

  /// Performs steps of both in a random order. Returns their number.
  private static func run(
    _ scene: inout Scene, steps: Int, _ random: inout SeededRandomNumberGenerator
  ) -> Int {
    for step in 0..<steps {
      let isDaemonFirst = Bool.random(using: &random)
      let isDone = isDaemonFirst ? scene.stepDaemon() || scene.stepProgram() : scene.stepProgram() || scene.stepDaemon()
      if !isDone { return step }
    }
    return steps
  }

  /// Calls `body` with a scene after each number of steps in the order of this seed, with that number and the number of
  /// all steps.
  private static func afterEachStep(
    _ client: Scene.Client, _ seed: UInt64,
    _ body: (_ scene: inout Scene, _ step: Int, _ steps: Int, _ random: inout SeededRandomNumberGenerator) -> Void
  ) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var all = Scene(client, waiting)
    let steps = run(&all, steps: 1000, &random)
    #expect(steps > 30)
    for step in 0..<steps {
      var random = SeededRandomNumberGenerator(seed: seed)
      var scene = Scene(client, waiting)
      _ = run(&scene, steps: step, &random)
      body(&scene, step, steps, &random)
    }
  }

  @Test("Without a fault each event comes once, the oldest first of each kind", arguments: 0..<10)
  func undisturbed(_ seed: UInt64) {
    for client in [Scene.Client.present, .oneVersionOlder] {
      var random = SeededRandomNumberGenerator(seed: seed)
      var scene = Scene(client, Self.waiting)
      _ = Self.run(&scene, steps: 1000, &random)
      #expect(scene.received.sorted() == Self.expected)
      #expect(scene.received.filter { $0.hasSuffix("home") } == ["entered home", "left home"])
      #expect(scene.record.waiting.isEmpty)
    }
  }

  @Test("Nothing is lost and nothing comes twice if the daemon is killed at any step", arguments: 0..<10)
  func daemonIsKilled(_ seed: UInt64) {
    for reads in [false, true] {
      Self.afterEachStep(.present, seed) { scene, kill, steps, random in
        scene.killDaemon(programReads: reads)
        // And once more in between.
        _ = Self.run(&scene, steps: Int.random(in: 0..<steps, using: &random), &random)
        scene.killDaemon(programReads: !reads)
        scene.finish()
        #expect(scene.received.sorted() == Self.expected, "killed after step \(kill), reads \(reads)")
        #expect(scene.record.waiting.isEmpty)
      }
    }
  }

  @Test(
    "MO-5 nothing is lost if the program is killed at any step, and only a condition's event that it was handling comes twice",
    arguments: 0..<10)
  func programIsKilled(_ seed: UInt64) {
    Self.afterEachStep(.present, seed) { scene, kill, _, _ in
      let again = scene.program?.isHandling == true ? ["yard satisfied"] : []
      scene.killProgram()
      scene.finish()
      #expect(scene.received.sorted() == (Self.expected + again).sorted(), "killed after step \(kill)")
      #expect(scene.record.waiting.isEmpty)
    }
  }

  @Test("A program of the version before loses nothing; only a kill just after the write repeats", arguments: 0..<10)
  func olderProgram(_ seed: UInt64) {
    Self.afterEachStep(.oneVersionOlder, seed) { scene, kill, _, _ in
      let isBetween = scene.daemon?.written.isEmpty == false
      scene.killDaemon(programReads: true)
      scene.finish()
      #expect(Set(scene.received).sorted() == Self.expected, "killed after step \(kill)")
      #expect(isBetween || scene.received.count == Self.expected.count, "killed after step \(kill)")
      #expect(scene.record.waiting.isEmpty)
    }
  }

  @Test("An event that was on its way to a manager without a delegate waits for the next one")
  func delegateIsGone() throws {
    var scene = Scene(.present, [.delegate(.didEnter(Scene.region))])
    scene.program = Scene.Running(calls: [.setDelegate([])])
    while scene.program?.queue.contains(where: { $0.ticket.waitingNumber != nil }) != true {
      guard scene.stepDaemon() || scene.stepProgram() else { return #expect(Bool(false), "it was not sent") }
    }
    scene.program?.calls = [.setDelegate(nil)]
    scene.finish()
    #expect(scene.received.isEmpty && scene.record.waiting.count == 1)
    scene.program?.calls = [.setDelegate([])]
    scene.finish()
    #expect(scene.received == ["entered home"] && scene.record.waiting.isEmpty)
  }

  @Test("An event of a region that the program no longer monitors is taken, and not delivered")
  func regionIsGone() {
    var scene = Scene(.present, [.delegate(.didEnter(Scene.region))])
    scene.program = Scene.Running(calls: [.stopMonitoring(Scene.region), .setDelegate([])])
    scene.finish()
    #expect(scene.received.isEmpty && scene.record.waiting.isEmpty)
  }

  @Test("A service one version older gets no message that it does not have")
  func olderService() {
    var mirror = ProgramMirror(application: .background, at: .zero)
    var reply = OpenReply(serviceVersion: "", state: ProgramState())
    reply.version = ServiceVersion.current - 1
    _ = mirror.opened(reply, at: .zero)
    let manager = mirror.addManager()
    mirror.call(.setDelegate([]), by: manager, at: .zero)
    mirror.messages = []
    var ticket = Ticket.unrecalled
    ticket.waitingNumber = 4
    let isCurrent = mirror.beginDelivery(of: .didEnter(Scene.region), ticket, to: manager)
    #expect(!isCurrent && mirror.messages.isEmpty)
  }
}

extension ServiceUpdate {
  /// The update as a program of version 1 reads it.
  fileprivate var withoutNumbers: ServiceUpdate {
    var update = self
    update.events = events.map { event in
      guard case .delegate(let manager, let event, var ticket) = event else { return event }
      ticket.waitingNumber = nil
      return .delegate(manager: manager, event, ticket)
    }
    return update
  }
}
