// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import LinuxIO
import LocationService
import Messages
import Positioning
import SystemPackage
import WireBytes

/// `sextant authorize`: shows and changes location permissions.
struct Authorize: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authorize",
    abstract: "Show and change location permissions.",
    discussion: """
      APP is a name that `sextant authorize` shows (the bundle identifier of a program, or the name of its executable), or \
      the path of an executable. Running programs receive a change at once. Permissions belong to a user: use `sudo` for \
      root's programs, and `sudo -u NAME` for a service's programs. Where the location service runs, its permissions are \
      shown and changed, and --user names another user.
      """,
    subcommands: [
      Show.self, Allow.self, Grant.self, Deny.self, Reset.self, Services.self, Restrict.self, Unrestrict.self,
    ],
    defaultSubcommand: Show.self)
}

extension Authorize {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show the permissions.")

    @Flag(help: "Print one JSON object.")
    var json = false
    @Flag(help: "Wait for the questions of programs, and ask them on this terminal. Needs the location service.")
    var agent = false
    @OptionGroup var target: TargetUser

    func run() throws {
      if agent {
        guard let path = ServicePermissions.socketPath else {
          throw CommandFailure(
            .unavailable, "--agent needs the location service; start it with `systemctl start sextantd`")
        }
        var agent = try AuthorizationAgent(path: path, user: target.user)
        return try agent.run()
      }
      if let path = ServicePermissions.socketPath { return try show(path) }
      try target.refuseUser()
      let store = try store()
      let listing = PermissionListing(
        folder: store.stateFolder, isOn: store.servicesAreOn, isOnForUser: store.servicesAreOnForUser,
        entries: store.entries())
      if let problem = AuthorizationStore.policyProblem { printNotice(problem) }
      try Output.write(json ? listing.json() : listing.lines())
    }

    private func show(_ path: String) throws {
      var service = try ServicePermissions(path: path, user: target.user)
      let list = try service.list()
      let isOn = list.servicesAreOn && !AuthorizationStore.policyTurnsServicesOff
      let listing = PermissionListing(
        folder: path, isOn: isOn, isOnForUser: list.servicesAreOn, entries: list.entries, questions: list.questions)
      if let problem = AuthorizationStore.policyProblem { printNotice(problem) }
      try Output.write(json ? listing.json() : listing.lines())
    }
  }

  /// The user whose permissions are shown and changed.
  struct TargetUser: ParsableArguments {
    @Option(help: "The number of a user of the location service, instead of the present one; needs root.")
    var user: UInt32?

    /// Files belong to the present user.
    func refuseUser() throws {
      if user != nil {
        throw CommandFailure(
          .unavailable, "--user needs the location service; start it with `systemctl start sextantd`")
      }
    }
  }

  struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "allow",
      abstract:
        "Allow a program what it asks for. Without a question, allow its location while it is in the foreground.")
    @Argument(help: "The program.") var app: String
    @Argument(help: "always, or whenInUse: only in the foreground.") var extent: Grant.Extent?
    @OptionGroup var target: TargetUser

    func run() throws {
      let status: AuthorizationStatus? = extent.map { $0 == .always ? .authorizedAlways : .authorizedWhenInUse }
      try change(app, target) { (service, name) in
        try service.allow(name, status)
      } inFiles: {
        (store, app) throws(FileError) in
        try store.set(status ?? .authorizedWhenInUse, for: app)
      }
    }
  }

  struct Grant: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "grant", abstract: "Grant a program its location.")

    enum Extent: String, ExpressibleByArgument, CaseIterable { case always, whenInUse }

    enum Accuracy: EnumerableFlag {
      case full, reduced

      static func help(for value: Self) -> ArgumentHelp? {
        value == .full ? "Give the location with full accuracy." : "Limit the accuracy to about 5 km."
      }
    }

    @Argument(help: "The program.") var app: String
    @Argument(help: "always, or whenInUse: only in the foreground.") var extent: Extent
    @Flag var accuracy: Accuracy?
    @OptionGroup var target: TargetUser

    func run() throws {
      let status: AuthorizationStatus = extent == .always ? .authorizedAlways : .authorizedWhenInUse
      let accuracy: AccuracyAuthorization? = accuracy.map { $0 == .full ? .full : .reduced }
      try change(app, target) { (service, name) in
        try service.set(status, accuracy: accuracy, for: name)
      } inFiles: {
        (store, app) throws(FileError) in
        try store.set(status, accuracy: accuracy, for: app)
      }
    }
  }

  struct Deny: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "deny",
      abstract: "Deny a program its location. If it asks for more than it has, deny that and keep its permission.")
    @Argument(help: "The program.") var app: String
    @OptionGroup var target: TargetUser

    func run() throws {
      try change(app, target) { (service, name) in
        try service.deny(name)
      } inFiles: {
        (store, app) throws(FileError) in
        try store.set(.denied, for: app)
      }
    }
  }

  struct Reset: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset", abstract: "Delete the decision about a program, which may then ask again.")
    @Argument(help: "The program; omit it with --all.") var app: String?
    @Flag(help: "Reset all programs.") var all = false
    @OptionGroup var target: TargetUser

    func validate() throws {
      if all == (app != nil) { throw ValidationError("Name a program, or use --all.") }
    }

    func run() throws {
      let apps = try app.map { [$0] } ?? names()
      for app in apps {
        try change(app, target) { (service, name) in
          try service.set(.notDetermined, accuracy: nil, for: name)
        } inFiles: {
          (store, app) throws(FileError) in
          try store.reset(app)
        }
      }
    }

    private func names() throws -> [String] {
      guard let path = ServicePermissions.socketPath else { return try store().entries().map(\.app.text) }
      var service = try ServicePermissions(path: path, user: target.user)
      return try service.list().entries.map(\.app.text)
    }
  }

  struct Services: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "services",
      abstract: "Switch all location services on or off. Permissions are kept.")

    enum Position: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(help: "on or off.") var position: Position
    @Flag(help: "For all users of this machine; needs root.") var machine = false
    @OptionGroup var target: TargetUser

    func validate() throws {
      if machine, target.user != nil { throw ValidationError("--machine is for all users; omit --user.") }
    }

    func run() throws {
      let isOn = position == .on
      if machine {
        return try reporting(.machine) {
          try AuthorizationStore.changePolicy { LocationPolicy.text($0, servicesOff: !isOn) }
        }
      }
      if let path = ServicePermissions.socketPath {
        var service = try ServicePermissions(path: path, user: target.user)
        try service.setServices(on: isOn)
      } else {
        try target.refuseUser()
        try reporting { try store().setServices(on: isOn) }
      }
      if isOn, AuthorizationStore.policyTurnsServicesOff {
        printNotice("location services stay off: the administrator has disabled them (\(LocationPolicy.path))")
      }
    }
  }

  struct Restrict: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "restrict",
      abstract: "Deny a program its location for all users, whatever they decide. Needs root.")
    @Argument(help: "The program.") var app: String

    func run() throws { try restrict(app, true) }
  }

  struct Unrestrict: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unrestrict", abstract: "Remove the restriction of a program. Needs root.")
    @Argument(help: "The program.") var app: String

    func run() throws { try restrict(app, false) }
  }
}

