import FileSystem
import Positioning
import SystemPackage

/// What is kept of a program from one run to the next, as files; what cannot be read is set aside and told once.
struct StateStore {
  /// nil: nothing is kept.
  let folder: String?
  /// Where the newest location is kept at every fix: memory that outlives the process, and not the computer's run.
  let runFolder: String?
  let app: AppDescription
  private let runMemory: RunMemory?

  init(folder: String?, runFolder: String?, app: AppDescription) {
    self.folder = folder
    self.runFolder = runFolder
    self.app = app
    runMemory = runFolder.map { RunMemory("\($0)/newest-location") }
  }

  /// What earlier runs left.
  ///
  /// - Parameter say: takes a line for each file that is not as it should be.
  func restored(_ log: (String) -> Void) -> PositioningEngine.Restored {
    var restored = PositioningEngine.Restored()
    guard let folder else { return restored }
    sweep(folder)
    sweep("\(folder)/\(StateFile.appFolder(app))")
    // The names of monitors are escaped, and have no dot of their own.
    sweep("\(folder)/\(StateFile.appFolder(app))/monitors") { _ in true }
    if let runFolder { sweep(runFolder) }
    restored.regions =
      load(.regions, log) {
        StateText.regions(in: $0)
      } write: {
        StateText.text(of: $0)
      } ?? []
    restored.visits = load(.visits, log) {
      StateText.visits(in: $0)
    } write: {
      StateText.text(of: $0)
    }
    restored.authorization =
      load(.authorization, log) {
        StateText.authorization(in: $0)
      } write: {
        StateText.text(of: $0)
      }
    restored.newest = load(.newestLocation, log) {
      StateText.location(in: $0)
    } write: {
      StateText.text(of: $0)
    }
    // What this run remembers is never older than what the disk has. Where the disk has none, the folder was emptied: what
    // is remembered was to be forgotten as well.
    if restored.newest != nil { restored.newest = newestOfThisRun ?? restored.newest }
    return restored
  }

  /// Another value, when some program has stored a newer location.
  var newestMarks: [FileLookup.Mark?] {
    guard let folder else { return [] }
    return ["\(folder)/\(StateFile.newestLocation.path(of: app))", runFolder.map { "\($0)/newest-location" }].map {
      $0.flatMap(FileLookup.mark)
    }
  }

  /// The newest location as it is stored now, by whichever program.
  var newest: Location? {
    guard let stored = text(of: .newestLocation).flatMap({ StateText.location(in: $0) }) else { return nil }
    return newestOfThisRun ?? stored
  }

  /// The conditions of a monitor as an earlier run left them.
  func monitor(_ name: String, _ log: (String) -> Void) -> [Monitor.Record] {
    load(.monitor(name), log) {
      StateText.monitor(in: $0)
    } write: {
      StateText.text(ofMonitor: $0)
    } ?? []
  }

  /// Locations that a deferral of an earlier run kept and that were not delivered.
  var deferred: [Location] { text(of: .deferred).map { StateText.locations(in: $0) } ?? [] }

  /// The text of a file as it is now; nil when there is none.
  func text(of file: StateFile) -> String? {
    folder.flatMap { try? PrivateFile.read("\($0)/\(file.path(of: app))") }
  }

  /// What was decided outside the program, as it is now.
  func administration() -> Administration {
    var administration = Administration(app: app.identifier)
    administration.authorization = text(of: .authorization)
    administration.services = folder.flatMap { try? PrivateFile.read("\($0)/\(ServicesSwitch.path)") }
    administration.policy = try? UserFile.read(LocationPolicy.path)
    return administration
  }

  /// The folders that the files of `administration` are in.
  var administrationFolders: [String] {
    let inState = [StateFile.appFolder(app), "settings"].map { name in folder.map { "\($0)/\(name)" } }
    return inState.compactMap(\.self) + ["/etc/sextant"]
  }

  /// Replaces a file, and brings it to the disk.
  func store(_ file: StateFile, _ text: String) throws(FileError) {
    guard let folder else { return }
    try PrivateFile.replace("\(folder)/\(file.path(of: app))", with: text)
    if file == .newestLocation { remember(text) }
  }

  /// Keeps the newest location until the computer is switched off. Where there is no place for that, once a minute has to
  /// do.
  func remember(_ text: String) {
    runMemory?.keep(text)
  }

  private var newestOfThisRun: Location? {
    runFolder.flatMap { try? PrivateFile.read("\($0)/newest-location") }.flatMap { StateText.location(in: $0) }
  }

  private func load<Value>(
    _ file: StateFile, _ log: (String) -> Void, read: (String) -> Value?, write: (Value) -> String
  ) -> Value? {
    guard let folder else { return nil }
    let path = "\(folder)/\(file.path(of: app))"
    let text: String
    do throws(FileError) {
      guard let found = try PrivateFile.read(path) else { return nil }
      text = found
    } catch {
      let cure =
        switch error.errno {
        case .permissionDenied: "give yourself the permission, or remove it"
        case .notPermitted: error.nextStep
        default: "remove it"
        }
      log("\(path): \(error.reason); what it holds is not used (\(cure))")
      return nil
    }
    let value = read(text)
    guard let damage = StateText.damage(in: text, of: file) else { return value }
    log(damage.text(path: path))
    // The copy comes first, then what is left takes the file's place: at each instant one of both is there.
    try? PrivateFile.replace(path + StateDamage.suffix, with: text)
    if damage != .foreign, let value {
      try? PrivateFile.replace(path, with: write(value))
    } else {
      try? PrivateFile.remove(path)
    }
    return damage == .foreign ? nil : value
  }

  /// Removes what writers left that were killed: a file's name, and behind it the number of a process that is gone.
  private func sweep(_ folder: String, isOurs: (String) -> Bool = StateFile.names.contains) {
    for name in PrivateFile.names(in: folder) {
      guard let dot = name.lastIndex(of: "."), let process = Int32(name[name.index(after: dot)...]), process > 0,
        isOurs(String(name[..<dot])), !System.isAlive(process)
      else { continue }
      try? PrivateFile.remove("\(folder)/\(name)")
    }
  }
}

/// Where this run of the computer keeps what a power cut may take.
enum RunFolder {
  /// The folder's path, one for each state folder; nil when there is no such place.
  ///
  /// - Parameter variable: a variable of the environment; SEXTANT_RUN_DIR replaces /run and XDG_RUNTIME_DIR.
  static func path(isRoot: Bool, stateFolder: String?, _ variable: (String) -> String?) -> String? {
    guard let stateFolder, stateFolder.hasPrefix("/") else { return nil }
    func folder(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let run = folder("SEXTANT_RUN_DIR") ?? (isRoot ? "/run/sextant" : folder("XDG_RUNTIME_DIR").map { $0 + "/sextant" })
    let name = StateText.escape(stateFolder) { $0 > 0x20 && $0 != 0x7F && $0 != 0x2F }
    return run.map { "\($0)/\(name)" }
  }
}
