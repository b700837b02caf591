// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Glibc
import LocationService
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream
import ServiceProtocol
import SystemPackage
import Varlink

/// The sockets of the daemon: it accepts programs, answers their calls, and passes their demands to the host and the host's
/// events to them.
final class LocationServer: ServiceThreadWork {
  /// The largest number of managers, streams and sessions of one program.
  static let objectLimit = 256
  /// The time until the listener is tried again after the system has refused a descriptor.
  static let acceptInterval = Milliseconds(1000)
  /// Tokens below are those of the receivers.
  private static let firstToken: UInt32 = 1 << 20

  let host: ServiceHost
  private let listener: UnixSocket
  private let service: VarlinkService
  private(set) var connections: [UInt32: Connection] = [:]
  private var nextToken = LocationServer.firstToken + 1
  private var turns = ConnectionTurns(
    limit: ServiceLimits.turnsOfRound, tokens: LocationServer.firstToken..<GPSDServer.firstToken)
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private(set) var receivers: [ReceiverStatus] = []
  let policy: DaemonPolicy
  var questions = PermissionQuestions()
  let launcher: Launcher
  /// The users whose questions an agent shows.
  private(set) var agentUsers: Set<UInt32> = []
  private var policyRevision: Int
  let version: String
  let started: Instant
  private let manager: ServiceManager
  let gpsd: GPSDServer
  let clock: ClockServer
  private var nextWatchdog: Instant?
  private var isGoodbyeSent = false
  /// The newest location that was sent: most programs get the same one.
  private var newestSent: (location: Location, reply: [UInt8])?
  /// Whether the listener is not watched, because the system refuses a descriptor.
  private var isFull = false
  /// The time at which the listener is tried again after the system refused a descriptor; nil while it is not refused. The end of a
  /// connection does not suffice: there may be none, and the descriptors may be used by the rest of the system.
  private var acceptsAgain: Instant?
  private var nextForegroundCheck: Instant?
  /// The user of the daemon, who counts as root.
  let ownUser = geteuid()
  private var connectionShare = ServiceLimits.connections
  /// The connections with messages that wait for their next turn.
  private var unfinished: Set<UInt32> = []
  var logShare = LogShare()
  var storedChanges = RateShare(ServiceLimits.storedChanges)
  /// The lists of the users' programs, and when they were read.
  var lists: [UInt32: (read: Instant, programs: [AuthorizationStore.Entry])] = [:]
  /// What prevents the devices of receivers from being opened, and when it was found.
  var deviceFaults: [String: (read: Instant, text: String?)] = [:]
  /// The reasons for which programs of a user had no identity.
  var loggedRefusals: [UInt32: Set<PeerExecutable.Reason>] = [:]

  init(
    _ host: ServiceHost, _ listener: consuming UnixSocket, policy: DaemonPolicy, version: String,
    gpsd: (listeners: [GPSDListener], isForbidden: Bool), _ manager: ServiceManager, _ poller: inout Poller,
    at now: Instant
  ) throws {
    self.host = host
    self.policy = policy
    policyRevision = policy.revision
    self.version = version
    launcher = Launcher(host, policy, at: now)
    self.manager = manager
    started = now
    nextWatchdog = manager.watchdogMicroseconds == nil ? nil : now
    service = VarlinkService(
      vendor: "Sextant", product: "sextantd", version: version, url: "",
      interfaces: [.location, .receivers, .coreLocation, .authorization, .launch, .time])
    self.listener = listener
    let server = GPSDServer(
      host, gpsd.listeners, isForbidden: gpsd.isForbidden, policy: policy, version: version, &poller)
    self.gpsd = server
    clock = ClockServer(host, policy) { server.deliver($0, of: $1) }
    try poller.add(self.listener.descriptor, token: Poller.Token(rawValue: Self.firstToken))
  }

