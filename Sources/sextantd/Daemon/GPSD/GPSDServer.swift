// SPDX-License-Identifier: Apache-2.0

import GPSD
import Glibc
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import SystemPackage
import WireBytes

/// The sockets for clients of gpsd, on the service's thread. A watching client is a manager of one program of the host,
/// named gpsd, because TCP does not identify a user.
final class GPSDServer {
  /// The first token; the daemon's other connections have lower tokens.
  static let firstToken: UInt32 = 1 << 30
  /// Tokens of listeners, before those of clients.
  static let listenerTokens: UInt32 = 64

  let host: ServiceHost
  private let policy: DaemonPolicy
  private var policyRevision: Int
  /// Listeners of the command line and of the service manager.
  private let given: [GPSDListener]
  private let isForbidden: Bool
  private var listeners: [UInt32: (socket: UnixSocketHandle, kind: GPSDClient.Kind)] = [:]
  /// The tokens of the listeners that the policy has opened.
  private var ofPolicy: [UInt32] = []
  private(set) var clients: [UInt32: GPSDConnection] = [:]
  private var nextToken = GPSDServer.firstToken + GPSDServer.listenerTokens
  var state: GPSDState
  private var program: (id: ProgramID, receiver: GPSDProgram)?
  /// The content of the next reports of an epoch in addition to the fix, keyed by receiver number.
  var details: [Int: FrameDetails] = [:]
  /// The arrival of epochs by receiver, while a client wants TOFF.
  var arrivals: [Int: EpochArrivals] = [:]
  /// Its size limits the requests of a client that are served in a turn: a few dozen.
  private var buffer = [UInt8](repeating: 0, count: 256)
  var clientShare = ServiceLimits.clients
  var logShare = LogShare()
  private var pause = AcceptPause()
  var commands: [Int: [ClientCommand]] = [:]
  var changes = DeviceChanges()
  private(set) var receivers: [ReceiverStatus] = []
  /// The numbers of the receivers that are released for other programs.
  var removed: Set<Int> = []
  /// The numbers of those that are added again; the service takes their lines back, unless a program has them.
  var returned: Set<Int> = []
  /// The devices to use from now on.
  var added: [PinnedDevice] = []
  private let announcer: NMEAAnnouncer?

  /// - Parameters:
  ///   - isForbidden: whether the command line switches gpsd's protocol off, regardless of the policy.
  init(
    _ host: ServiceHost, _ given: [GPSDListener], isForbidden: Bool, policy: DaemonPolicy, version: String,
    _ poller: inout Poller
  ) {
    self.host = host
    self.given = given
    self.isForbidden = isForbidden
    self.policy = policy
    policyRevision = policy.revision
    state = GPSDState(release: version)
    announcer = NMEAAnnouncer(given, log: { host.log($0) })
    for listener in given { add(listener, &poller) }
    applyPolicy(&poller)
  }

  var deadline: Instant? {
    // Commands that result from a reply of a receiver.
    if !commands.isEmpty { return .zero }
    var next = Instant.earlier(.earlier(changes.deadline, announcer?.deadline), pause.deadline)
    for client in clients.values {
      next = .earlier(next, client.client.deadline)
      if !changes.isAwaited(by: client.token) { next = .earlier(next, client.idleEnd) }
    }
    return next
  }

  // MARK: Listeners

  /// Whether clients of gpsd are served: policy `off` forbids it, otherwise a given socket or policy `on` allows it.
  private var serves: Bool { !isForbidden && policy.servesGPSD != false }

  /// The token of a new listener; nil if all are in use. A change of the policy closes listeners, and their tokens are free again.
  static func freeListenerToken(_ used: some Collection<UInt32>) -> UInt32? {
    (firstToken..<firstToken &+ listenerTokens).first { !used.contains($0) }
  }

