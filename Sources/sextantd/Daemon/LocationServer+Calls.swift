// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocationService
import Messages
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverRuntime
import ReceiverStream
import WireBytes

// The calls of org.sextant.Location, and Open of org.sextant.CoreLocation.
extension LocationServer {
  private static let manager = ClientID(0)

  func answer(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection, at now: Moment) {
    switch call.method {
    case "org.sextant.Location.GetStatus":
      connection.reply(id, .success(["status": status(at: now, forUser: connection.credentials.user)]))
    case "org.sextant.Location.GetReceivers":
      let receivers = receiverStates(at: now.instant, forUser: connection.credentials.user)
      connection.reply(id, .success(["receivers": receivers]))
    case "org.sextant.Location.RequestLocation":
      // A call that forbids replies has no effect, and there is no protocol to upgrade to.
      if call.kind == .oneway { return }
      guard call.kind != .upgrade else { return connection.reply(id, .failure(.invalidParameter("upgrade"))) }
      begin(call, id, connection)
    case "org.sextant.Location.Subscribe":
      guard call.kind == .more else { return connection.reply(id, .failure(.expectedMore)) }
      begin(call, id, connection)
    case "org.sextant.Location.Stream":
      guard call.kind == .more else { return connection.reply(id, .failure(.expectedMore)) }
      stream(call, id, connection)
    case "org.sextant.Receivers.Lease": lease(call, id, connection)
    case "org.sextant.Receivers.Feed": feed(call, id, connection, at: now.instant)
    case "org.sextant.Receivers.KeepRecovery": keepRecovery(call, id, connection)
    case "org.sextant.Time.GetTime": connection.reply(id, .success(["time": clock.json(at: now)]))
    case "org.sextant.CoreLocation.Open": open(call, id, connection)
    case _ where call.interface == "org.sextant.Launch": answerLaunch(call, id, connection, at: now.instant)
    case _ where call.interface == "org.sextant.Authorization": answerAuthorization(call, id, connection)
    default: connection.reply(id, .failure(.methodNotFound(call.method)))
    }
  }

  // MARK: Status

  private func receiverStates(at now: Instant, forUser viewer: UInt32) -> JSON {
    .array(
      receivers.enumerated().filter { $0.offset == 0 || !$0.element.isVacant }.map { index, receiver in
        func members(_ state: String, _ reason: String?, fix: String? = nil, isMeasuring: Bool = false) -> JSON {
          let members = [JSON.Member](omittingNil: [
            "device": receiver.device, "model": receiver.model, "state": state, "reason": reason, "fix": fix,
          ])
          return .object(members + Self.quality(of: receiver, isMeasuring: isMeasuring, at: now, forUser: viewer))
        }
        if let (state, reason) = lendingState(of: index) { return members(state, reason) }
        let power = index == 0 ? host.powerStatus : receiver.isOpen ? .awake : .absent
        let problem = index == 0 ? host.problem?.reason : nil
        // A receiver that no program needs is not open, so its node is checked instead.
        let fault =
          receiver.fault ?? (receiver.isOpen || receiver.device.isEmpty ? nil : deviceFault(of: receiver.device))
        let isKeptAwake = power == .unread && receiver.isLogging
        let reason =
          fault ?? problem
          ?? (isKeptAwake ? "its logger runs: it is not put to sleep" : power.reason(isOpen: receiver.isOpen))
        return members(power.state, reason, fix: index == 0 ? host.fixKind : nil, isMeasuring: power.isMeasuring)
      })
  }

  /// The solution of a receiver, the trust in its signals, and its corrections. Only root sees a mount point that was
  /// chosen by the position.
  static func quality(
    of receiver: ReceiverStatus, isMeasuring: Bool, at now: Instant, forUser viewer: UInt32
  ) -> [JSON.Member] {
    let solution =
      switch isMeasuring ? receiver.solution : nil {
      case .rtkFixed?: "fixed"
      case .rtkFloat?: "float"
      case nil: "none"
      default: "standard"
      }
    let corrections = receiver.corrections.map { corrections in
      JSON(omittingNil: [
        "source": viewer == 0 ? corrections.source : corrections.configured, "state": corrections.state.rawValue,
        "ageSeconds": corrections.receivedAt.map { max(0, now.seconds(since: $0)) }, "bytes": corrections.bytes,
        "reason": corrections.failure, "keys": receiver.spartnKeys.map { json($0) },
      ])
    }
    return [JSON.Member](omittingNil: [
      "solution": solution, "trust": "\(receiver.trust.name)", "reasons": receiver.reasons,
      "fusion": receiver.fusion.map { json($0) }, "corrections": corrections,
    ])
  }

