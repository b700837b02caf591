// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import WireBytes

/// The permission of each program, and the switches, for `sextant authorize`. A running program applies each change at
/// once.
package struct AuthorizationStore: Sendable {
  /// The stored state of one program.
  package struct Entry: Sendable, Equatable {
    /// The program's bundle identifier, or its executable's name.
    package var app: ExactText
    package var status: AuthorizationStatus
    package var accuracy: AccuracyAuthorization
    /// The number of regions that it monitors.
    package var regions: Int
    /// Whether it monitors visits.
    package var visits: Bool
    /// Whether the machine's policy denies it locations, regardless of `status`.
    package var isRestricted: Bool
    /// Whether the file of its permission cannot be read; `status` is then the initial one.
    package var isUnreadable: Bool
    /// Whether it has full accuracy as long as it is in use; known by the location service alone.
    package var isExactForNow: Bool

    package init(
      app: ExactText, status: AuthorizationStatus, accuracy: AccuracyAuthorization, regions: Int, visits: Bool,
      isRestricted: Bool, isUnreadable: Bool, isExactForNow: Bool = false
    ) {
      self.app = app
      self.status = status
      self.accuracy = accuracy
      self.regions = regions
      self.visits = visits
      self.isRestricted = isRestricted
      self.isUnreadable = isUnreadable
      self.isExactForNow = isExactForNow
    }
  }

  /// The folder for the state of this user's programs.
  package let stateFolder: String

  package init(stateFolder: String) { self.stateFolder = stateFolder }

  /// Returns the programs with stored state, sorted by name.
  package func entries() -> [Entry] {
    let policy = LocationPolicy.installed()
    let known = AppDescription.places(in: "\(stateFolder)/apps").filter { !$0.ends(with: StateDamage.suffix) }
      .map { ExactText(AppDescription.name(ofPlace: $0)) }
    return Set(known).union(policy.restricted).sorted().map { entry($0, policy) }
  }

  private func entry(_ app: ExactText, _ policy: LocationPolicy) -> Entry {
    let store = store(app)
    let text = store.text(of: .authorization)
    let record = text.flatMap { StateText.authorization(in: $0) }
    return Entry(
      app: app, status: record?.status ?? .notDetermined, accuracy: record?.accuracy ?? .full,
      regions: store.text(of: .regions).map { StateText.regions(in: $0).count } ?? 0,
      visits: store.text(of: .visits).flatMap { StateText.visits(in: $0) }?.isRunning ?? false,
      isRestricted: policy.restricts(store.app), isUnreadable: text != nil && record == nil)
  }

  private func store(_ app: ExactText) -> StateStore {
    let app = app.text
    let executable = app.utf8.occurrence(of: "@/".utf8).map { String(app[app.utf8.index(after: $0.lowerBound)...]) }
    return StateStore(
      folder: stateFolder, runFolder: nil,
      app: AppDescription(identifier: app, keys: UsageKeys(), executable: executable))
  }

  // MARK: Programs

  /// Whether a program has stored state.
  package func knows(_ app: ExactText) -> Bool { entries().contains { $0.app == app } }

  /// Replaces only the permission in a program's state.
  ///
  /// - Parameter accuracy: nil to leave it unchanged.
  /// - Throws: `FileError`.
  package func set(
    _ status: AuthorizationStatus, accuracy: AccuracyAuthorization? = nil, for app: ExactText
  ) throws(FileError) {
    let store = store(app)
    var record = store.text(of: .authorization).flatMap { StateText.authorization(in: $0) } ?? .init()
    record.status = status
    if let accuracy { record.accuracy = accuracy }
    try set(record, for: app)
  }

  /// Replaces a program's permission.
  ///
  /// - Throws: `FileError`.
  package func set(_ record: Authorization.Record, for app: ExactText) throws(FileError) {
    try store(app).store(.authorization, StateText.text(of: record))
  }

  /// Clears the permission of a program, which may request it again (AU-12).
  ///
  /// - Throws: `FileError`.
  package func reset(_ app: ExactText) throws(FileError) {
    let description = store(app).app
    try PrivateFile.remove("\(stateFolder)/\(StateFile.authorization.path(of: description))")
    let parts = StateFile.appFolder(description).parts(at: "/")
    for count in (2...parts.count).reversed() {
      PrivateFile.removeFolderIfEmpty("\(stateFolder)/\(parts[..<count].joined(separator: "/"))")
    }
  }

  // MARK: Switches

  /// Whether this user's switch is on.
  package var servicesAreOnForUser: Bool { ServicesSwitch.isOn(ServicesSwitch.read(inFolder: stateFolder)) ?? false }

  /// Whether both the user and the machine's policy have location services switched on.
  package var servicesAreOn: Bool {
    servicesAreOnForUser && !LocationPolicy.installed().servicesAreOff
  }

  /// Switches all location services of this user.
  ///
  /// - Throws: `FileError`.
  package func setServices(on isOn: Bool) throws(FileError) {
    try PrivateFile.replace(
      switchPath, with: ChecksummedText.text(ServicesSwitch.text(isOn: isOn), place: ServicesSwitch.path))
  }

  private var switchPath: String { "\(stateFolder)/\(ServicesSwitch.path)" }

  // MARK: The machine's policy

  /// Changes /etc/sextant/policy.
  ///
  /// - Parameter edit: returns the new text for the old one.
  /// - Throws: `FileError`.
  package static func changePolicy(_ edit: (String?) -> String) throws(FileError) {
    let path = LocationPolicy.path
    var text: String?
    do throws(FileError) { text = try UserFile.read(path) } catch { if !error.isAbsent { throw error } }
    try PrivateFile.replace(path, with: edit(text), permissions: 0o644, folderPermissions: 0o755)
  }

  /// Whether the machine's policy switches all location services off.
  package static var policyTurnsServicesOff: Bool {
    LocationPolicy.installed().servicesAreOff
  }

  /// The message about lines of the policy that cannot be read; nil if there are none.
  package static var policyProblem: String? {
    LocationPolicy.installed().problem
  }
}
