// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream
import SerialPort
import SystemPackage

/// The sockets of the daemon: accepts programs, answers their calls, passes their demands to the host, and passes the
/// host's events to them.
final class LocationServer: ServiceThreadWork {
  /// Lower tokens belong to the receivers.
  private static let firstToken: UInt32 = 1 << 20

  let host: ServiceHost
  private let listener: UnixSocket
  private let service: VarlinkService
  private(set) var connections: [UInt32: Connection] = [:]
  private var nextToken = LocationServer.firstToken + 1
  private var turns = ConnectionTurns(limit: ServiceLimits.turnsOfRound)
  /// The turns of the programs whose state has changed without an event for them.
  private var updateTurns = ConnectionTurns(limit: ServiceLimits.turnsOfRound)
  /// Whether such programs wait for the next round.
  private var hasLateUpdates = false
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private(set) var receivers: [ReceiverStatus] = []
  /// The pace of the odometers' measurements for each receiver.
  var odometers: [Int: OdometerPacing] = [:]
  let policy: DaemonPolicy
  var questions = PermissionQuestions()
  let launcher: Launcher
  /// The users whose prompts an agent shows.
  private(set) var agentUsers: Set<UInt32> = []
  private var policyRevision: Int
  let version: String
  let started: Instant
  private var systemd: Systemd
  let gpsd: GPSDServer
  let clock: ClockServer
  private var isGoodbyeSent = false
  /// The newest sent location: most programs get the same one.
  private var newestSent: (location: Location, reply: [UInt8])?
  /// Waiting for the end of a connection is not enough: there may be none, and the rest of the system may use the descriptors.
  private var pause = AcceptPause()
  /// When the states of programs were checked, and when they are to be checked again if nothing else happens.
  private var foregroundChecked: Instant?
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
  /// The faults that prevent opening receivers' devices, with the time of the check.
  var deviceFaults: [String: (read: Instant, text: String?)] = [:]
  /// The reasons why programs of a user had no identity.
  var loggedRefusals: [UInt32: Set<PeerExecutable.Reason>] = [:]

  init(
    _ host: ServiceHost, _ listener: consuming UnixSocket, policy: DaemonPolicy, version: String,
    gpsd: (listeners: [GPSDListener], isForbidden: Bool), _ systemd: Systemd, _ poller: inout Poller,
    at now: Instant
  ) throws {
    self.host = host
    self.policy = policy
    policyRevision = policy.revision
    self.version = version
    launcher = Launcher(host, policy, at: now)
    self.systemd = systemd
    started = now
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
    if !unfinished.isEmpty || hasLateUpdates || !receiversToFree.isEmpty { return .zero }
    var next = Instant.earlier(
      .earlier(nextForegroundCheck, systemd.watchdogDeadline), .earlier(launcher.deadline, gpsd.deadline))
    next = .earlier(.earlier(next, clock.deadline), pause.deadline)
    for connection in connections.values {
      if let lease = connection.lease, lease.call != nil, receivers.indices.contains(lease.receiver),
        receivers[lease.receiver].use == .lent
      {
        next = .earlier(next, lease.retryAt)
      }
    }
    return next
  }
  var allConnections: [Connection] { connections(where: { _ in true }) }

  /// The connections that satisfy a condition, oldest first.
  func connections(where isWanted: (Connection) -> Bool) -> [Connection] {
    connections.values.filter(isWanted).sorted { $0.token.rawValue < $1.token.rawValue }
  }

  // MARK: Rounds

  func handle(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment) {
    // Before the receivers' bytes, which the caller handles next: a program in the background gets none of their positions.
    if foregroundChecked.map({ now.instant >= $0 + Self.foregroundInterval }) ?? true { checkForeground(at: now) }
    gpsd.beginRound(events, &poller, at: now)
    launcher.handle(events)
    // Before the turns: it is cheap, and a user who connects continuously would block others in the queue of the
    // listener.
    let isCalled = events.contains { $0.connection?.rawValue == Self.firstToken }
    if pause.end(at: now.instant) { watchListener(&poller) }
    if isCalled { accept(&poller, while: events, at: now.instant) }
    serve(events, &poller, at: now)
    gpsd.endRound(&poller, at: now)
    systemd.pingWatchdog(at: now.instant)
  }