  @discardableResult
  private func add(_ listener: GPSDListener, _ poller: inout Poller) -> UInt32? {
    guard let token = Self.freeListenerToken(listeners.keys) else {
      host.log("more than \(Self.listenerTokens) sockets for gpsd's clients; the others are closed")
      listener.close()
      return nil
    }
    let handle = UnixSocketHandle(listener.descriptor)
    guard (try? poller.add(listener.descriptor, token: Poller.Token(rawValue: token))) != nil else { return nil }
    listeners[token] = (handle, listener.kind)
    return token
  }

  /// Opens and closes the sockets as the policy requires, and disconnects the clients that it forbids.
  private func applyPolicy(_ poller: inout Poller) {
    let isGiven = given.contains { $0.kind == .gpsd }
    if serves, policy.servesGPSD == true, !isGiven, ofPolicy.isEmpty {
      do throws(GPSDListener.Problem) {
        for listener in try GPSDListener.listen(.gpsd, at: InternetAddress.loopback(port: GPSDListener.port)) {
          if let token = add(listener, &poller) { ofPolicy.append(token) }
        }
      } catch {
        host.log("\(error.text); gpsd's clients are not served")
      }
    }
    guard !serves else { return }
    for token in ofPolicy {
      if let listener = listeners.removeValue(forKey: token) { poller.remove(listener.socket.descriptor) }
    }
    ofPolicy = []
    for client in clients.values where client.client.kind == .gpsd { close(client, &poller) }
  }

  // MARK: Rounds

  /// Handles the events of a round except those of its clients, which have turns.
  func beginRound(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment) {
    for event in events {
      announcer?.handle(event)
      if case .readable(let token) = event { accept(token.rawValue, &poller, at: now) }
    }
  }

  /// Handles an event of a client, in its turn.
  func handle(_ event: Poller.Event, of token: UInt32, _ poller: inout Poller, at now: Moment) {
    guard let client = clients[token] else { return }
    switch event {
    case .readable: read(client, &poller, at: now)
    case .writable: writeAndProceed(client, &poller, at: now)
    case .hangUp: close(client, &poller)
    case .signal, .woken, .timeout: break
    }
  }

  func endRound(_ poller: inout Poller, at now: Moment) {
    if pause.end(at: now.instant) { watchListeners(&poller) }
    for client in clients.values {
      let isIdle = client.idleEnd.map { now.instant >= $0 } ?? false
      if isIdle && !changes.isAwaited(by: client.token) || client.client.endsAt.map({ now.instant >= $0 }) ?? false {
        close(client, &poller)
        continue
      }
      client.client.wake(at: now.instant)
      updateDemand(of: client, at: now.instant)
    }
    requestLocations(at: now.instant)
  }

  func roundEnded(_ receivers: [ReceiverStatus], _ poller: inout Poller, at now: Moment) {
    if policy.revision != policyRevision {
      policyRevision = policy.revision
      applyPolicy(&poller)
      for client in clients.values {
        client.client.limit = policy.gpsdLimit
        updateDemand(of: client, at: now.instant)
      }
    }
    announcer?.settle(&poller, at: now.instant)
    takeAnswers(at: now.instant)
    // Another device is used in the place of a removed one.
    for (number, before) in self.receivers.enumerated() where before.isVacant && !receivers[number].isVacant {
      removed.remove(number)
    }
    self.receivers = receivers
    // A change in progress outlives its client.
    if clients.isEmpty { return performChanges(at: now.instant) }
    followRestriction(at: now.instant)
    if program != nil, !isPermitted { state.forget() }
    updateDevices(at: now)
    performChanges(at: now.instant)
    for client in clients.values where !client.client.output.isEmpty { writeAndProceed(client, &poller, at: now) }
    for client in clientsToCutOff { close(client, &poller) }
  }

  private func updateDevices(at now: Moment) {
    let rests = host.powerStatus.isResting
    let keepsReports = clients.values.contains { $0.demand != .none && $0.demand.isInterrupted }
    let devices = receivers.enumerated().compactMap { number, receiver in
      receiver.device.isEmpty || removed.contains(number)
        ? nil
        : GPSDDevice(
          path: receiver.device, number: number, isActive: receiver.isOpen && (number > 0 || !rests),
          version: receiver.version, bitsPerSecond: receiver.baud,
          cycleMilliseconds: changes.settings[number]?.cycleMilliseconds,
          shortestCycleMilliseconds: receiver.shortestCycleMilliseconds)
    }
    for report in state.update(devices, keepsReports: keepsReports, at: now.utc) {
      for client in clients.values { client.client.deliver(report, at: now.instant) }
    }
  }