  private static func json(_ fusion: FusionStatus) -> JSON {
    let sensors = fusion.sensors.map { sensor -> JSON in
      [
        "name": .string(sensor.name), "isUsed": .bool(sensor.isUsed), "calibration": .string(sensor.calibration),
        "faults": .array(sensor.faults.map { .string($0) }),
      ]
    }
    return ["mode": .string(fusion.mode.name), "sensors": .array(sensors)]
  }

  private static func json(_ keys: SPARTNKeyDelivery.State) -> JSON {
    let (state, name, text) =
      switch keys {
      case .unreadable(let reason): ("unreadable", "reason", reason)
      case .unknown: ("unknown", "reason", "the clock of the computer is not set")
      case .keys(.valid(let until)): ("valid", "validUntil", until.iso8601)
      case .keys(.early(let from)): ("early", "validFrom", from.iso8601)
      case .keys(.expired(let since)): ("expired", "validUntil", since.iso8601)
      }
    return ["state": .string(state), name: .string(text)]
  }

  /// Returns the fault that prevents opening a device. The result is cached for some time, because the search reads the
  /// descriptors of all processes: callers of `GetStatus` must not delay other programs.
  private func deviceFault(of device: String) -> String? {
    let now = SystemClock.monotonic
    if let fault = deviceFaults[device], now < fault.read + ServiceLimits.deviceFaultAge { return fault.text }
    let text = DeviceFault.text(of: device)
    deviceFaults[device] = (now, text)
    return text
  }

  /// The state and its reason while the line is lent; nil otherwise.
  private func lendingState(of receiver: Int) -> (String, String)? {
    let usual = gpsd.removed.contains(receiver) ? "other programs (gpsdctl remove)" : "a program that has ended"
    let holder = holder(of: receiver)?.text ?? usual
    return switch receivers[receiver].use {
    case .served: nil
    case .ending: ("ending", "it is restored, to be lent to \(holder)")
    case .lent: ("lent", "lent to \(holder)")
    case .returning: ("returning", "it was lent, and is opened again")
    }
  }

  private func status(at now: Moment, forUser viewer: UInt32) -> JSON {
    var programs: [JSON] = allConnections.compactMap { connection in
      guard let program = connection.program else { return nil }
      let (authorization, demands) =
        host.read(program) { ($0.authorization.status, $0.demands.flatMap(\.words)) } ?? (.notDetermined, [])
      return [
        "name": .string(connection.displayName(forUser: viewer)),
        "pid": .integer(Int64(connection.credentials.process)),
        "uid": .integer(Int64(connection.credentials.user)), "authorization": .string(authorization.name),
        "demands": .array(demands.map { .string($0) }), "delivered": .integer(Int64(connection.delivered)),
        "dropped": .integer(Int64(connection.dropped)),
      ]
    }
    if let served = gpsd.status {
      programs.append([
        "name": "gpsd", "pid": .integer(Int64(getpid())), "uid": .integer(Int64(geteuid())),
        "authorization": .string(AuthorizationStatus.authorizedAlways.name),
        "demands": .array(served.demands.map { .string($0) }), "delivered": .integer(Int64(served.delivered)),
        "dropped": .integer(Int64(served.dropped)),
      ])
    }
    return [
      "receivers": receiverStates(at: now.instant, forUser: viewer),
      "programs": .array(programs + absentPrograms(forUser: viewer)),
      "service": ["version": .string(version), "uptimeSeconds": .double(now.instant.seconds(since: started))],
    ]
  }

  // MARK: Programs

  /// Adds a demand for all locations to a program.
  func demandUpdates(_ program: ProgramID) {
    _ = host.changeOnThread(program) { engine, _ in engine.add(Self.manager) }
    for call in [ClientCall.setPausesAutomatically(false), .startUpdatingLocation] {
      host.call(call, by: Self.manager, of: program)
    }
  }

  private func begin(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    let accuracy = call.parameters.metres("desiredAccuracy")
    let filter = call.parameters.metres("distanceFilter")
    guard accuracy.isValid else { return connection.reply(id, .failure(.invalidParameter("desiredAccuracy"))) }
    guard filter.isValid else { return connection.reply(id, .failure(.invalidParameter("distanceFilter"))) }
    guard let program = addPermittedProgram(id, connection) else { return }
    let isSubscription = call.method.hasSuffix(".Subscribe")
    connection.role = isSubscription ? .subscription(id, program, newest: nil) : .request(id, program)
    _ = host.changeOnThread(program) { engine, _ in engine.add(Self.manager) }
    var calls: [ClientCall] = [.setDelegate([.takesLocations, .takesErrors]), .setPausesAutomatically(false)]
    if let metres = accuracy.value { calls.append(.setDesiredAccuracy(metres: metres)) }
    if let metres = filter.value { calls.append(.setDistanceFilter(metres: metres)) }
    calls.append(isSubscription ? .startUpdatingLocation : .requestLocation)
    for call in calls { host.call(call, by: Self.manager, of: program) }
  }

