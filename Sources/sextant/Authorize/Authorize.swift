import ArgumentParser
import FileSystem
import LocationService
import Positioning

/// `sextant authorize`: which programs may know where they are.
struct Authorize: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authorize",
    abstract: "Say which programs may know where they are.",
    discussion: """
      APP is a name that `sextant authorize` shows (a program's bundle identifier, or its executable's name), or the path of \
      an executable. A program that runs hears of a change at once. Permission is kept for each user by itself: use `sudo` \
      for the programs that root runs, `sudo -u NAME` for a service's.
      """,
    subcommands: [
      Show.self, Grant.self, Deny.self, Reset.self, Services.self, Restrict.self, Unrestrict.self,
    ],
    defaultSubcommand: Show.self)
}

extension Authorize {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show what is decided.")

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
      let store = try store()
      let listing = PermissionListing(
        folder: store.stateFolder, isOn: store.servicesAreOn, isOnForUser: store.servicesAreOnForUser,
        entries: store.entries())
      if let problem = AuthorizationStore.policyProblem { printNotice(problem) }
      try Output.write(json ? listing.json() : listing.lines())
    }
  }

  struct Grant: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "grant", abstract: "Let a program know where it is.")

    enum Extent: String, ExpressibleByArgument, CaseIterable { case always, whenInUse }

    enum Accuracy: EnumerableFlag {
      case full, reduced

      static func help(for value: Self) -> ArgumentHelp? {
        value == .full ? "As exactly as it is known." : "To about 5 km."
      }
    }

    @Argument(help: "The program.") var app: String
    @Argument(help: "always, or whenInUse: in the foreground only.") var extent: Extent
    @Flag var accuracy: Accuracy?

    func run() throws {
      let status: AuthorizationStatus = extent == .always ? .authorizedAlways : .authorizedWhenInUse
      try change(app) { (store, app) throws(FileError) in
        try store.set(status, accuracy: accuracy.map { $0 == .full ? .full : .reduced }, for: app)
      }
    }
  }

  struct Deny: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "deny", abstract: "Refuse it.")
    @Argument(help: "The program.") var app: String

    func run() throws {
      try change(app) { (store, app) throws(FileError) in try store.set(.denied, for: app) }
    }
  }

  struct Reset: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset", abstract: "Forget what was decided; the program may ask again.")
    @Argument(help: "The program; none with --all.") var app: String?
    @Flag(help: "All programs.") var all = false

    func validate() throws {
      if all == (app != nil) { throw ValidationError("Name a program, or say --all.") }
    }

    func run() throws {
      let store = try store()
      let apps = app.map { [$0] } ?? store.entries().map(\.app)
      for app in apps { try change(app) { (store, app) throws(FileError) in try store.reset(app) } }
    }
  }

  struct Services: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "services",
      abstract: "Switch all location services on or off; what was granted is kept.")

    enum Position: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(help: "on or off.") var position: Position
    @Flag(help: "For all users of this machine (root).") var machine = false

    func run() throws {
      let isOn = position == .on
      try reporting(machine ? .machine : .user) {
        if machine {
          try AuthorizationStore.changePolicy { LocationPolicy.text($0, servicesOff: !isOn) }
        } else {
          try store().setServices(on: isOn)
        }
      }
      if isOn, !machine, try !store().servicesAreOn {
        printNotice("services stay off: the machine's administrator has switched them off (\(LocationPolicy.path))")
      }
    }
  }

  struct Restrict: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "restrict",
      abstract: "Keep a program of every user from it, which no user can change (root).")
    @Argument(help: "The program.") var app: String

    func run() throws { try restrict(app, true) }
  }

  struct Unrestrict: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unrestrict", abstract: "Leave it to each user again (root).")
    @Argument(help: "The program.") var app: String

    func run() throws { try restrict(app, false) }
  }
}

// MARK: What the subcommands share

/// The book of the user who calls.
private func store() throws -> AuthorizationStore {
  guard let folder = stateFolder() else {
    throw CommandFailure(
      exitCode: CommandFailure.cannotCreate,
      description: "there is no place to keep it: set HOME, or name a folder with SEXTANT_STATE_DIR")
  }
  return AuthorizationStore(stateFolder: folder)
}

/// The name that a program is known by.
private func identifier(_ app: String) throws -> String {
  if app.isEmpty { throw CommandFailure(exitCode: CommandFailure.usage, description: "the program has no name") }
  guard app.contains("/") else { return app }
  guard FileLookup.isRegularFile(app) else {
    throw CommandFailure(
      exitCode: CommandFailure.noInput, description: "\(app): no such program; name one that `sextant authorize` shows")
  }
  return try ProgramName.ofExecutable(app)
}

private func change(
  _ app: String, _ body: (AuthorizationStore, String) throws(FileError) -> Void
) throws {
  let name = try identifier(app)
  try reporting {
    let store = try store()
    let isKnown = store.knows(name)
    try body(store, name)
    if !isKnown {
      printNotice("\(name) has kept nothing here so far (\(store.stateFolder)); what is decided counts when it starts")
    }
  }
}

private func restrict(_ app: String, _ isRestricted: Bool) throws {
  let name = try identifier(app)
  try reporting(.machine) {
    try AuthorizationStore.changePolicy { LocationPolicy.text($0, restricting: name, isRestricted) }
  }
}

/// What a decision is kept for.
private enum Keeping {
  /// The user's programs, in a folder that can be another one.
  case user
  /// All users' programs, which is the administrator's affair.
  case machine

  func cure(isForbidden: Bool) -> String {
    switch (self, isForbidden) {
    case (.machine, true): "it is for all users of this machine; use sudo"
    case (.machine, false): "check the path and the disk"
    case (.user, true): "use sudo, or name another folder with SEXTANT_STATE_DIR"
    case (.user, false): "name another folder with SEXTANT_STATE_DIR"
    }
  }
}

/// Failures as lines with their cure.
private func reporting(_ keeping: Keeping = .user, _ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as FileError {
    let isForbidden = error.isForbidden || error.errno == .readOnlyFileSystem
    throw CommandFailure(
      exitCode: isForbidden ? CommandFailure.noPermission : CommandFailure.cannotCreate,
      description: "\(error.path): \(error.reason); \(keeping.cure(isForbidden: isForbidden))")
  }
}