  // MARK: Connections

  private func accept(_ token: UInt32, _ poller: inout Poller, at now: Moment) {
    guard let (listener, kind) = listeners[token] else { return }
    do throws(Errno) {
      for _ in 0..<ServiceLimits.clientAcceptsOfRound {
        guard let socket = try listener.accept() else { break }
        let user = Self.shareNumber(of: socket)
        guard kind == .nmea || serves, hasRoom(for: user) else { continue }
        if clients.isEmpty { updateDevices(at: now) }
        InternetAddress.sendAtOnce(socket.descriptor)
        InternetAddress.limitUnread(socket.descriptor)
        let token = nextToken
        nextToken = nextToken == .max ? Self.firstToken + Self.listenerTokens : nextToken + 1
        guard (try? poller.add(socket.descriptor, token: Poller.Token(rawValue: token))) != nil else { continue }
        let client = GPSDConnection(socket, token, user: user, GPSDClient(kind, state), at: now.instant)
        client.client.limit = policy.gpsdLimit
        clients[token] = client
        clientShare.add(1, to: user)
        if kind == .nmea { updateDemand(of: client, at: now.instant) }
        write(client, &poller, at: now.instant)
      }
      pause.accepted()
    } catch {
      if pause.begin(at: now.instant) {
        host.log("a client of gpsd cannot be served: \(error) (raise LimitNOFILE of sextantd.service)")
      }
      watchListeners(&poller)
    }
  }

  /// Watches the listeners, or leaves new connections in their queues.
  private func watchListeners(_ poller: inout Poller) {
    for (token, listener) in listeners {
      try? poller.change(
        listener.socket.descriptor, token: Poller.Token(rawValue: token), interest: pause.interest)
    }
  }

  private func read(_ client: GPSDConnection, _ poller: inout Poller, at now: Moment) {
    if client.client.wantsInput {
      switch client.socket.read(into: &buffer) {
      case .bytes(let count):
        client.lastInput = now.instant
        perform(
          client.client.receive(buffer.span.extracting(0..<count), state, at: now.utc), of: client, at: now.instant)
        if client.client.isForeign { return close(client, &poller) }
      case .wouldWait: break
      case .ended:
        // A client of sentences has nothing to send, and may close its side.
        guard client.client.kind == .nmea else { return close(client, &poller) }
        client.input = .ended(written: now.instant)
      }
    }
    writeAndProceed(client, &poller, at: now)
  }

  private func perform(_ events: [GPSDClient.Event], of client: GPSDConnection, at now: Instant) {
    for event in events {
      switch event {
      case .watchChanged: updateDemand(of: client, at: now)
      case .polled:
        client.client.didPoll(at: now)
        updateDemand(of: client, at: now)
      case .change(let change): apply(change, of: client, at: now)
      case .command(let command): apply(command, of: client)
      }
    }
  }

  /// Writes the replies, and answers the requests that waited for room.
  private func writeAndProceed(_ client: GPSDConnection, _ poller: inout Poller, at now: Moment) {
    write(client, &poller, at: now.instant)
    while client.client.canProceed, clients[client.token] != nil {
      perform(client.client.proceed(state, at: now.utc), of: client, at: now.instant)
      write(client, &poller, at: now.instant)
    }
  }

  private func write(_ client: GPSDConnection, _ poller: inout Poller, at now: Instant) {
    while !client.client.output.isEmpty {
      switch client.socket.write(client.client.output) {
      case .bytes(let count):
        client.client.didWrite(count)
        if client.hasEndedInput { client.input = .ended(written: now) }
      case .wouldWait:
        client.client.didBlock(at: now)
        return setInterest(of: client, &poller)
      case .ended: return close(client, &poller)
      }
    }
    setInterest(of: client, &poller)
  }