  var deadline: Instant? {
    if !unfinished.isEmpty { return .zero }
    var next = Instant.earlier(.earlier(nextForegroundCheck, nextWatchdog), .earlier(launcher.deadline, gpsd.deadline))
    next = .earlier(.earlier(next, clock.deadline), acceptsAgain)
    for connection in connections.values {
      if let lease = connection.lease, lease.call != nil { next = .earlier(next, lease.retryAt) }
    }
    return next
  }
  var allConnections: [Connection] { connections(where: { _ in true }) }

  /// The connections that a condition holds for, oldest first.
  func connections(where isWanted: (Connection) -> Bool) -> [Connection] {
    connections.values.filter(isWanted).sorted { $0.token.rawValue < $1.token.rawValue }
  }

  // MARK: Rounds

  func handle(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment) {
    gpsd.handle(events, &poller, at: now)
    launcher.handle(events)
    let waiting = unfinished.filter { token in !events.contains { $0 == .readable(.init(rawValue: token)) } }
    let all = events + waiting.map { .readable(Poller.Token(rawValue: $0)) }
    // What is left is reported again.
    let end = SystemClock.monotonic + ServiceLimits.turn * UInt64(ServiceLimits.turnsOfRound)
    for event in turns.take(
      all,
      user: { [connections, ownUser] token in
        connections[token].map { Share.number(of: $0.peer.credentials.user, own: ownUser) } ?? .max
      }) where SystemClock.monotonic < end
    {
      switch event {
      case .readable(let token) where token.rawValue == Self.firstToken: accept(&poller, at: now.instant)
      case .readable(let token):
        if let connection = connections[token.rawValue] { read(connection, &poller, at: now) }
      case .writable(let token):
        if let connection = connections[token.rawValue] { serve(connection, &poller, at: now) }
      case .hangUp(let token):
        if let connection = connections[token.rawValue] { close(connection, &poller, at: now) }
      case .signal, .woken, .timeout: break
      }
    }
    if let due = acceptsAgain, now.instant >= due { accept(&poller, at: now.instant) }
    if let due = nextForegroundCheck, now.instant >= due { checkForeground(at: now) }
    if let due = nextWatchdog, now.instant >= due, let limit = manager.watchdogMicroseconds {
      manager.notify("WATCHDOG=1")
      nextWatchdog = now.instant + Milliseconds(limit / 2000)
    }
  }

  /// Whether a program is in the foreground of its terminal is found out at each of its messages, and each second while a program
  /// waits for it, as no event reports it.
  private func checkForeground(at now: Moment) {
    for connection in connections.values { updateApplicationState(of: connection, at: now) }
    nextForegroundCheck = nil
  }

  /// The state of a program. By the grant `whenInUse` of its unit it is in use while the unit runs, as it has no terminal.
  func applicationState(of peer: Peer) -> ApplicationState {
    host.settings.application ?? (policy.isInUse(peer) ? .foreground : peer.applicationState)
  }

  func updateApplicationState(of connection: Connection, at now: Moment) {
    guard let program = connection.program else { return }
    let state = applicationState(of: connection.peer)
    _ = host.changeOnThread(program) { engine, now in
      if engine.application != state { engine.setApplication(state, at: now.instant) }
    }
  }

  private func accept(_ poller: inout Poller, at now: Instant) {
    do throws(Errno) {
      // Those beyond their share are closed at once: they must not keep others in the queue of the listener, or out of it.
      let end = SystemClock.monotonic + ServiceLimits.accepting
      while SystemClock.monotonic < end {
        guard let socket = try listener.accept() else { break }
        guard let credentials = socket.peer else { continue }
        let user = Share.number(of: credentials.user, own: ownUser)
        guard connectionShare.has(for: user) else {
          log(
            "user \(credentials.user) has \(connectionShare.amount(of: user)) connections; further ones are closed",
            of: credentials.user)
          continue
        }
        let token = Poller.Token(rawValue: nextToken)
        nextToken = nextToken + 1 == GPSDServer.firstToken ? Self.firstToken + 1 : nextToken + 1
        let connection = Connection(socket, credentials, token, service)
        guard (try? poller.add(connection.socket.descriptor, token: token)) != nil else { continue }
        connections[token.rawValue] = connection
        connectionShare.add(1, to: user)
      }
      acceptsAgain = nil
      setAccepting(true, &poller)
    } catch {
      // Once for a time of refusals.
      if acceptsAgain == nil {
        host.log("a program cannot be served: \(error) (raise LimitNOFILE of sextantd.service)")
      }
      acceptsAgain = now + Self.acceptInterval
      setAccepting(false, &poller)
    }
  }

