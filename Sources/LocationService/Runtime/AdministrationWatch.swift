// SPDX-License-Identifier: Apache-2.0
import EventLoop
import SerialPort

/// A watch for changes of the decisions outside the program: permission, switches, policy.
struct AdministrationWatch: ~Copyable {
  static let token = Poller.Token(rawValue: 4)

  private let store: StateStore
  private let stateFolder: String
  private var watch: FolderWatch?
  /// The problems that were logged, as each is logged once.
  private var logged: [String] = []

  init(_ store: StateStore, stateFolder: String?, _ poller: inout Poller) {
    self.store = store
    self.stateFolder = stateFolder ?? ""
    watch = FolderWatch()
    let descriptor = watch?.descriptor
    if let descriptor, (try? poller.add(descriptor, token: Self.token)) != nil {
      watch?.watch(store.administrationFolders)
    } else {
      System.log(
        "changes of permission take effect at the next start only: the system has no file watch free "
          + "(see /proc/sys/fs/inotify/max_user_instances)")
    }
    logged = store.administration().problems(stateFolder: self.stateFolder)
  }

  /// Returns the decisions now.
  func current() -> Administration { store.administration() }

  /// Takes a change, and returns the decisions now.
  mutating func changed() -> Administration {
    watch?.drain()
    watch?.watch(store.administrationFolders)
    let administration = store.administration()
    let problems = administration.problems(stateFolder: stateFolder)
    for problem in problems where !logged.contains(problem) { System.log(problem) }
    logged = problems
    return administration
  }
}
