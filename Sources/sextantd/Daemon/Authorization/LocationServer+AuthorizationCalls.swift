// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import WireBytes

// The calls of org.sextant.Authorization, and the prompts of connected programs.
extension LocationServer {
  typealias Question = PermissionQuestions.Question

  func answerAuthorization(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    if call.kind == .upgrade { return connection.reply(id, .failure(.invalidParameter("upgrade"))) }
    identify(connection)
    let own = connection.credentials.user
    guard let user = call.parameters.user(orOwn: own) else {
      return connection.reply(id, .failure(.invalidParameter("user")))
    }
    guard own == 0 || user == own else { return connection.reply(id, .notPermitted(.ofOtherUser)) }
    switch call.method {
    case "org.sextant.Authorization.List":
      let store = store(of: user)
      let programs = storedPrograms(of: user, store)
      connection.reply(
        id,
        .success([
          "programs": .array(programs.map { .program($0, isExact: isExactForNow($0.app, of: user)) }),
          "questions": .questions(questions.questions(of: user)),
          "servicesAreOn": .bool(store?.servicesAreOnForUser ?? true),
        ]))
    case "org.sextant.Authorization.Watch":
      guard call.kind == .more else { return connection.reply(id, .failure(.expectedMore)) }
      connection.role = .agent(id, user: user, revision: -1)
    case "org.sextant.Authorization.Answer": connection.reply(id, answer(call, connection))
    case "org.sextant.Authorization.Set": connection.reply(id, set(call, user, connection))
    case "org.sextant.Authorization.SetServices": connection.reply(id, setServices(call, user, connection))
    default: connection.reply(id, .failure(.methodNotFound(call.method)))
    }
  }

  /// Whether a running program of a user has temporary full accuracy.
  private func isExactForNow(_ name: ExactText, of user: UInt32) -> Bool {
    allConnections.contains { connection in
      guard let program = connection.program, connection.credentials.user == user, connection.name == name else {
        return false
      }
      return host.read(program) { $0.authorization.hasTemporaryFullAccuracy } ?? false
    }
  }

  private func store(of user: UInt32) -> AuthorizationStore? {
    host.settings.stateFolder.map { AuthorizationStore(stateFolder: "\($0)/users/\(user)") }
  }

  // MARK: Answers

  /// Returns the reply to a program that may not answer for all of the programs; nil if it may.
  private func refusal(of connection: Connection, for programs: [PermissionQuestions.Program]) -> VarlinkReply? {
    let answerer = connection.peer.answerer
    return programs.lazy.compactMap { PermissionQuestions.refusal(of: answerer, for: $0) }.first
      .map { .notPermitted($0) }
  }

  private func answer(_ call: VarlinkCall, _ connection: Connection) -> VarlinkReply {
    guard case .integer(let number)? = call.parameters["id"], let id = Int(exactly: number) else {
      return .failure(.invalidParameter("id"))
    }
    let answers: [String: Authorization.Answer] = [
      "whenInUse": .whenInUse, "once": .once, "always": .always, "deny": .deny,
    ]
    guard let answer = call.parameters["answer"]?.string.flatMap({ answers[$0] }) else {
      return .failure(.invalidParameter("answer"))
    }
    let own = connection.credentials.user
    // The prompts of other users are hidden from a caller.
    guard let question = questions[id], own == 0 || question.program.user == own else {
      return .failure(VarlinkError("org.sextant.Authorization.NoSuchQuestion", ["id": .integer(number)]))
    }
    if let refusal = refusal(of: connection, for: [question.program]) { return refusal }
    switch question.asker {
    case .program(let program):
      // A decision that cannot be stored is refused: it would be lost when the program ends.
      let decided = host.read(program) { $0.authorization.record(after: answer, to: question.prompt) } ?? nil
      if let decided, let refusal = stored(decided, for: question.program.name, question.program.user) {
        return refusal
      }
      host.answer(answer, to: question.prompt, of: program)
      noteQuestion(host.read(program) { $0.authorization.asked } ?? nil, of: program, connection)
      return .success(.empty)
    case .refused(let name, let user):
      let status: AuthorizationStatus =
        switch answer {
        case .always: .authorizedAlways
        case .deny: .denied
        case .whenInUse, .once, .notShown: .authorizedWhenInUse
        }
      return store(status, accuracy: nil, for: name, user)
    }
  }

