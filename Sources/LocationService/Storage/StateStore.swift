// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import Positioning
import Synchronization
import SystemPackage
import WireBytes

/// The files that keep a program's state from one run to the next. A file that cannot be read is set aside and logged once.
struct StateStore {
  /// The state folder; nil to store nothing.
  let folder: String?
  /// The folder that has the newest location of every fix, in memory that outlives the process but not a restart.
  let runFolder: String?
  let app: AppDescription
  private let sharedLocation: SharedLocationRecord?
  private let newestFile: BackgroundFile?

  init(folder: String?, runFolder: String?, app: AppDescription) {
    self.folder = folder
    self.runFolder = runFolder
    self.app = app
    sharedLocation = runFolder.map { SharedLocationRecord("\($0)/newest-location") }
    newestFile = folder.map { BackgroundFile("\($0)/\(StateFile.newestLocation.path(of: app))") }
  }

  /// Returns the state of the program that earlier runs stored, without the newest location, which is system-wide.
  ///
  /// - Parameter log: receives a line for each damaged file.
  func restored(_ log: (String) -> Void) -> PositioningEngine.Restored {
    var restored = PositioningEngine.Restored()
    guard let folder else { return restored }
    let own = "\(folder)/\(StateFile.appFolder(app))"
    // Most clients of the daemon have no files: one check replaces one for each file.
    do throws(Errno) { _ = try Syscalls.status(ofPath: own) } catch {
      if error == .noSuchFileOrDirectory { return restored }
    }
    removeAbandonedFiles(in: own)
    // The escaped names of monitors do not contain dots.
    removeAbandonedFiles(in: "\(own)/monitors") { _ in true }
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
    return restored
  }

  /// Returns the newest location that earlier runs stored.
  ///
  /// - Parameter log: receives a line for a damaged file.
  func restoredNewest(_ log: (String) -> Void) -> Location? {
    guard let folder else { return nil }
    removeAbandonedFiles(in: folder)
    if let runFolder { removeAbandonedFiles(in: runFolder) }
    let newest = load(.newestLocation, log) {
      StateText.location(in: $0)
    } write: {
      StateText.text(of: $0)
    }
    // The location in memory is never older than the one on the disk. If the disk has none, the folder was emptied, and
    // the one in memory is ignored too.
    return newest.flatMap(Self.shared).map { newestOfThisRun ?? $0 }
  }

  /// A value that changes whenever a program stores a newer location.
  var newestMarks: [FileLookup.Mark?] {
    guard let folder else { return [] }
    return ["\(folder)/\(StateFile.newestLocation.path(of: app))", runFolder.map { "\($0)/newest-location" }].map {
      $0.flatMap(FileLookup.mark)
    }
  }

  /// The newest location that any program has stored.
  var newest: Location? {
    guard let stored = text(of: .newestLocation).flatMap({ StateText.location(in: $0) }).flatMap(Self.shared) else {
      return nil
    }
    return newestOfThisRun ?? stored
  }

  /// Returns the conditions of a monitor that an earlier run stored.
  func monitor(_ name: String, _ log: (String) -> Void) -> [Monitor.Record] {
    load(.monitor(name), log) {
      StateText.monitor(in: $0)
    } write: {
      StateText.text(ofMonitor: $0)
    } ?? []
  }

  /// Undelivered locations of a deferral of an earlier run.
  var deferred: [Location] { text(of: .deferred).map { StateText.locations(in: $0) } ?? [] }

  /// Returns the current text of a file, without damaged lines; nil if there is no file. A permission that is damaged, or cannot be
  /// read, gives a text that cannot be parsed.
  func text(of file: StateFile) -> String? {
    guard let folder else { return nil }
    let text: String?
    do throws(FileError) { text = try PrivateFile.read("\(folder)/\(file.path(of: app))") } catch {
      return file == .authorization ? "" : nil
    }
    guard let text else { return nil }
    guard file.hasChecksum else { return text }
    let checked = ChecksummedText(text, place: file.path(of: app))
    return file == .authorization && checked.damage > 0 ? text : checked.content
  }

  /// Whether a permission was damaged and set aside, and none was stored since.
  var hasDamagedPermission: Bool {
    folder.map { FileLookup.exists("\($0)/\(StateFile.authorization.path(of: app))\(StateDamage.suffix)") } ?? false
  }

