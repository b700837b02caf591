// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import WireBytes

/// A question of a program that waits for the user's answer.
struct OpenQuestion: Equatable {
  var id: Int64
  var app: ExactText
  /// The name that the program states; nil from an older service.
  var label: String?
  var process: Int64
  var prompt: Authorization.Prompt

  /// Nil for what no service sends.
  init?(_ question: JSON) {
    guard case .integer(let id)? = question["id"], let app = question["name"]?.string,
      let request = question["request"]?.string
    else { return nil }
    self.id = id
    self.app = ExactText(app)
    label = question["label"]?.string
    if case .integer(let process)? = question["pid"] { self.process = process } else { process = 0 }
    let requests: [Authorization.Request] = [.whenInUse, .always, .temporaryFullAccuracy(purpose: "")]
    guard let request = requests.first(where: { $0.word == request }) else { return nil }
    prompt = Authorization.Prompt(
      request: request, text: question["text"]?.string ?? "", isUpgrade: question["isUpgrade"]?.bool ?? false)
  }

  static func list(_ questions: JSON?) -> [OpenQuestion] { (questions?.elements ?? []).compactMap { OpenQuestion($0) } }
}

/// The permissions and the open questions of a user in the location service, by org.sextant.Authorization.
struct ServicePermissions: ~Copyable {
  private static let interface = "org.sextant.Authorization"

  private var client: ServiceClient
  /// Another user than the caller.
  private let user: UInt32?
  let path: String

  init(path: String, user: UInt32?) throws {
    client = try ServiceClient(path: path)
    self.user = user
    self.path = path
  }

  /// The socket of the service that `sextant authorize` changes; nil if it changes the files of this user. SEXTANT_STATE_DIR
  /// names files, unless SEXTANT_SERVICE names a socket.
  static var socketPath: String? {
    let service = environment("SEXTANT_SERVICE") ?? ""
    if service.isEmpty, environment("SEXTANT_STATE_DIR")?.isEmpty == false { return nil }
    switch ServiceChoice({ environment($0) }, isServed: { RemoteLocationService.isServed(at: $0) }) {
    case .inProcess: return nil
    case .daemon(let path): return path
    }
  }

  /// Calls the service, which may limit the changes of a user for some seconds: then the call is repeated.
  private mutating func call(_ method: String, _ parameters: JSON) throws -> JSON {
    while true {
      var wait: Milliseconds?
      do {
        return try call(method, parameters) { wait = Self.wait(after: $0) }
      } catch {
        guard let wait else { throw error }
        printNotice("the service limits the changes of a user; the next one is in \(wait.count / 1000) s")
        var poller = try Poller()
        _ = try poller.wait(deadline: (SystemClock.monotonic + wait).nanoseconds)
      }
    }
  }

  /// The time after which a call that an error has refused is possible; nil if it is not by itself.
  static func wait(after error: VarlinkError) -> Milliseconds? {
    guard error.name == "\(interface).NotStored", case .integer(let seconds)? = error.parameters["retrySeconds"],
      (0...60).contains(seconds)
    else { return nil }
    return Milliseconds(UInt64(seconds) * 1000)
  }

  private mutating func call(_ method: String, _ parameters: JSON, failed: (VarlinkError) -> Void) throws -> JSON {
    let path = path
    return try client.call("\(Self.interface).\(method)", parameters) { error in
      failed(error)
      let detail = error.parameters["reason"]?.string ?? error.parameters["name"]?.string ?? ""
      return switch error.name {
      case "\(Self.interface).NoSuchProgram":
        CommandFailure(.noInput, "\(detail): no such program; name one that `sextant authorize` shows")
      case "\(Self.interface).NoSuchQuestion":
        CommandFailure(.noInput, "the question was withdrawn or answered already")
      case "\(Self.interface).NotPermitted":
        CommandFailure(.noPermission, "\(path): \(detail.isEmpty ? "the service does not accept the answer" : detail)")
      case "\(Self.interface).NotStored": CommandFailure(.cannotCreate, "\(detail); see `journalctl -u sextantd`")
      default: nil
      }
    }
  }