// MARK: Shared by the subcommands

/// Returns the authorization store of the present user.
private func store() throws -> AuthorizationStore {
  guard let folder = stateFolder() else {
    throw CommandFailure(.cannotCreate, "there is no state folder; set HOME, or set SEXTANT_STATE_DIR to a folder")
  }
  return AuthorizationStore(stateFolder: folder)
}

/// Returns the identifier of a program.
private func identifier(_ app: String) throws -> String {
  if app.isEmpty {
    throw CommandFailure(.usage, "the name of the program is empty; name one that `sextant authorize` shows")
  }
  guard app.includes("/") else { return app }
  guard FileLookup.isRegularFile(app) else {
    throw CommandFailure(.noInput, "\(app): no such program; name one that `sextant authorize` shows")
  }
  return try ProgramName.ofExecutable(app)
}

/// Changes the permission of a program, in the location service if it runs, else in the files of this user.
private func change(
  _ app: String, _ target: Authorize.TargetUser, inService: (inout ServicePermissions, ExactText) throws -> Void,
  inFiles body: (AuthorizationStore, ExactText) throws(FileError) -> Void
) throws {
  if let path = ServicePermissions.socketPath {
    var service = try ServicePermissions(path: path, user: target.user)
    let name = try service.name(of: app)
    return try inService(&service, name)
  }
  try target.refuseUser()
  let name = ExactText(try identifier(app))
  try reporting {
    let store = try store()
    let isKnown = store.knows(name)
    try body(store, name)
    if !isKnown {
      printNotice("\(name) has no stored state yet (\(store.stateFolder)); the decision applies when it starts")
    }
  }
}

private func restrict(_ app: String, _ isRestricted: Bool) throws {
  // The path of an executable is what the kernel has of it; a program may state another name.
  let name = app.includes("/") && !app.includes("@/") ? FileLookup.resolved(app) ?? app : try identifier(app)
  try reporting(.machine) {
    try AuthorizationStore.changePolicy { LocationPolicy.text($0, restricting: name, isRestricted) }
  }
}

/// The scope of a decision.
private enum Scope {
  /// The programs of a user, in a folder that the user can change.
  case user
  /// The programs of all users, in a folder of the administrator.
  case machine

