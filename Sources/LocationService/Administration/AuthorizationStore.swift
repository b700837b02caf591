import FileSystem
import Positioning

/// What `sextant authorize` reads and writes: the permission of each program, and the switches. A program that runs hears
/// of each change at once.
public struct AuthorizationStore: Sendable {
  /// What is kept of one program.
  public struct Entry: Sendable, Equatable {
    /// Its bundle identifier, or its executable's name.
    public var app: String
    public var status: AuthorizationStatus
    public var accuracy: AccuracyAuthorization
    /// How many regions it has monitored.
    public var regions: Int
    /// Whether visits are watched for.
    public var visits: Bool
    /// Whether the machine's policy keeps it from locations, whatever `status` says.
    public var isRestricted: Bool
    /// Whether the file of its permission cannot be read; `status` is then what it would begin with.
    public var isUnreadable: Bool
  }

  /// Where this user's programs keep their state.
  public let stateFolder: String

  public init(stateFolder: String) { self.stateFolder = stateFolder }

  /// The programs that something is kept of, by name.
  public func entries() -> [Entry] {
    let policy = LocationPolicy(parsing: try? UserFile.read(LocationPolicy.path))
    let known = PrivateFile.names(in: "\(stateFolder)/apps").map { StateText.unescape($0[...]) }
    return Set(known).union(policy.restricted).sorted().map { entry($0, policy) }
  }

  private func entry(_ app: String, _ policy: LocationPolicy) -> Entry {
    let store = store(app)
    let text = store.text(of: .authorization)
    let record = text.flatMap { StateText.authorization(in: $0) }
    return Entry(
      app: app, status: record?.status ?? .notDetermined, accuracy: record?.accuracy ?? .full,
      regions: store.text(of: .regions).map { StateText.regions(in: $0).count } ?? 0,
      visits: store.text(of: .visits).flatMap { StateText.visits(in: $0) }?.isRunning ?? false,
      isRestricted: policy.restricted.contains(app), isUnreadable: text != nil && record == nil)
  }

  private func store(_ app: String) -> StateStore {
    StateStore(folder: stateFolder, runFolder: nil, app: AppDescription(identifier: app, keys: UsageKeys()))
  }

  // MARK: Programs

  /// Whether anything is kept of a program.
  public func knows(_ app: String) -> Bool { entries().contains { $0.app == app } }

  /// Replaces a program's permission; what else is decided about it stays.
  ///
  /// - Parameter accuracy: nil: as it was.
  /// - Throws: `FileError`.
  public func set(
    _ status: AuthorizationStatus, accuracy: AccuracyAuthorization? = nil, for app: String
  ) throws(FileError) {
    let store = store(app)
    var record = store.text(of: .authorization).flatMap { StateText.authorization(in: $0) } ?? .init()
    record.status = status
    if let accuracy { record.accuracy = accuracy }
    try store.store(.authorization, StateText.text(of: record))
  }

  /// Forgets what was decided about a program, which may ask again (AU-12).
  ///
  /// - Throws: `FileError`.
  public func reset(_ app: String) throws(FileError) {
    let description = store(app).app
    try PrivateFile.remove("\(stateFolder)/\(StateFile.authorization.path(of: description))")
    PrivateFile.removeFolderIfEmpty("\(stateFolder)/\(StateFile.appFolder(description))")
  }

  // MARK: Switches

  /// What this user's switch says.
  public var servicesAreOnForUser: Bool { ServicesSwitch.isOn(try? PrivateFile.read(switchPath)) ?? false }

  /// Whether location services are on, by the user and by the machine's policy.
  public var servicesAreOn: Bool {
    servicesAreOnForUser && !LocationPolicy(parsing: try? UserFile.read(LocationPolicy.path)).servicesAreOff
  }

  /// Switches all location services of this user.
  ///
  /// - Throws: `FileError`.
  public func setServices(on isOn: Bool) throws(FileError) {
    try PrivateFile.replace(switchPath, with: ServicesSwitch.text(isOn: isOn))
  }

  private var switchPath: String { "\(stateFolder)/\(ServicesSwitch.path)" }

  // MARK: The machine's policy

  /// Changes /etc/sextant/policy.
  ///
  /// - Parameter edit: makes the new text of the old one.
  /// - Throws: `FileError`.
  public static func changePolicy(_ edit: (String?) -> String) throws(FileError) {
    let path = LocationPolicy.path
    let text = edit(FileLookup.exists(path) ? try UserFile.read(path) : nil)
    try PrivateFile.replace(path, with: text, permissions: 0o644, folderPermissions: 0o755)
  }

  /// What is not understood of the policy; nil when all is.
  public static var policyComplaint: String? {
    LocationPolicy(parsing: try? UserFile.read(LocationPolicy.path)).complaint
  }
}
