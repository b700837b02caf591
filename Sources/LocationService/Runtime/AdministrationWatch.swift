// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import SerialPort

/// A watch for changes of the external decisions: permission, switches, policy.
struct AdministrationWatch: ~Copyable {
  static let token = Poller.Token(rawValue: 4)

  private var watch: FolderWatch?
  /// The programs whose folders are watched.
  private var watched: Set<ProgramID> = []
  /// The problems that were logged; each is logged once.
  private var logged: Set<String> = []

  init(_ poller: inout Poller) {
    watch = FolderWatch()
    let descriptor = watch?.descriptor
    if let descriptor, (try? poller.add(descriptor, token: Self.token)) != nil { return }
    System.log(
      "changes of permission take effect at the next start only: the system has no file watch free "
        + "(see /proc/sys/fs/inotify/max_user_instances)")
  }

  /// Watches the folders of the programs, after some were added or removed. Returns the decisions about the added
  /// programs.
  mutating func watch(
    _ stores: [(id: ProgramID, store: StateStore)]
  ) -> [(ProgramID, Administration)] {
    let added = stores.filter { !watched.contains($0.id) }
    watched = Set(stores.map(\.id))
    watchFolders(stores)
    return added.map { id, store in
      let administration = store.administration()
      // They were logged when the program was added.
      logged.formUnion(administration.problems(stateFolder: store.folder ?? ""))
      return (id, administration)
    }
  }

  /// Handles a change, and returns the current decisions.
  mutating func changed(_ stores: [(id: ProgramID, store: StateStore)]) -> [(ProgramID, Administration)] {
    watch?.drain()
    watchFolders(stores)
    var problems: Set<String> = []
    defer { logged = problems }
    return stores.map { id, store in
      let administration = store.administration()
      for problem in administration.problems(stateFolder: store.folder ?? "") {
        problems.insert(problem)
        if !logged.contains(problem) { System.log(problem) }
      }
      return (id, administration)
    }
  }

  private mutating func watchFolders(_ stores: [(id: ProgramID, store: StateStore)]) {
    watch?.watch(Array(Set(stores.flatMap(\.store.administrationFolders))))
  }
}