  private func setInterest(of client: GPSDConnection, _ poller: inout Poller) {
    var interest: Poller.Interest = client.client.wantsInput && !client.hasEndedInput ? .readable : []
    if !client.client.output.isEmpty { interest.insert(.writable) }
    guard interest != client.interest else { return }
    client.interest = interest
    try? poller.change(client.socket.descriptor, token: Poller.Token(rawValue: client.token), interest: interest)
  }

  private func close(_ client: GPSDConnection, _ poller: inout Poller) {
    guard clients.removeValue(forKey: client.token) != nil else { return }
    clientShare.add(-1, to: client.user)
    poller.remove(client.socket.descriptor)
    changes.end(client.token)
    endDemand(of: client)
    if clients.isEmpty {
      state.forget()
      details = [:]
      arrivals = [:]
    }
    if pause.endEarly() { watchListeners(&poller) }
  }

  // MARK: Commands

  /// Returns the requests of clients to a receiver, once.
  func takeCommands(for receiver: Int) -> [ClientCommand] { commands.removeValue(forKey: receiver) ?? [] }

  /// Returns the devices to use from now on, once.
  func takeAddedDevices() -> [PinnedDevice] {
    defer { added = [] }
    return added
  }

  /// Returns the numbers of the receivers that were added again, once.
  func takeReturnedReceivers() -> Set<Int> {
    defer { returned = [] }
    return returned
  }

  /// The receivers that were added through the control socket, removed, and restored.
  var removableReceivers: [Int] {
    removed.filter { receivers[$0].pin != nil && receivers[$0].use == .lent }.sorted()
  }

  /// Discards the state of a removed receiver: another one may get its number.
  func forget(_ number: Int) {
    details[number] = nil
    arrivals[number] = nil
    commands[number] = nil
    changes.forget(number)
    returned.remove(number)
  }

  // MARK: Demands

  func updateDemand(of client: GPSDConnection, at now: Instant) {
    var demand = client.client.demand
    // A change needs a receiver that is awake.
    if changes.isAwaited(by: client.token), demand.isInterrupted { demand = .continuous(accuracyMetres: nil) }
    guard demand != client.demand else { return }
    endDemand(of: client)
    client.demand = demand
    client.client.began(demand, at: now)
    guard demand != .none else { return }
    let program = hostProgram()
    _ = host.changeOnThread(program) { engine, _ in engine.add(client.manager) }
    for call in demand.calls { host.call(call, by: client.manager, of: program) }
    requestLocations(at: now)
    // A client of sentences gets nothing else.
    if !isPermitted, client.client.kind == .gpsd {
      client.client.reply(
        state.error(
          "no locations: location services are switched off, the administrator restricts gpsd, or sextantd may not open "
            + "the receiver"))
    }
  }

  /// Requests the locations that are due, together with those due soon.
  private func requestLocations(at now: Instant) {
    guard let program, clients.values.contains(where: { $0.demand.isInterrupted && $0.client.isSearchDue(at: now) })
    else { return }
    for client in clients.values where client.demand.isInterrupted {
      client.client.joinSearch(at: now)
      guard client.client.isSearchDue(at: now) else { continue }
      client.client.requested(at: now)
      host.call(.requestLocation, by: client.manager, of: program.id)
    }
  }

  private func takeAnswers(at now: Instant) {
    guard let program else { return }
    for manager in program.receiver.takeAnswers() {
      host.answerIsDelivered(to: manager, of: program.id)
      clients[UInt32(truncatingIfNeeded: manager.number)]?.client.answered(at: now)
    }
  }

  private func endDemand(of client: GPSDConnection) {
    guard client.demand != .none, let program else { return }
    client.demand = .none
    if clients.values.contains(where: { $0.demand != .none }) {
      let manager = client.manager
      _ = host.changeOnThread(program.id) { engine, _ in engine.remove(manager) }
    } else {
      host.remove(program.id)
      self.program = nil
    }
  }