  private func set(_ call: VarlinkCall, _ user: UInt32, _ connection: Connection) -> VarlinkReply {
    guard let name = call.parameters["name"]?.string.map({ ExactText($0) }) else {
      return .failure(.invalidParameter("name"))
    }
    guard let identity = ProgramIdentity(name: name) else {
      return .failure(VarlinkError("org.sextant.Authorization.NoSuchProgram", ["name": .string(name.text)]))
    }
    let statuses: [AuthorizationStatus] = [.notDetermined, .denied, .authorizedWhenInUse, .authorizedAlways]
    guard let status = statuses.first(where: { $0.name == call.parameters["status"]?.string }) else {
      return .failure(.invalidParameter("status"))
    }
    let accuracy: AccuracyAuthorization?
    switch call.parameters["accuracy"] {
    case nil, .null?: accuracy = nil
    case .string("full")?: accuracy = .full
    case .string("reduced")?: accuracy = .reduced
    default: return .failure(.invalidParameter("accuracy"))
    }
    let running = allConnections.filter { $0.program != nil && $0.credentials.user == user && $0.name == name }
    let isAsked = questions.questions(of: user).contains { $0.program.name == name }
    guard isAsked || !running.isEmpty || store(of: user)?.knows(name) == true else {
      return .failure(VarlinkError("org.sextant.Authorization.NoSuchProgram", ["name": .string(name.text)]))
    }
    let programs =
      [PermissionQuestions.Program(name: name, user: user, process: 0, executable: identity.executable)]
      + running.map(\.questioner) + questions.questions(of: user).map(\.program).filter { $0.name == name }
    if let refusal = refusal(of: connection, for: programs) { return refusal }
    let reply = store(status, accuracy: accuracy, for: name, user)
    if case .success = reply {
      for program in running.compactMap(\.program) { host.decide(status, accuracy, of: program) }
    }
    return reply
  }

  /// Stores a user's switch of all location services (GE-1). Switching on is a decision about each program of the user,
  /// so that none of them may make it.
  private func setServices(_ call: VarlinkCall, _ user: UInt32, _ connection: Connection) -> VarlinkReply {
    guard let isOn = call.parameters["on"]?.bool else { return .failure(.invalidParameter("on")) }
    // A process without a known executable may decide nothing, also if the user has no programs.
    var programs = [PermissionQuestions.Program(name: "", user: user, process: 0)]
    if isOn {
      programs += storedPrograms(of: user, store(of: user)).compactMap { ProgramIdentity(name: $0.app)?.executable }
        .map { PermissionQuestions.Program(name: "", user: user, process: 0, executable: $0) }
      programs += allConnections.filter { $0.program != nil && $0.credentials.user == user }.map(\.questioner)
      programs += questions.questions(of: user).map(\.program)
    }
    if let refusal = refusal(of: connection, for: programs) { return refusal }
    return storing(user) { store throws(FileError) in try store.setServices(on: isOn) } ?? .success(.empty)
  }

  /// Stores a permission. Running programs receive it through the watch of its file.
  private func store(
    _ status: AuthorizationStatus, accuracy: AccuracyAuthorization?, for name: ExactText, _ user: UInt32
  ) -> VarlinkReply {
    let refusal = storing(user) { store throws(FileError) in
      if status == .notDetermined {
        try store.reset(name)
      } else {
        try store.set(status, accuracy: accuracy, for: name)
      }
    }
    if let refusal { return refusal }
    questions.set(nil, of: .refused(name: name, user: user), .init(name: name, user: user, process: 0))
    return .success(.empty)
  }

  /// Stores the decision of an answer. Returns the refusal if that is impossible.
  private func stored(_ record: Authorization.Record, for name: ExactText, _ user: UInt32) -> VarlinkReply? {
    storing(user) { store throws(FileError) in try store.set(record, for: name) }
  }