  /// Serves ready connections of both kinds, each user in turn. The poller reports the remaining ones again.
  private func serve(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment) {
    var ready: [UInt32: [Poller.Event]] = [:]
    for event in events {
      guard let token = event.connection?.rawValue, user(of: token) != nil else { continue }
      ready[token, default: []].append(event)
    }
    for token in unfinished { ready[token] = ready[token] ?? [.readable(Poller.Token(rawValue: token))] }
    let end = SystemClock.monotonic + ServiceLimits.round
    for turn in turns.order(ready.keys, user: { user(of: $0) ?? 0 }) {
      if turn.isFurther, SystemClock.monotonic >= end { break }
      turns.served(turn)
      for event in ready[turn.token] ?? [] { handle(event, &poller, at: now) }
    }
  }

  /// The user of a connection in the shares; nil for another token.
  private func user(of token: UInt32) -> UInt32? {
    token >= GPSDServer.firstToken ? gpsd.clients[token]?.user : connections[token].map { shareUser($0) }
  }

  private func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Moment) {
    guard let token = event.connection?.rawValue else { return }
    if token >= GPSDServer.firstToken { return gpsd.handle(event, of: token, &poller, at: now) }
    guard let connection = connections[token] else { return }
    switch event {
    case .readable: read(connection, &poller, at: now)
    case .writable: serve(connection, &poller, at: now)
    case .hangUp: close(connection, &poller, at: now)
    case .signal, .woken, .timeout: break
    }
  }

  /// The shortest time between two checks of the states of programs; a receiver's bytes cause many rounds.
  private static let foregroundInterval = Milliseconds(200)

  /// Checks whether the programs whose events depend on it are in the foreground of their terminals. No event reports a
  /// change: the check is made at each message of a program, before the bytes of receivers, and every second while a
  /// program waits for the foreground.
  private func checkForeground(at now: Moment) {
    foregroundChecked = now.instant
    nextForegroundCheck = nil
    guard host.settings.application == nil, !connections.isEmpty else { return }
    let dependent = host.dependentOnApplication
    for connection in connections.values {
      let isDependent = connection.program.map(dependent.contains) ?? false
      if isDependent || connection.waitsForTerminal { updateApplicationState(of: connection, at: now) }
    }
  }

  /// The state of a program. With the grant `whenInUse` for its unit it is in use while the unit runs, because it has
  /// no terminal.
  func applicationState(of peer: Peer) -> ApplicationState {
    host.settings.application ?? (policy.isInUse(peer) ? .foreground : peer.applicationState)
  }

  func updateApplicationState(of connection: Connection, at now: Moment) {
    guard let program = connection.program else { return }
    host.setApplication(applicationState(of: connection.peer), of: program, at: now.instant)
  }

  /// - Parameter events: the events of the round, which are served afterwards.
  private func accept(_ poller: inout Poller, while events: [Poller.Event], at now: Instant) {
    let servesAdministrator = hasAdministrators(events)
    do throws(Errno) {
      // Connections beyond their share are closed at once: they must not block others in the queue of the listener, or
      // keep them out of it. The administrator's connections wait in the queue while other connections of the
      // administrator are served: a script with many consecutive calls may close them faster than they get turns.
      for _ in 0..<ServiceLimits.acceptsOfRound {
        if servesAdministrator, !connectionShare.has(for: 0) { break }
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
      pause.accepted()
    } catch {
      if pause.begin(at: now) {
        host.log("a program cannot be served: \(error) (raise LimitNOFILE of sextantd.service)")
      }
      watchListener(&poller)
    }
  }

  /// Whether any of the events belongs to a connection of the administrator.
  private func hasAdministrators(_ events: [Poller.Event]) -> Bool {
    events.contains { event in
      event.connection.flatMap { connections[$0.rawValue] }.map { shareUser($0) == 0 } ?? false
    }
  }

  /// Watches the listener, or leaves new connections in its queue.
  private func watchListener(_ poller: inout Poller) {
    try? poller.change(
      listener.descriptor, token: Poller.Token(rawValue: Self.firstToken), interest: pause.interest)
  }

  private func read(_ connection: Connection, _ poller: inout Poller, at now: Moment) {
    guard connection.wantsInput else { return serve(connection, &poller, at: now) }
    switch connection.socket.read(into: &buffer) {
    case .bytes(let count): connection.varlink.receive(buffer.span.extracting(0..<count))
    case .wouldWait: break
    case .ended: connection.hasInputEnded = true
    }
    serve(connection, &poller, at: now)
  }

  /// Reads the received bytes of a connection, and writes the pending ones.
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
          "\(connection.name) (process \(connection.credentials.process)): \(error); it is disconnected",
          of: connection)
        connection.isEnding = true
      }
      if SystemClock.monotonic >= end { break }
    }
    write(connection, &poller, at: now)
  }

  /// Whether the process of a connection executes a different program from the one that got the permission.
  private func isOfAnotherProgram(_ connection: Connection) -> Bool {
    guard connection.executesAnotherProgram else { return false }
    let process = connection.credentials.process
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
    if connection.isOver { return close(connection, &poller, at: now) }
    setInterest(of: connection, &poller)
  }

  /// Requests the next turn of a connection: for received calls, or when the socket is ready.
  private func setInterest(of connection: Connection, _ poller: inout Poller) {
    // A late reply, or written output, admits the next received call, for which the socket has no event.
    if !connection.isEnding, connection.varlink.hasEvent { unfinished.insert(connection.token.rawValue) }
    var interest: Poller.Interest = connection.wantsInput ? .readable : []
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
    if pause.endEarly() { watchListener(&poller) }
  }

  /// Handles the calls that a program with a line sent before it ended: they record its changes of the receiver.
  private func takeRest(of connection: Connection, at now: Moment) {
    while connection.lease != nil {
      while case .call(let id, let call)? = connection.varlink.nextEvent() { answer(call, id, connection, at: now) }
      guard connection.wantsInput, case .bytes(let count) = connection.socket.read(into: &buffer) else { return }
      connection.varlink.receive(buffer.span.extracting(0..<count))
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
    gpsd.receive(report, sky, of: receiver, servesClock: clock.serves(receiver), at: now)
    clock.receive(report, of: receiver, at: now.instant)
  }

  func receive(_ report: SessionReport, of receiver: Int) { gpsd.changes.receive(report, of: receiver) }
  func takeCommands(for receiver: Int) -> [ClientCommand] {
    gpsd.takeCommands(for: receiver) + clock.takeBytes(for: receiver).map(ClientCommand.send)
  }
  func takeAddedDevices() -> [PinnedDevice] { gpsd.takeAddedDevices() }

  /// The receivers that were added and removed through the control socket, are restored, and have a place that no program uses.
  private var receiversToFree: [Int] { gpsd.removableReceivers.filter { holder(of: $0) == nil } }

  func takeRemovedReceivers() -> [Int] {
    let numbers = receiversToFree
    for number in numbers {
      gpsd.forget(number)
      odometers[number] = nil
      // The next receiver in this place may be one that the client may not read.
      endStreams(of: number)
    }
    return numbers
  }

  func roundEnded(_ poller: inout Poller, receivers: () -> [ReceiverStatus], at now: Moment) {
    self.receivers = receivers()
    // Before writing to the clients: pulses are reports.
    clock.roundEnded(self.receivers, at: now)
    gpsd.roundEnded(self.receivers, &poller, at: now)
    for number in gpsd.takeReturnedReceivers() where holder(of: number) == nil { host.takeBack(receiver: number) }
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
    for connection in connectionsOfRound {
      let hasOutputs = connection.hasOutputs
      deliver(to: connection, at: now)
      completeLease(of: connection, at: now.instant)
      if connection.varlink.outputBytesWaiting > 0 { write(connection, &poller, at: now) }
      if hasOutputs, now.instant >= connection.nextCheck {
        connection.nextCheck = now.instant + Milliseconds(1000)
        if isOfAnotherProgram(connection) { close(connection, &poller, at: now) }
      }
    }
    deliverUpdates(&poller, at: now)
    for connection in connections.values {
      waits = waits || connection.program != nil
      asksInBackground = asksInBackground || connection.waitsForTerminal
    }
    // After the prompts of programs.
    for connection in connections.values where connection.agentUser != nil {
      deliver(to: connection, at: now)
      if connection.varlink.outputBytesWaiting > 0 { write(connection, &poller, at: now) }
    }
    for connection in connectionsToCutOff {
      log(
        "\(connection.name) (process \(connection.credentials.process)) does not read: \(connection.queuedBytes) bytes wait, "
          + "and its user has no more; it is disconnected", of: connection)
      close(connection, &poller, at: now)
    }
    if waits, host.settings.application == nil, asksInBackground || host.waitsForForeground {
      nextForegroundCheck = nextForegroundCheck ?? now.instant + Milliseconds(1000)
    } else {
      nextForegroundCheck = nil
    }
  }

  /// The connections that a round writes to at once; those with a location come first.
  private var connectionsOfRound: [Connection] {
    let all = connections.values.filter {
      $0.agentUser == nil && (!$0.isCoreLocation || $0.hasOutputs || $0.varlink.outputBytesWaiting > 0)
    }
    return all.filter(\.hasOutputs) + all.filter { !$0.hasOutputs }
  }

  /// Sends changes of state that are not caused by an event. A program's update is made from its whole state; therefore
  /// users take turns, and the remaining programs wait for the next round.
  private func deliverUpdates(_ poller: inout Poller, at now: Moment) {
    let (revision, problem) = (host.revision, host.problem)
    let late = connections.values.filter { connection in
      connection.isCoreLocation && connection.updatedFrom != source(for: connection, revision, problem)
    }
    let end = SystemClock.monotonic + ServiceLimits.round
    let turns = updateTurns.order(late.map(\.token.rawValue), user: { connections[$0].map { shareUser($0) } ?? 0 })
    var count = 0
    for turn in turns {
      if turn.isFurther, SystemClock.monotonic >= end { break }
      updateTurns.served(turn)
      count += 1
      guard let connection = connections[turn.token] else { continue }
      deliver(to: connection, at: now)
      if connection.varlink.outputBytesWaiting > 0 { write(connection, &poller, at: now) }
    }
    hasLateUpdates = count < late.count
  }

  private func source(
    for connection: Connection, _ revision: UInt64, _ problem: ReceiverProblem?
  ) -> Connection.UpdateSource {
    Connection.UpdateSource(
      revision: revision, problem: problem, hasAgent: agentUsers.contains(connection.credentials.user),
      losesState: host.losesState)
  }

  /// Disconnects the programs whose permission in the policy has changed. They reconnect with the new one.
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
      let source = source(for: connection, host.revision, host.problem)
      // Most rounds change nothing, and an update is expensive: it is made from the whole state of a program.
      if connection.outputs.isEmpty, connection.updatedFrom == source { return }
      connection.updatedFrom = source
      // Released before the change, to avoid a copy of the state.
      connection.role = .idle
      let outputs = connection.outputs
      connection.outputs = []
      var asked: Authorization.Prompt?
      let update = host.read(program) { engine in
        served.problem = source.problem
        served.losesState = source.losesState
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

  /// Sends an update, or merges it with the program's unread updates (SU-16).
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

/// The order in which a round serves the ready connections, so that a user with many connections does not delay others:
/// each user has one turn, root first, and further turns while time is left. The ready connections of a user take
/// turns.
struct ConnectionTurns {
  /// The turn of a connection.
  struct Turn: Equatable {
    let token: UInt32
    let user: UInt32
    /// Whether its user has an earlier turn in the round. Such a turn can be skipped: the connection is then the next
    /// one of its user.
    let isFurther: Bool
  }

  /// The largest number of turns in a round.
  let limit: Int
  /// The token that had the last turn, for each user.
  private var last: [UInt32: UInt32] = [:]
  /// The user, other than root, that had the last turn.
  private var lastUser: UInt32 = 0

  init(limit: Int) { self.limit = limit }

  /// Returns the turns of a round. The caller must call `served` for each used turn.
  ///
  /// - Parameters:
  ///   - ready: the tokens of the connections that are ready.
  ///   - user: returns the user of a token in the shares; 0 is root.
  mutating func order(_ ready: some Sequence<UInt32>, user: (UInt32) -> UInt32) -> [Turn] {
    var waiting: [UInt32: [UInt32]] = [:]
    for token in ready { waiting[user(token), default: []].append(token) }
    for (user, tokens) in waiting where tokens.count > 1 {
      let start = last[user] ?? 0
      // The next one is at the end.
      waiting[user] = tokens.sorted { $0 &- start &- 1 > $1 &- start &- 1 }
    }
    last = last.filter { waiting[$0.key] != nil }
    let users = waiting.keys.sorted { [lastUser] a, b in
      a == 0 || b == 0 ? a == 0 && b != 0 : a &- lastUser &- 1 < b &- lastUser &- 1
    }
    var turns: [Turn] = []
    var isFurther = false
    while turns.count < limit {
      let count = turns.count
      for user in users where turns.count < limit {
        guard let token = waiting[user]?.popLast() else { continue }
        turns.append(Turn(token: token, user: user, isFurther: isFurther))
      }
      if turns.count == count { break }
      isFurther = true
    }
    return turns
  }

  /// Records that a turn was used.
  mutating func served(_ turn: Turn) {
    last[turn.user] = turn.token
    if turn.user != 0 { lastUser = turn.user }
  }
}
