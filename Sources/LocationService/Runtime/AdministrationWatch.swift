import SerialPort

/// Hears of changes of what is decided outside the program: permission, switches, policy.
struct AdministrationWatch: ~Copyable {
  static let token = Poller.Token(rawValue: 4)

  private let store: StateStore
  private let stateFolder: String
  private var watch: FolderWatch?
  /// What was complained of, so that each thing is once.
  private var complained: [String] = []

  init(_ store: StateStore, stateFolder: String?, _ poller: inout Poller) {
    self.store = store
    self.stateFolder = stateFolder ?? ""
    watch = FolderWatch()
    let descriptor = watch?.descriptor
    if let descriptor, (try? poller.add(descriptor, token: Self.token)) != nil {
      watch?.watch(store.administrationFolders)
    } else {
      System.log(
        "changes of permission are seen at the next start only: the system has no watch left "
          + "(see /proc/sys/fs/inotify/max_user_instances)")
    }
    complained = store.administration().complaints(stateFolder: self.stateFolder)
  }

  /// What is decided now.
  func look() -> Administration { store.administration() }

  /// Something has changed: what is decided now.
  mutating func hear() -> Administration {
    watch?.drain()
    watch?.watch(store.administrationFolders)
    let administration = store.administration()
    let complaints = administration.complaints(stateFolder: stateFolder)
    for complaint in complaints where !complained.contains(complaint) { System.log(complaint) }
    complained = complaints
    return administration
  }
}