  /// Sends the engine's outputs for a subscription or a request.
  func deliverOutputs(to connection: Connection) {
    switch connection.role {
    case .subscription(let call, let program, let newest): deliver(to: connection, call, program, newest)
    case .request(let call, _): deliverAnswer(to: connection, call)
    case .idle, .stream, .coreLocation, .agent, .launcher: break
    }
  }

  private func deliver(
    to connection: Connection, _ call: VarlinkServerConnection.CallID, _ program: ProgramID, _ newest: Location?
  ) {
    var newest = newest
    for case .event(_, let event, _) in connection.outputs {
      switch event {
      case .didUpdateLocations(let locations):
        for location in locations where location != newest {
          send(location, call, connection)
          newest = location
        }
      case .didFail(.denied): return fail(connection, call, "Denied")
      default: break
      }
    }
    connection.outputs = []
    connection.role = .subscription(call, program, newest: newest)
  }

  /// Sends a location of a subscription. A program that reads too slowly gets the newest one once it reads again.
  private func send(_ location: Location, _ call: VarlinkServerConnection.CallID, _ connection: Connection) {
    if connection.unsentLocation == nil,
      reply(with: location).map({ connection.varlink.continueReply(to: call, $0) }) != .full
    {
      connection.delivered += 1
      return
    }
    if connection.unsentLocation != nil { connection.dropped += 1 }
    connection.unsentLocation = location
  }

  /// Sends the newest location of a subscription to a program that reads again.
  func sendUnsentLocation(_ connection: Connection) {
    guard case .subscription(let call, _, _) = connection.role, let location = connection.unsentLocation else { return }
    connection.unsentLocation = nil
    send(location, call, connection)
  }

  private func deliverAnswer(to connection: Connection, _ call: VarlinkServerConnection.CallID) {
    for case .event(_, let event, let ticket) in connection.outputs where ticket.isAnswer {
      switch event {
      case .didUpdateLocations(let locations):
        guard let location = locations.last else { continue }
        connection.delivered += 1
        connection.reply(call, .success(["location": .location(location)]))
        return endProgram(of: connection)
      case .didFail(.denied): return fail(connection, call, "Denied")
      case .didFail: return fail(connection, call, "LocationUnknown")
      default: break
      }
    }
    connection.outputs = []
  }

  func fail(
    _ connection: Connection, _ call: VarlinkServerConnection.CallID, _ name: String, _ parameters: JSON = .empty
  ) {
    connection.reply(call, .failure(VarlinkError("org.sextant.Location.\(name)", parameters)))
    endProgram(of: connection)
  }

  private func open(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    guard call.kind == .upgrade else { return connection.reply(id, .failure(.invalidParameter("upgrade"))) }
    let request: OpenRequest
    do { request = try call.parameters.decode() } catch {
      return connection.reply(id, .failure(.invalidParameter(error.path.joined(separator: "."))))
    }
    if let reason = ServiceVersion.refusal(client: request.version, service: ServiceVersion.current) {
      let error = VarlinkError(
        "org.sextant.CoreLocation.IncompatibleVersion",
        [
          "oldest": .integer(Int64(ServiceVersion.current - 1)), "newest": .integer(Int64(ServiceVersion.current)),
          "update": .string(request.version < ServiceVersion.current ? "client" : "service"), "reason": .string(reason),
        ])
      return connection.reply(id, .failure(error))
    }
    connection.label = ProgramLabel.text(request.identifier)
    identify(connection)
    let launchedBy = launcher.connected(connection, at: SystemClock.monotonic)?.rawValue
    let program = addProgram(request.keys, connection)
    launcher.added(connection, program)
    let problem = host.problem
    let served = host.read(program) { ServedProgram(request, $0, problem: problem) }
    guard let served, let reply = try? JSON(encoding: served.reply(serviceVersion: version, launchedBy: launchedBy))
    else { return }
    connection.role = .coreLocation(program, served)
    connection.reply(id, .success(reply))
    logRefusal(connection)
    if let text = refusalText(connection) { sendLine(text, connection) }
  }

  /// Sends a line for the program's standard error.
  func sendLine(_ text: String, _ connection: Connection) {
    _ = (try? ServiceMessage.update(ServiceUpdate(events: [.log(text)], changes: .init())).text())
      .map { connection.varlink.send(text: $0) }
  }