  private func hostProgram() -> ProgramID {
    if let program { return program.id }
    // The administrator has allowed it with the socket, the option or the policy.
    var added = addProgram(.authorizedAlways)
    if isRestricted(added.id) {
      host.remove(added.id)
      added = addProgram(.restricted)
    }
    program = added
    return added.id
  }

  private func addProgram(_ authorization: AuthorizationStatus) -> (id: ProgramID, receiver: GPSDProgram) {
    let receiver = GPSDProgram()
    let id = host.add(
      AppDescription(identifier: "gpsd", keys: UsageKeys()), user: geteuid(), authorization: authorization,
      application: .foreground, lingers: false, receiver)
    return (id, receiver)
  }

  /// Whether the policy restricts the name gpsd.
  private func isRestricted(_ id: ProgramID) -> Bool { host.read(id) { $0.authorization.isRestricted } ?? false }

  /// Adds the program again after a change of the policy, which an authorization that is given with `add` does not follow.
  private func followRestriction(at now: Instant) {
    guard let program, let status = host.read(program.id, { $0.authorization.status }),
      isRestricted(program.id) != (status == .restricted), status == .restricted || status.isAuthorized
    else { return }
    let demanding = clients.values.filter { $0.demand != .none }
    for client in demanding { endDemand(of: client) }
    for client in demanding { updateDemand(of: client, at: now) }
  }

  /// Whether locations may leave the service: services are on, and the name gpsd is not restricted.
  var isPermitted: Bool {
    guard let program else { return false }
    return host.read(program.id) { $0.authorization.status.isAuthorized } ?? false
  }

  /// The demands for `sextant status`; nil if there is none.
  var status: (demands: [String], delivered: Int, dropped: Int)? {
    guard let program else { return nil }
    let words = host.read(program.id) { $0.demands.flatMap(\.words) } ?? []
    // One line for clients with the same demand.
    let counts = words.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
    let demands = counts.sorted { $0.key < $1.key }.map { $0.value == 1 ? $0.key : "\($0.value) × \($0.key)" }
    let clients = clients.values.map(\.client)
    return (demands, clients.reduce(0) { $0 + $1.delivered }, clients.reduce(0) { $0 + $1.dropped })
  }
}

extension GPSDClient.Demand {
  /// The calls of a manager that has the demand. Interrupted updates are followed by requests.
  var calls: [ClientCall] {
    let accuracy: Double =
      switch self {
      case .none: 0
      // The best accuracy keeps the receiver at its full rate.
      case .continuous(let metres): metres ?? -2
      case .every(_, let metres): metres ?? -1
      // A request for the best accuracy lasts until the accuracy no longer improves.
      case .polled(let metres): metres ?? 10
      }
    let calls: [ClientCall] = [
      .setDelegate([.takesLocations, .takesErrors]), .setPausesAutomatically(false),
      .setDesiredAccuracy(metres: accuracy),
    ]
    return isInterrupted ? calls : calls + [.startUpdatingLocation]
  }
}

extension PowerStatus {
  fileprivate var isResting: Bool {
    switch self {
    case .asleep, .asleepBetweenChecks, .asleepWithoutSky, .unread, .suspended: true
    case .absent, .identifying, .awake, .saving, .batching, .waking, .asleepUntilTimer: false
    }
  }

  /// Whether the receiver is awake and configured.
  var takesCommands: Bool {
    switch self {
    case .awake, .saving, .batching: true
    case .absent, .identifying, .waking, .asleep, .asleepUntilTimer, .asleepBetweenChecks, .asleepWithoutSky, .unread,
      .suspended:
      false
    }
  }
}

extension GPSDServer {
  /// Sends a sample of the clock to the clients that requested samples.
  func deliver(_ sample: TimeSample, of path: String) {
    guard clients.values.contains(where: \.client.watch.pps), isPermitted else { return }
    let text = GPSDState.text(of: sample, device: path)
    for client in clients.values { client.client.deliver(timing: text, of: path, at: SystemClock.monotonic) }
  }