  func cure(isForbidden: Bool) -> String {
    switch (self, isForbidden) {
    case (.machine, true): "the decision is for all users of this machine; use sudo"
    case (.machine, false): "check the path and the disk"
    case (.user, true): "use sudo, or name another folder with SEXTANT_STATE_DIR"
    case (.user, false): "name another folder with SEXTANT_STATE_DIR"
    }
  }
}

/// Converts errors to command failures with the next step.
private func reporting(_ scope: Scope = .user, _ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as FileError {
    let isForbidden = error.isForbidden || error.errno == .readOnlyFileSystem
    throw CommandFailure(
      isForbidden ? .noPermission : .cannotCreate,
      "\(error.path): \(error.reason); \(scope.cure(isForbidden: isForbidden))")
  }
}

/// The name that a program has in the authorization store: its bundle identifier where its property list has one, else the
/// name of its executable. Only the program itself parses its property list, with Foundation.
enum ProgramName {
  /// The name of the executable at a path.
  ///
  /// - Parameters:
  ///   - path: the executable.
  ///   - read: the content of a file; nil if there is none that can be read.
  /// - Throws: `CommandFailure` if its property list has a bundle identifier.
  static func ofExecutable(
    _ path: String, read: (String) -> [UInt8]? = { try? InputFile.readAll($0, limit: 1 << 20) }
  ) throws(CommandFailure) -> String {
    let name = path.parts(at: "/").last.map(String.init) ?? path
    for place in PropertyListPaths.paths(ofExecutable: path) {
      guard let list = read(place) else { continue }
      // Keys of every format of property lists are ASCII.
      guard list.occurrence(of: "CFBundleIdentifier".utf8) != nil else { return name }
      throw CommandFailure(
        .usage, "\(path): is known by its bundle identifier; name that (CFBundleIdentifier in \(place))")
    }
    return name
  }
}

/// The output of `sextant authorize`.
struct PermissionListing {
  var folder: String
  /// Whether services are on, by the user's switch and the machine's policy.
  var isOn: Bool
  var isOnForUser: Bool
  var entries: [AuthorizationStore.Entry]
  /// The questions that wait in the location service.
  var questions: [OpenQuestion] = []

  /// Returns text for the user: the switch, then a line for each program.
  func lines() -> String {
    var text = "location services are " + (isOn ? "on" : isOnForUser ? "off for this machine" : "off") + "\n"
    for question in questions {
      let app = PrintedText.escaped(question.app.text)
      let stated = question.label.map { app.begins(with: "\($0)@") ? "" : " as \(PrintedText.escaped($0))" } ?? ""
      let reason = PrintedText.escaped(question.prompt.text)
      text +=
        "\(app) asks\(stated) for \(question.prompt.subject): \(reason) (process \(question.process); "
        + "answer with `sextant authorize allow` or `deny`)\n"
    }
    if entries.isEmpty, !questions.isEmpty { return text }
    if entries.isEmpty { return text + "no program has asked yet (\(folder))\n" }
    let names = entries.map { PrintedText.escaped($0.app.text) }
    let width = names.map(\.count).max() ?? 0
    for (name, entry) in zip(names, entries) {
      var words = [Self.name(entry.status)]
      if entry.accuracy == .reduced { words.append("to about 5 km") }
      if entry.isExactForNow { words.append("exact while it is in use") }
      if entry.isRestricted { words.append("restricted by the machine's administrator") }
      if entry.isUnreadable { words.append("the stored decision cannot be read") }
      if entry.regions > 0 { words.append("\(entry.regions) region\(entry.regions == 1 ? "" : "s")") }
      if entry.visits { words.append("visits") }
      text +=
        name + String(repeating: " ", count: width - name.count + 2) + words.joined(separator: ", ") + "\n"
    }
    return text
  }

  /// Returns one JSON object.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("services", isOn)
    line.field("folder", text: folder)
    line.beginArray("apps")
    for entry in entries {
      line.beginObject()
      line.field("app", text: entry.app.text)
      line.field("status", text: Self.name(entry.status))
      line.field("accuracy", text: entry.accuracy == .full ? "full" : "reduced")
      line.field("regions", entry.regions)
      line.field("visits", entry.visits)
      line.field("restricted", entry.isRestricted)
      line.field("exactForNow", entry.isExactForNow)
      line.endObject()
    }
    line.endArray()
    line.beginArray("questions")
    for question in questions {
      line.beginObject()
      line.field("app", text: question.app.text)
      line.field("pid", question.process)
      line.field("request", text: question.prompt.request.word)
      line.field("upgrade", question.prompt.isUpgrade)
      line.field("text", text: question.prompt.text)
      line.endObject()
    }
    line.endArray()
    line.endObject()
    line.endLine()
    return line.text
  }

  /// The name of the status in Core Location.
  private static func name(_ status: AuthorizationStatus) -> String { "\(status)" }
}