  /// Watches the listener, or leaves those who connect in its queue.
  private func setAccepting(_ accepts: Bool, _ poller: inout Poller) {
    guard isFull == accepts else { return }
    isFull = !accepts
    let token = Poller.Token(rawValue: Self.firstToken)
    try? poller.change(listener.descriptor, token: token, interest: accepts ? .readable : [])
  }

  private func read(_ connection: Connection, _ poller: inout Poller, at now: Moment) {
    guard connection.varlink.wantsInput else { return serve(connection, &poller, at: now) }
    switch connection.socket.read(into: &buffer) {
    case .bytes(let count): connection.varlink.receive(buffer.span.extracting(0..<count))
    case .wouldWait: break
    case .ended: return close(connection, &poller, at: now)
    }
    serve(connection, &poller, at: now)
  }

  /// Takes what a connection has received, and writes what waits.
  private func serve(_ connection: Connection, _ poller: inout Poller, at now: Moment) {
    unfinished.remove(connection.token.rawValue)
    let end = SystemClock.monotonic + ServiceLimits.turn
    while !connection.isEnding, let event = connection.varlink.nextEvent() {
      if isOfAnotherProgram(connection) { return close(connection, &poller, at: now) }
      switch event {
      case .call(let id, let call):
        if !isRefused(call, id, connection, at: now.instant) { answer(call, id, connection, at: now) }
      case .message(let message): if !isRefused(message, connection) { receive(message, connection, at: now) }
      case .failed(let error):
        log(
          "\(connection.name) (process \(connection.peer.credentials.process)): \(error); it is disconnected",
          of: connection)
        connection.isEnding = true
      }
      if !connection.isEnding, SystemClock.monotonic >= end {
        unfinished.insert(connection.token.rawValue)
        break
      }
    }
    write(connection, &poller, at: now)
  }

  /// Whether the process of a connection executes another program than the one that the permission was given to.
  private func isOfAnotherProgram(_ connection: Connection) -> Bool {
    guard connection.peer.executesAnotherProgram else { return false }
    let process = connection.peer.credentials.process
    log("\(connection.name): its process \(process) executes another program; it is disconnected", of: connection)
    return true
  }

  private func write(_ connection: Connection, _ poller: inout Poller, at now: Moment) {
    while connection.varlink.outputBytesWaiting > 0 {
      switch connection.write() {
      case .bytes(let count): connection.varlink.didWrite(count)
      case .wouldWait: return setInterest(of: connection, &poller)
      case .ended: return close(connection, &poller, at: now)
      }
      sendUnsent(connection)
      sendUnsentLocation(connection)
    }
    if !connection.unwrittenEvents.isEmpty {
      launcher.written(connection.unwrittenEvents, to: connection)
      connection.unwrittenEvents = []
    }
    if connection.isEnding { return close(connection, &poller, at: now) }
    setInterest(of: connection, &poller)
  }

  private func setInterest(of connection: Connection, _ poller: inout Poller) {
    var interest: Poller.Interest = connection.varlink.wantsInput ? .readable : []
    if connection.varlink.outputBytesWaiting > 0 { interest.insert(.writable) }
    guard interest != connection.interest else { return }
    connection.interest = interest
    try? poller.change(connection.socket.descriptor, token: connection.token, interest: interest)
  }