  /// - Parameter servesClock: whether TOFF is sent with the samples of the clock.
  func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, servesClock: Bool = false,
    at now: Moment
  ) {
    guard !clients.isEmpty, isPermitted else { return }
    let watches = clients.values.map(\.client.watch)
    let wanted = GPSDState.Wanted(
      nmea: watches.contains(where: \.nmea), timeOffset: !servesClock && watches.contains(where: \.pps))
    let found = details[receiver] ?? FrameDetails()
    var received: UTCTime?
    if wanted.timeOffset, !report.isUpdate { received = arrivals[receiver]?.firstByte(of: report.fix, at: now.utc) }
    guard let epoch = state.receive(report, sky, of: receiver, wanted: wanted, details: found, received: received)
    else { return }
    if !report.isUpdate { details[receiver]?.endEpoch() }
    for client in readers(of: receiver) { client.client.deliver(epoch, at: now.instant) }
  }

  /// The clients that get what a receiver sends. Sentences do not name their receiver, so that clients of NMEA get those of one: the
  /// receiver whose fixes programs get.
  private func readers(of receiver: Int) -> [GPSDConnection] {
    let isChosen = receiver == host.chosenReceiver ?? state.devices.map(\.number).min()
    return clients.values.filter { isChosen || $0.client.kind != .nmea }
  }

  /// - Parameter servesClock: whether TOFF is sent with the samples of the clock.
  func receive(_ bytes: RawSpan, of receiver: Int, servesClock: Bool = false, at now: Instant) {
    let wantsArrivals = !servesClock && clients.values.contains(where: \.client.watch.pps)
    if wantsArrivals, receivers.indices.contains(receiver) {
      let arrivals = arrivals[receiver] ?? EpochArrivals()
      self.arrivals[receiver] = arrivals
      arrivals.receive(bytes, secondsPerByte: receivers[receiver].secondsPerByte)
    } else {
      arrivals[receiver] = nil
    }
    guard clients.values.contains(where: { $0.client.watch.raw == .verbatim }),
      let device = state.device(number: receiver), isPermitted
    else { return }
    let copy = [UInt8](copying: bytes)
    for client in clients.values { client.client.deliver(verbatim: copy, of: device.path, at: now) }
  }

  /// Sends a frame: a sentence to clients that read NMEA or all frames, any other frame in hexadecimal digits to the
  /// latter, and a correction as a report.
  func receive(_ frame: borrowing Frame, of receiver: Int, at now: Instant) {
    guard !clients.isEmpty, let index = state.devices.firstIndex(where: { $0.number == receiver }) else { return }
    details[receiver, default: FrameDetails()].receive(frame)
    if frame.kind == .rtcm3 { state.noteCorrections(of: receiver) }
    // For a receiver that sends UBX, the sentences are made from the fix.
    let isOwn = !state.devices[index].isBinary
    let isCorrection = frame.kind == .rtcm3 && clients.values.contains { $0.client.watch.json }
    let wantsText = clients.values.contains {
      $0.client.watch.raw == .hexadecimal || (frame.kind == .nmea && isOwn && $0.client.watch.nmea)
    }
    guard wantsText || isCorrection, isPermitted else { return }
    let path = state.devices[index].path
    if isCorrection, let json = GPSDState.correctionReport(frame, device: path) {
      for client in clients.values { client.client.deliver(DeviceReport(device: path, json: json), at: now) }
    }
    guard wantsText else { return }
    let text = GPSDState.text(of: frame)
    for client in readers(of: receiver) {
      if frame.kind == .nmea {
        client.client.deliver(sentence: text, of: path, isOwn: isOwn, at: now)
      } else {
        client.client.deliver(hexadecimal: text, of: path, at: now)
      }
    }
  }
}