  private func storing(_ user: UInt32, _ body: (AuthorizationStore) throws(FileError) -> Void) -> VarlinkReply? {
    guard let store = store(of: user) else {
      return .failure(.notStored("the service has no folder for its state"))
    }
    do throws(FileError) { try body(store) } catch {
      return .failure(.notStored("\(error.path): \(error.reason)"))
    }
    return nil
  }

  // MARK: Questions

  /// Records the current prompt of a connected program.
  func noteQuestion(_ asked: Authorization.Prompt?, of program: ProgramID, _ connection: Connection) {
    questions.set(asked, of: .program(program), connection.questioner)
  }

  /// Records a program of org.sextant.Location without a stored permission, which agents may grant for its next call.
  func noteRefused(_ connection: Connection) {
    let prompt = Authorization.Prompt(
      request: .always, text: "it reads locations from the service's socket", isUpgrade: false)
    questions.set(
      prompt, of: .refused(name: connection.name, user: connection.credentials.user), connection.questioner)
  }

  /// Sends an agent the prompts of its user if they have changed.
  func deliverQuestions(
    to connection: Connection, _ call: VarlinkServerConnection.CallID, _ user: UInt32, _ sent: Int
  ) {
    let revision = questions.revision(of: user)
    guard revision != sent else { return }
    let reply = VarlinkReply.success(["questions": .questions(questions.questions(of: user))], continues: true)
    // An agent that reads too slowly gets the newest list once it reads again.
    if connection.isQueued(call, reply) { connection.role = .agent(call, user: user, revision: revision) }
  }
}

extension Connection {
  /// The description of the program in a prompt.
  var questioner: PermissionQuestions.Program {
    PermissionQuestions.Program(
      name: name, user: peer.credentials.user, process: peer.credentials.process, executable: peer.executable,
      label: label, start: peer.start, group: peer.group)
  }

  /// Returns the outputs of a round for the program. They include a prompt once, if the program is in the foreground of
  /// a terminal: it prints the command that answers the prompt.
  func outputs(
    _ outputs: [PositioningOutput], asked: Authorization.Prompt?, isShownHere: Bool
  ) -> [PositioningOutput] {
    var outputs = outputs.filter { if case .prompt = $0 { false } else { true } }
    if let asked, isShownHere, shownPrompt != asked {
      shownPrompt = asked
      outputs.append(.prompt(asked))
    }
    if asked == nil { shownPrompt = nil }
    return outputs
  }
}

extension VarlinkReply {
  fileprivate static func notPermitted(_ refusal: PermissionQuestions.Refusal) -> VarlinkReply {
    .failure(VarlinkError("org.sextant.Authorization.NotPermitted", ["reason": .string(refusal.rawValue)]))
  }
}

extension JSON {
  /// The user whose programs a call is about, the caller if none is named; nil if the parameter is not a user's number.
  fileprivate func user(orOwn own: UInt32) -> UInt32? {
    switch self["user"] {
    case nil, .null?: own
    case .integer(let number)?: UInt32(exactly: number)
    default: nil
    }
  }

  fileprivate static func program(_ entry: AuthorizationStore.Entry, isExact: Bool) -> JSON {
    [
      "name": .string(entry.app.text), "status": .string(entry.status.name),
      "accuracy": entry.accuracy == .full ? "full" : "reduced", "restricted": .bool(entry.isRestricted),
      "regions": .integer(Int64(entry.regions)), "visits": .bool(entry.visits), "isExactForNow": .bool(isExact),
    ]
  }

  fileprivate static func questions(_ questions: [PermissionQuestions.Question]) -> JSON {
    .array(
      questions.map { question in
        [
          "id": .integer(Int64(question.id)), "name": .string(question.program.name.text),
          "label": question.program.label.map { .string($0) } ?? .null,
          "pid": .integer(Int64(question.program.process)), "request": .string(question.prompt.request.word),
          "isUpgrade": .bool(question.prompt.isUpgrade), "text": .string(ProgramLabel.reason(question.prompt.text)),
        ]
      })
  }
}