  func receive(_ message: JSON, _ connection: Connection, at now: Moment) {
    guard case .coreLocation(let program, var served) = connection.role else { return }
    let decoded: ClientMessage
    do { decoded = try message.decode() } catch {
      log(ServiceVersion.problem(error, of: connection.name.text, version: served.program.version), of: connection)
      connection.isEnding = true
      return
    }
    let isRefused = isAdditionRefused(decoded.action, served, connection)
    updateApplicationState(of: connection, at: now)
    connection.role = .idle
    defer { connection.role = .coreLocation(program, served) }
    // The program need not send it again.
    if isRefused { _ = served.note(decoded) }
    switch decoded.action {
    // A deferral's fixes are read from the receiver before a call ends it.
    case .call(let manager, let call):
      if served.note(decoded) { host.call(call, by: ClientID(manager), of: program) }
    // The kernel's answer is authoritative.
    case .application: _ = served.note(decoded)
    // A program may not answer its own prompt.
    case .answer: _ = served.note(decoded)
    case .refreshNewest: host.refreshNewest()
    case .refreshHostCapabilities: host.listSensors()
    default: break
    }
    let records = { [host] in host.monitorRecords($0, of: program) }
    // Read before the lock is taken.
    var stored: [Monitor.Record] = []
    let hasAgent = agentUsers.contains(connection.credentials.user)
    if case .openMonitor(let name) = decoded.action { stored = records(name) }
    _ = host.changeOnThread(program) { engine, now in
      served.receive(decoded, &engine, records: { _ in stored }, at: now)
      if engine.application != .foreground || hasAgent { engine.promptIsNotShown() }
    }
    if !isRefused { launcher.received(decoded.action, connection, program, served.program.keys, at: now) }
  }
}

extension PowerStatus {
  /// The state in the form that `sextant status` prints.
  fileprivate var state: String {
    switch self {
    case .asleep, .asleepUntilTimer, .asleepBetweenChecks, .asleepWithoutSky: "asleep"
    case .unread, .identifying: Self.awake.rawValue
    case .absent, .suspended, .awake, .saving, .batching, .waking: rawValue
    }
  }

  /// Whether the receiver determines positions.
  var isMeasuring: Bool {
    switch self {
    case .identifying, .awake, .saving, .batching: true
    case .absent, .suspended, .waking, .asleep, .asleepUntilTimer, .asleepBetweenChecks, .asleepWithoutSky, .unread:
      false
    }
  }

  /// - Parameter isOpen: whether the line of the receiver is open.
  fileprivate func reason(isOpen: Bool) -> String? {
    switch self {
    case .absent: isOpen ? "nothing was received from it yet" : "there is no receiver, or no demand yet"
    case .identifying: "it is being identified"
    case .suspended: "the computer is suspended"
    case .awake: nil
    case .saving: "a fix every few seconds suffices"
    case .batching: "the receiver collects fixes for a deferral"
    case .waking: "the receiver was woken and has not answered yet"
    case .asleep: "no demand"
    case .asleepUntilTimer: "it is needed, and its timer alone ends its sleep"
    case .asleepBetweenChecks: "until the next position check"
    case .asleepWithoutSky: "a search has found no position"
    case .unread: "it does not go to sleep by a command: it stays on, and is not read before it is needed"
    }
  }
}

extension ReceiverProblem {
  fileprivate var reason: String {
    switch self {
    case .forbidden: "the daemon may not open the device"
    case .absent: "no receiver is connected; the service waits for one"
    case .held: "another program has the device open"
    case .misnamed: "the device is not a receiver"
    case .miswritten: "the scenario has a mistake"
    case .misconfigured: "the configuration file has a mistake"
    }
  }
}

extension Demand {
  /// The demand in the form that `sextant status` prints.
  var words: [String] {
    var words: [String] = []
    if let updates, updates.service == .standard {
      var word = isPaused ? "paused" : "updates"
      if case .metres(let metres) = updates.accuracy { word += " \(Int(clamping: metres)) m" }
      if updates.distanceFilterMetres > 0 { word += ", every \(Int(clamping: updates.distanceFilterMetres)) m" }
      if isDeferring { word += ", deferred" }
      words.append(word)
    }
    if oneShot != nil { words.append("one location") }
    if significantChange { words.append("significant changes") }
    if border != nil { words.append("regions") }
    if everySeconds != nil { words.append("visits") }
    if updates?.service == .stream { words.append("live updates") }
    if headingFilterDegrees != nil { words.append("heading") }
    if beacons { words.append("beacons") }
    return words
  }
}