  private func close(_ connection: Connection, _ poller: inout Poller, at now: Moment) {
    guard connections.removeValue(forKey: connection.token.rawValue) != nil else { return }
    connectionShare.add(-1, to: shareUser(connection))
    unfinished.remove(connection.token.rawValue)
    poller.remove(connection.socket.descriptor)
    takeRest(of: connection, at: now)
    endProgram(of: connection)
    endLease(of: connection)
    setAccepting(true, &poller)
  }

  /// Takes the calls that a program with a line sent before its end: what it has changed at the receiver.
  private func takeRest(of connection: Connection, at now: Moment) {
    while connection.lease != nil, connection.varlink.wantsInput,
      case .bytes(let count) = connection.socket.read(into: &buffer)
    {
      connection.varlink.receive(buffer.span.extracting(0..<count))
      while case .call(let id, let call)? = connection.varlink.nextEvent() { answer(call, id, connection, at: now) }
    }
  }

  /// The reply of a subscription with a location.
  func reply(with location: Location) -> [UInt8]? {
    if let newestSent, newestSent.location == location { return newestSent.reply }
    newestSent = (try? VarlinkReply.success(["location": .location(location)], continues: true).text())
      .map { (location, $0) }
    return newestSent?.reply
  }

  func endProgram(of connection: Connection) {
    if let program = connection.program {
      noteQuestion(nil, of: program, connection)
      launcher.disconnecting(connection)
      host.remove(program)
    }
    let isLaunched = connection.isCoreLocation
    connection.role = .idle
    if isLaunched { launcher.disconnected(connection, at: SystemClock.monotonic) }
    connection.outputs = []
    connection.unsentLocation = nil
  }

  func receive(_ frame: borrowing Frame, of receiver: Int, at now: Instant) {
    gpsd.receive(frame, of: receiver, at: now)
  }