  /// Returns the cells of reduced accuracy of the location service, which are the same after a restart: a program that learns a border at
  /// each start would know the mean of many. Without a file that can be written they last as long as the service.
  func cells(using random: inout some RandomNumberGenerator) -> CellGrid {
    let path = folder.map { "\($0)/settings/cells" }
    if let stored = path.flatMap({ try? PrivateFile.read($0) }).flatMap({ StateText.cells(in: $0) }) { return stored }
    let cells = CellGrid(using: &random)
    if let path { try? PrivateFile.replace(path, with: StateText.text(of: cells)) }
    return cells
  }

  /// Returns the current external decisions about the program.
  func administration() -> Administration {
    var administration = Administration(app: app)
    administration.authorization = text(of: .authorization)
    administration.services = folder.flatMap { ServicesSwitch.read(inFolder: $0) }
    administration.policy = .installed()
    return administration
  }

  /// The folders of the files that `administration` reads.
  var administrationFolders: [String] {
    let inState = [StateFile.appFolder(app), "settings"].map { name in folder.map { "\($0)/\(name)" } }
    return inState.compactMap(\.self) + ["/etc/sextant"]
  }

  /// Replaces a file on the disk.
  func store(_ file: StateFile, _ text: String) throws(FileError) {
    guard let folder else { return }
    guard file == .newestLocation else {
      let place = file.path(of: app)
      let text = file.hasChecksum ? ChecksummedText.text(text, place: place) : text
      // A longer file would not be read again.
      guard text.utf8.count <= Self.sizeLimit else {
        throw .longer(than: Self.sizeLimit, "\(folder)/\(place)")
      }
      return try PrivateFile.replace("\(folder)/\(place)", with: text)
    }
    // An invalid value would not be read again.
    guard StateText.location(in: text) != nil || text.isEmpty else { return }
    try newestFile?.replace(with: text)
    remember(text)
  }

  /// Replaces the file of the newest location, which is already in memory, without waiting for the disk.
  ///
  /// - Parameter failed: receives the error, on any thread.
  func storeNewestLater(_ text: String, _ failed: @escaping @Sendable (FileError) -> Void) {
    newestFile?.replaceLater(with: text, failed)
  }

  /// Waits until the location passed to `storeNewestLater` is on the disk.
  func finish(_ failed: (FileError) -> Void) { newestFile?.finish(failed) }

  /// Keeps the newest location in memory until the computer is switched off. Without such memory, only the file on the
  /// disk has it, written once a minute.
  func remember(_ text: String) { remember(Array(text.utf8)) }
  func remember(_ text: [UInt8]) { sharedLocation?.keep(text) }

  /// The size of the largest file, which limits a read.
  private static let sizeLimit = 1 << 20

  private var newestOfThisRun: Location? {
    runFolder.flatMap { try? PrivateFile.read("\($0)/newest-location") }.flatMap { StateText.location(in: $0) }
      .flatMap(Self.shared)
  }

  /// Returns a location that may be shared; nil for a simulated one, which an older version stored.
  private static func shared(_ location: Location) -> Location? {
    location.source?.isSimulatedBySoftware == true ? nil : location
  }

  private func load<Value>(
    _ file: StateFile, _ log: (String) -> Void, read: (String) -> Value?, write: (Value) -> String
  ) -> Value? {
    guard let folder else { return nil }
    let path = "\(folder)/\(file.path(of: app))"
    let stored: String
    do throws(FileError) {
      guard let found = try PrivateFile.read(path) else { return nil }
      stored = found
    } catch {
      let nextStep =
        switch error.errno {
        case .permissionDenied: "give yourself the permission, or remove it"
        case .notPermitted: error.nextStep
        default: "remove it"
        }
      log("\(path): \(error.reason); its content is not used (\(nextStep))")
      return nil
    }
    let checked = file.hasChecksum ? ChecksummedText(stored, place: file.path(of: app)) : nil
    let text = checked?.content ?? stored
    let value = read(text)
    guard let damage = StateText.damage(in: text, of: file, lost: checked?.damage ?? 0) else {
      // A file of an older version gets its checksums.
      if checked?.lacksChecksum == true, let value { try? store(file, write(value)) }
      return value
    }
    log(damage.text(path: path))
    // The copy is written first and then the readable part, so that one of the two exists at each instant.
    try? PrivateFile.replace(path + StateDamage.suffix, with: checked?.damage ?? 0 > 0 ? stored : text)
    if damage != .foreign, let value {
      try? store(file, write(value))
    } else {
      try? PrivateFile.remove(path)
    }
    return damage == .foreign ? nil : value
  }