  /// The programs with stored state, the open questions, and the user's switch of all location services.
  struct List {
    var entries: [AuthorizationStore.Entry]
    var questions: [OpenQuestion]
    var servicesAreOn: Bool
  }

  mutating func list() throws -> List {
    let reply = try call("List", JSON(omittingNil: ["user": user]))
    let entries = (reply["programs"]?.elements ?? []).compactMap { program -> AuthorizationStore.Entry? in
      guard let name = program["name"]?.string, let word = program["status"]?.string,
        let status = AuthorizationStatus.allCases.first(where: { "\($0)" == word })
      else { return nil }
      var regions = 0
      if case .integer(let count)? = program["regions"] { regions = Int(count) }
      return AuthorizationStore.Entry(
        app: ExactText(name), status: status, accuracy: program["accuracy"]?.string == "reduced" ? .reduced : .full,
        regions: regions, visits: program["visits"]?.bool ?? false, isRestricted: program["restricted"]?.bool ?? false,
        isUnreadable: false, isExactForNow: program["isExactForNow"]?.bool ?? false)
    }
    return List(
      entries: entries, questions: OpenQuestion.list(reply["questions"]),
      servicesAreOn: reply["servicesAreOn"]?.bool ?? true)
  }

  /// Answers a question.
  mutating func answer(_ question: OpenQuestion, _ answer: Authorization.Answer) throws {
    let word =
      switch answer {
      case .whenInUse: "whenInUse"
      case .once: "once"
      case .always: "always"
      case .deny, .notShown: "deny"
      }
    _ = try call("Answer", ["id": .integer(question.id), "answer": .string(word)])
  }

  /// Stores a permission; notDetermined lets the program ask again.
  mutating func set(_ status: AuthorizationStatus, accuracy: AccuracyAuthorization?, for app: ExactText) throws {
    _ = try call(
      "Set",
      JSON(omittingNil: [
        "name": app.text, "status": "\(status)", "accuracy": accuracy.map { $0 == .full ? "full" : "reduced" },
        "user": user,
      ]))
  }

  /// Switches all location services of the user.
  mutating func setServices(on isOn: Bool) throws {
    _ = try call("SetServices", JSON(omittingNil: ["on": isOn, "user": user]))
  }

  /// Allows a program what it asks for, or `extent` if that is given.
  mutating func allow(_ app: ExactText, _ extent: AuthorizationStatus?) throws {
    if extent == nil, let question = try list().questions.first(where: { $0.app == app }) {
      switch question.prompt.request {
      case .always: return try answer(question, .always)
      case .whenInUse: return try answer(question, .whenInUse)
      case .temporaryFullAccuracy: return try answer(question, .once)
      }
    }
    try set(extent ?? .authorizedWhenInUse, accuracy: nil, for: app)
  }

  /// Denies a program its location. A question about more than its permission is answered, and the permission is kept.
  mutating func deny(_ app: ExactText) throws {
    if let question = try list().questions.first(where: { $0.app == app }), question.prompt.keepsPermission {
      return try answer(question, .deny)
    }
    try set(.denied, accuracy: nil, for: app)
  }

  /// Returns the name in the service for one that the user gave: the full one, or the executable or its name if that is of one
  /// program only. A name that a program states counts while it asks.
  mutating func name(of app: String) throws -> ExactText {
    let list = try list()
    let (entries, questions) = (list.entries, list.questions)
    let names = Set(entries.map(\.app)).union(questions.map(\.app))
    if names.contains(ExactText(app)) { return ExactText(app) }
    let executable = app.includes("/") ? FileLookup.resolved(app) ?? app : app
    let stated = Set(questions.filter { $0.label.map { ExactText($0) } == ExactText(app) }.map(\.app))
    let found = names.filter { $0.text.begins(with: "\(app)@") || $0.text.ends(with: "@\(executable)") }.union(stated)
    if found.count > 1 {
      let list = found.sorted().map { PrintedText.escaped($0.text) }.joined(separator: ", ")
      throw CommandFailure(.usage, "\(app) is the name of several programs: \(list)")
    }
    return found.first ?? ExactText(app)
  }
}

extension JSON {
  var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
}