  func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, at now: Moment) {
    gpsd.receive(report, sky, of: receiver, servesClock: clock.isServing && receiver == 0, at: now)
    clock.receive(report, of: receiver, at: now.instant)
  }

  func receive(_ report: SessionReport, of receiver: Int) { gpsd.changes.receive(report, of: receiver) }
  func takeCommands(for receiver: Int) -> [ClientCommand] {
    gpsd.takeCommands(for: receiver) + clock.takeBytes(for: receiver).map(ClientCommand.send)
  }
  func takeAddedDevices() -> [String] { gpsd.takeAddedDevices() }

  func roundEnded(_ poller: inout Poller, receivers: () -> [ReceiverStatus], at now: Moment) {
    self.receivers = receivers()
    // Before the clients are written to: pulses are reports.
    clock.roundEnded(self.receivers, at: now)
    gpsd.roundEnded(self.receivers, &poller, at: now)
    launcher.roundEnded(&poller, at: now.instant)
    if connections.isEmpty { return }
    launcher.launcherUsers = Set(connections.values.compactMap(\.launcherUser))
    if host.isFinishing, !isGoodbyeSent {
      isGoodbyeSent = true
      for connection in connections.values { sendGoodbye(connection) }
    }
    applyPolicy(&poller, at: now)
    var waits = false
    var asksInBackground = false
    agentUsers = Set(connections.values.compactMap(\.agentUser))
    // Questions of programs first, then the agents that get them.
    for isAgent in agentUsers.isEmpty ? [false] : [false, true] {
      // Those with a location first: the others only report changes of state.
      let ordered = connections.values.filter { ($0.agentUser != nil) == isAgent }
      for connection in ordered.filter(\.hasOutputs) + ordered.filter({ !$0.hasOutputs }) {
        let hasOutputs = connection.hasOutputs
        deliver(to: connection, at: now)
        completeLease(of: connection, at: now.instant)
        if connection.varlink.outputBytesWaiting > 0 { write(connection, &poller, at: now) }
        waits = waits || connection.program != nil
        asksInBackground = asksInBackground || connection.waitsForTerminal
        if hasOutputs, now.instant >= connection.nextCheck {
          connection.nextCheck = now.instant + Milliseconds(1000)
          if isOfAnotherProgram(connection) { close(connection, &poller, at: now) }
        }
      }
    }
    for connection in connectionsToCutOff {
      log(
        "\(connection.name) (process \(connection.peer.credentials.process)) does not read: \(connection.queuedBytes) bytes wait, "
          + "and its user has no more; it is disconnected", of: connection)
      close(connection, &poller, at: now)
    }
    if waits, host.settings.application == nil, asksInBackground || host.waitsForForeground {
      nextForegroundCheck = nextForegroundCheck ?? now.instant + Milliseconds(1000)
    } else {
      nextForegroundCheck = nil
    }
  }

  /// Disconnects the programs whose permission by the policy has changed. They connect again with the new one.
  private func applyPolicy(_ poller: inout Poller, at now: Moment) {
    let revision = policy.revision
    guard revision != policyRevision else { return }
    policyRevision = revision
    for connection in connections.values
    where connection.program != nil && policy.grant(to: connection.peer) != connection.grant {
      close(connection, &poller, at: now)
    }
  }

  private func deliver(to connection: Connection, at now: Moment) {
    switch connection.role {
    case .idle: break
    case .launcher(let call, let hasUnits): deliverUnits(to: connection, call, hasUnits)
    case .agent(let call, let user, let revision): deliverQuestions(to: connection, call, user, revision)
    case .stream:
      connection.outputs = []
      send("", count: 0, connection)
    case .subscription, .request:
      if connection.outputs.isEmpty { return }
      deliverOutputs(to: connection)
    case .coreLocation(let program, var served):
      let source = Connection.UpdateSource(
        revision: host.revision, problem: host.problem,
        hasAgent: agentUsers.contains(connection.peer.credentials.user))
      // Most rounds change nothing, and an update is made from the whole state of a program.
      if connection.outputs.isEmpty, connection.updatedFrom == source { return }
      connection.updatedFrom = source
      // Released before the change, so that the state is not copied.
      connection.role = .idle
      let outputs = connection.outputs
      connection.outputs = []
      var asked: Authorization.Prompt?
      let update = host.read(program) { engine in
        served.problem = source.problem
        asked = engine.authorization.asked
        let isShownHere = engine.application == .foreground && !source.hasAgent
        return served.update(
          connection.outputs(outputs, asked: asked, isShownHere: isShownHere), engine, at: now.utc)
      }
      connection.asked = asked
      noteQuestion(asked, of: program, connection)
      connection.role = .coreLocation(program, served)
      guard let update = update ?? nil else { return }
      connection.delivered += update.events.count
      for case .delegate(let manager, _, let ticket) in update.events where ticket.isAnswer {
        host.answerIsDelivered(to: ClientID(manager), of: program)
      }
      if served.program.version < 2 { connection.unwrittenEvents += update.waitingNumbers }
      send(update, connection)
    }
  }

  private func sendGoodbye(_ connection: Connection) {
    guard case .coreLocation = connection.role,
      let text = try? ServiceMessage.goodbye(reason: "sextantd was stopped").text()
    else { return }
    _ = connection.varlink.send(text: text)
  }

  /// Sends an update, or joins it with those that the program has not read (SU-16).
  private func send(_ update: ServiceUpdate, _ connection: Connection) {
    if connection.unsent != nil {
      connection.unsent!.join(update)
      connection.dropped += 1
      return
    }
    guard let text = try? ServiceMessage.update(update).text() else { return }
    if connection.varlink.send(text: text) == .full { connection.unsent = update }
  }

  private func sendUnsent(_ connection: Connection) {
    guard let update = connection.unsent else { return }
    connection.unsent = nil
    send(update, connection)
  }
}