// Changes of receivers with `?DEVICE={…}`: permission, readiness of the receiver, and replies.
extension GPSDServer {
  /// Accepts a client's change, if its user may open the receiver. The client needs the receiver until the change is
  /// answered.
  func apply(_ change: DeviceChange, of client: GPSDConnection, at now: Instant) {
    guard let path = change.path, let device = state.device(at: path) else { return }
    func refuse(_ reason: String) { client.client.reply(state.error(reason)) }
    guard let user = InternetPeer.user(of: client.socket.descriptor), let access = receivers[device.number].access,
      access.permits(user: user, groups: FileAccess.groups(of: user))
    else {
      return refuse("only users who may open \(path) change it or send to it, and only on this machine")
    }
    if host.settings.isReadOnly { return refuse("sextantd runs with --read-only") }
    if let bytes = change.bytes, let refusal = Self.refusal(bytes) { return refuse(refusal) }
    changes.request(change, of: device.number, by: client.token, at: now)
    performChanges(at: now)
    updateDemand(of: client, at: now)
    guard changes.isAwaited(by: client.token), !isPermitted else { return }
    // The client has already received the reason, unless it watches.
    changes.end(client.token)
    updateDemand(of: client, at: now)
    if client.demand != .none { refuse("location services are switched off, or sextantd may not open the receiver") }
  }

  /// Queues a client's messages for a receiver. Returns the reason why they cannot be sent; nil if they are.
  func send(_ bytes: [UInt8], to receiver: Int) -> String? {
    if host.settings.isReadOnly { return "sextantd runs with --read-only" }
    if let refusal = Self.refusal(bytes) { return refusal }
    commands[receiver, default: []].append(.send(bytes))
    return nil
  }

  /// Returns the reason why bytes are not sent to a receiver, with the rules of `sextant send`; nil for complete
  /// messages.
  private static func refusal(_ bytes: [UInt8]) -> String? {
    do throws(SettingProblem) { _ = try OutgoingMessage.frames(bytes) } catch { return error.description }
    return nil
  }

  /// Performs the changes for which the receivers are ready, and replies to the clients.
  func performChanges(at now: Instant) {
    if changes.isIdle { return }
    for number in receivers.indices { changes.update(receiver(number), of: number, at: now) }
    for action in changes.takeActions() {
      switch action {
      case .send(let bytes, let number): commands[number, default: []].append(.send(bytes))
      case .set(let settings, let number): commands[number, default: []].append(.set(settings))
      case .reply(let token, let number, let refusal):
        guard let client = clients[token] else { continue }
        let device = state.device(number: number)
        client.client.reply(
          refusal.map { state.error($0) } ?? device.map { state.text(of: $0) } ?? state.error("the receiver is gone"))
        updateDemand(of: client, at: now)
      }
    }
  }

  private func receiver(_ number: Int) -> DeviceChanges.Receiver {
    let receiver = receivers[number]
    var found = DeviceChanges.Receiver(readiness: .waiting, bitsPerSecond: receiver.baud)
    found.isRateFixed = number == 0 && host.settings.baud != nil
    found.shortestCycleMilliseconds = receiver.shortestCycleMilliseconds ?? found.shortestCycleMilliseconds
    found.sendsNMEA = state.device(number: number)?.driver == .nmea
    let takesCommands = receiver.isOpen && (number > 0 || host.powerStatus.takesCommands)
    switch (receiver.use, receiver.identity) {
    case (.lent, _), (.ending, _): found.readiness = .lent
    case (.served, .unidentified) where receiver.isOpen: found.readiness = .plain
    // The power policy recognises a plain receiver after some time.
    case (.served, .unknown) where takesCommands && number == 0: found.readiness = .plain
    case (.served, .identified) where takesCommands: found.readiness = .ready
    case (.served, _), (.returning, _): found.readiness = .waiting
    }
    return found
  }
}

extension ReceiverStatus {
  /// The shortest time between two measurements, in milliseconds; nil for an unidentified receiver. From the interface
  /// descriptions, CFG-RATE: 25 ms from protocol version 24 on, 50 ms before.
  var shortestCycleMilliseconds: UInt16? {
    guard case .identified(let receiver) = identity else { return nil }
    return receiver.protocolVersion ?? ProtocolVersion(0, 0) >= ProtocolVersion(24, 0) ? 25 : 50
  }
}