  /// Removes the temporary files of killed writers, whose names end with the number of an ended process.
  private func removeAbandonedFiles(in folder: String, isStateFile: (String) -> Bool = StateFile.names.contains) {
    for name in PrivateFile.names(in: folder) {
      if name.ends(with: "+") { removeAbandonedFiles(in: "\(folder)/\(name)", isStateFile: isStateFile) }
      guard let dot = name.lastPosition(of: "."), let process = Int32(name[name.utf8.index(after: dot)...]),
        process > 0,
        isStateFile(String(name[..<dot])), !System.isAlive(process)
      else { continue }
      try? PrivateFile.remove("\(folder)/\(name)")
    }
  }
}

/// The folder for state that a restart of the computer may discard.
enum RuntimeFolder {
  /// Returns the folder's path, one for each state folder; nil if there is none.
  ///
  /// - Parameter variable: returns a variable of the environment; SEXTANT_RUN_DIR replaces /run and XDG_RUNTIME_DIR.
  static func path(isRoot: Bool, stateFolder: String?, _ variable: (String) -> String?) -> String? {
    guard let stateFolder, stateFolder.begins(with: "/") else { return nil }
    func folder(_ name: String) -> String? { variable(name).flatMap { $0.begins(with: "/") ? $0 : nil } }
    let run = folder("SEXTANT_RUN_DIR") ?? (isRoot ? "/run/sextant" : folder("XDG_RUNTIME_DIR").map { $0 + "/sextant" })
    let name = StateText.escape(stateFolder) { $0 > 0x20 && $0 != 0x7F && $0 != 0x2F }
    return run.map { "\($0)/\(name)" }
  }
}

/// A record in memory that outlives the process. It is rewritten in place with one system call, because a new file for
/// each fix would take too long.
final class SharedLocationRecord: Sendable {
  private struct State: ~Copyable { var file: RecordFile? }

  private let path: String
  private let state = Mutex(State(file: nil))

  init(_ path: String) { self.path = path }

  /// Stores a text. If that fails, the record is removed: an old record would hide the newer one on the disk.
  func keep(_ text: [UInt8]) {
    state.withLock { state in
      // A location is never that long.
      guard text.count < RecordFile.size else {
        state.file = nil
        try? PrivateFile.remove(path)
        return
      }
      do throws(FileError) {
        if state.file == nil { state.file = try RecordFile(path) }
        try state.file!.replace(with: text)
      } catch {
        state.file = nil
        try? PrivateFile.remove(path)
      }
    }
  }
}

/// A file that a separate thread can replace: fsync(2) takes seconds while flash memory erases, and the caller must not
/// wait for it. A newer text replaces a pending one.
final class BackgroundFile: Sendable {
  private let path: String
  private let waiting = Mutex<String?>(nil)
  /// Locked while the file is written.
  private let writing = Mutex(())

  init(_ path: String) { self.path = path }

  /// Replaces the file later.
  ///
  /// - Parameter failed: receives the error, on any thread.
  func replaceLater(with text: String, _ failed: @escaping @Sendable (FileError) -> Void) {
    let hadText = waiting.withLock { waiting in
      defer { waiting = text }
      return waiting != nil
    }
    // The thread of the pending text writes this one.
    if hadText { return }
    if !BackgroundWork.start({ [self] in finish(failed) }) { finish(failed) }
  }

  /// Replaces the file now.
  func replace(with text: String) throws(FileError) {
    try writing.withLock { _ throws(FileError) in
      waiting.withLock { $0 = nil }
      try PrivateFile.replace(path, with: text)
    }
  }

  /// Writes the pending text, and waits for a write in progress.
  func finish(_ failed: (FileError) -> Void) {
    writing.withLock { _ in
      guard let text = waiting.withLock({ $0.take() }) else { return }
      do throws(FileError) { try PrivateFile.replace(path, with: text) } catch { failed(error) }
    }
  }
}
