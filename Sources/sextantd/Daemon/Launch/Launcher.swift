// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import WireBytes

/// The programs that have registered for events and run in a unit: it keeps their records, watches their regions while they do
/// not run, and gets their units started. ``ProgramLaunch`` decides. Only the service's thread uses it.
final class Launcher {
  /// A name in the authorization store, and its user.
  struct Key: Hashable, Comparable {
    var user: UInt32
    var name: ExactText

    static func < (a: Key, b: Key) -> Bool { (a.user, a.name) < (b.user, b.name) }
  }

  struct Entry {
    var record: LaunchRecord
    var launch: ProgramLaunch
    /// The host's representation of the program, while the program does not run.
    var absent: (id: ProgramID, receiver: AbsentProgram)?
    /// The text of its file.
    var stored: String?
    var isRefusalLogged = false
    /// The time of the last significant change that was sent to the program, or that started it.
    var significantDeliveredAt: Instant?
  }

  /// The largest number of programs of one user that are watched while they do not run. Programs choose their names
  /// themselves.
  private static let programLimit = 64
  private static let busToken = Poller.Token(rawValue: (1 << 20) - 1)
  private static let manager = ClientID(0)

  private let host: ServiceHost
  private let policy: DaemonPolicy
  private var policyRevision: Int
  private let files: LaunchFiles
  private let bus = UnitBus(.system, token: Launcher.busToken)
  private(set) var entries: [Key: Entry] = [:]
  /// A connection of module CoreLocation.
  private struct Instance {
    /// Its program in the host, from its first message on.
    var program: ProgramID?
    /// The managers that have started the significant-change service.
    var significantManagers: Set<Int> = []
  }

  /// The connections of each program, which may run more than once, by their tokens.
  private var connections: [Key: [UInt32: Instance]] = [:]
  /// Connections whose programs may have handled events of monitors in this round.
  private var connectionsToCheck: [Connection] = []
  private var isStoreFailureLogged = false
  /// The units of users' managers that their launchers start next, and whether the units to watch have changed.
  var userStarts: [UInt32: [String]] = [:]
  var usersWithChanges: Set<UInt32> = []
  /// The users with a connected launcher.
  var launcherUsers: Set<UInt32> = []

  init(_ host: ServiceHost, _ policy: DaemonPolicy, at now: Instant) {
    self.host = host
    self.policy = policy
    policyRevision = policy.revision
    files = LaunchFiles(stateFolder: host.settings.stateFolder)
    for file in files.all() {
      guard let record = LaunchRecord(file.text) else {
        host.log(
          "the file launch of \(file.name), user \(file.user), cannot be read; it registers again when it is started")
        continue
      }
      let launch = ProgramLaunch(waiting: record.waiting, isStopped: record.isStopped, at: now)
      let key = Key(user: file.user, name: ExactText(file.name))
      entries[key] = Entry(record: record, launch: launch, stored: file.text)
      settle(key, at: now)
    }
  }

  private static func key(of connection: Connection) -> Key {
    Key(user: connection.credentials.user, name: connection.name)
  }

  // MARK: Connections

  /// Handles a program that has connected, and is not added to the host yet. Returns the reason if it was started for
  /// an event.
  func connected(_ connection: Connection, at now: Instant) -> LaunchReason? {
    guard connection.identity != nil else { return nil }
    let key = Self.key(of: connection)
    connections[key, default: [:]][connection.token.rawValue] = Instance()
    guard entries[key] != nil else { return nil }
    let reason = entries[key]!.launch.connected()
    settle(key, at: now)
    store(key)
    return reason
  }

  /// Handles the addition of a connection's program to the host, with the states that were stored before its events or
  /// after them.
  func added(_ connection: Connection, _ program: ProgramID) {
    guard let events = entries[Self.key(of: connection)]?.launch.events, !events.isEmpty else { return }
    _ = host.changeOnThread(program) { engine, now in engine.assume(events, at: now.instant) }
  }

  /// Handles a program's message: its registrations are stored, and waiting events are passed to it.
  func received(
    _ action: ClientAction, _ connection: Connection, _ program: ProgramID, _ keys: UsageKeys, at now: Moment
  ) {
    let key = Self.key(of: connection)
    let token = connection.token.rawValue
    connections[key]?[token]?.program = program
    if let entry = entries[key], !entry.launch.waiting.isEmpty {
      var launch = entry.launch
      if action.losesDelegate { launch.returned(from: connection.token.rawValue) }
      if case .takeWaitingEvent(let number) = action { launch.taken([number]) }
      let delivered = host.changeOnThread(program) { [launch] engine, now in
        var launch = launch
        launch.deliver(to: connection.token.rawValue, &engine, at: now.instant)
        return launch
      }
      entries[key]!.launch = delivered ?? launch
      store(key)
      connectionsToCheck.append(connection)
    }
    guard let change = action.registration else { return }
    switch change {
    case .significantStart(let manager): connections[key]?[token]?.significantManagers.insert(manager)
    case .significantStop(let manager): connections[key]?[token]?.significantManagers.remove(manager)
    case .other: break
    }
    register(key, connection, keys, stopsSignificant: change.isSignificantStop)
  }

  private func register(
    _ key: Key, _ connection: Connection, _ keys: UsageKeys, stopsSignificant: Bool
  ) {
    let before = entries[key]
    guard connection.identity != nil, let unit = connection.peer.launchUnit ?? before?.record.unit else { return }
    // The end of one instance leaves the registrations of the others.
    let instances = connections[key].map { Array($0.values) } ?? []
    let wantsSignificant = Self.wantsSignificant(
      instances.map(\.significantManagers), stopsSignificant: stopsSignificant,
      before: before?.record.wantsSignificant ?? false)
    guard wantsSignificant || instances.compactMap(\.program).contains(where: { isRegistered(key, $0) }) else {
      entries[key] = nil
      if before != nil { write(nil, key) }
      return watchUnits()
    }
    guard before != nil || entries.keys.count(where: { $0.user == key.user }) < Self.programLimit else {
      return host.log(
        "user \(key.user) has \(Self.programLimit) programs with regions; \(key.name) is not started for its regions")
    }
    let executable = connection.peer.executable?.text
    var entry =
      before ?? Entry(record: LaunchRecord(unit: unit, executable: executable, keys: keys), launch: ProgramLaunch())
    entry.record.unit = unit
    entry.record.executable = executable ?? entry.record.executable
    entry.record.keys = keys
    entry.record.wantsSignificant = wantsSignificant
    entries[key] = entry
    store(key)
    watchUnits()
  }

  /// Whether the significant-change service continues without the program.
  ///
  /// - Parameters:
  ///   - managers: the managers of each instance that have started it.
  ///   - stopsSignificant: whether one of them has stopped it just now.
  ///   - before: whether it continued before.
  static func wantsSignificant(_ managers: [Set<Int>], stopsSignificant: Bool, before: Bool) -> Bool {
    managers.contains { !$0.isEmpty } || !stopsSignificant && before
  }

  /// Whether regions, visits or conditions continue without the program, including the stored conditions of monitors
  /// that it has not opened.
  private func isRegistered(_ key: Key, _ program: ProgramID) -> Bool {
    let open = host.read(program) { ($0.isRegistered, $0.monitorNames) } ?? (false, [])
    return open.0
      || files.monitors(of: key.name.text, key.user).contains {
        !open.1.contains($0) && !host.monitorRecords($0, of: program).isEmpty
      }
  }

  /// Handles the end of a connection, while the host still has its program.
  func disconnecting(_ connection: Connection) {
    guard case .coreLocation(let program, _) = connection.role else { return }
    let key = Self.key(of: connection)
    connections[key]?[connection.token.rawValue] = nil
    takeFromMonitors(connection)
    entries[key]?.launch.returned(from: connection.token.rawValue)
    if connections[key]?.isEmpty == true { connections[key] = nil }
    guard let (newest, delivered) = host.read(program, { ($0.permittedNewest, $0.significantDeliveredAt) }) else {
      return
    }
    if let newest { entries[key]?.record.origin = newest.coordinate }
    if let delivered { entries[key]?.significantDeliveredAt = delivered }
  }

  /// Handles the removal of a connection's program from the host.
  func disconnected(_ connection: Connection, at now: Instant) {
    let key = Self.key(of: connection)
    guard connections[key] == nil, entries[key] != nil, !host.isFinishing else { return }
    entries[key]!.launch.disconnected(at: now)
    store(key)
    settle(key, at: now)
  }

  /// Handles a written update with waiting events for a program that does not acknowledge events.
  func written(_ numbers: [Int], to connection: Connection) {
    let key = Self.key(of: connection)
    entries[key]?.launch.taken(numbers)
    store(key)
  }

  // MARK: The program that does not run

  /// Whether the service may start the unit of a program.
  private func mayLaunch(_ key: Key, _ entry: Entry) -> Bool {
    guard case .system(let unit) = entry.record.unit, !policy.mayLaunch(unit) else { return true }
    if !entry.isRefusalLogged, entry.launch.isWatched {
      entries[key]?.isRefusalLogged = true
      host.log(
        "\(key.name) is not started for its regions: write `launch \(unit)` to \(LocationPolicy.path), and reload sextantd"
      )
    }
    return false
  }

  /// Adds the program to the host while its regions are watched for it, or removes it.
  private func settle(_ key: Key, at now: Instant) {
    guard let entry = entries[key] else { return }
    let isWatched = mayLaunch(key, entry) && entry.launch.isWatched
    if isWatched, entry.absent == nil {
      watch(key, entry, at: now)
    } else if !isWatched, let absent = entry.absent {
      host.remove(absent.id)
      entries[key]?.absent = nil
    }
    perform(key, at: now)
    watchUnits()
  }

  private func watch(_ key: Key, _ entry: Entry, at now: Instant) {
    let receiver = AbsentProgram(self, key)
    var unit: ExactText?
    if case .system(let name) = entry.record.unit { unit = ExactText(name) }
    let grant = policy.grant(unit: unit, executable: entry.record.executable.map { ExactText($0) })
    let app = AppDescription(
      identifier: key.name.text, keys: entry.record.keys, executable: entry.record.executable)
    let id = host.add(
      app, user: key.user, authorization: grant, application: .background, isAbsent: true, receiver)
    // With the permission "when in use", no event starts it.
    if host.read(id, { $0.authorization.status }) == .authorizedWhenInUse { return host.remove(id) }
    let monitors = files.monitors(of: key.name.text, key.user).map {
      (name: $0, records: host.monitorRecords($0, of: id))
    }
    let events = entry.launch.events
    _ = host.changeOnThread(id) { engine, now in
      engine.beginAbsence(
        Self.manager, wantsSignificant: entry.record.wantsSignificant,
        significantDeliveredAt: entry.significantDeliveredAt, monitors: monitors, waiting: events, at: now.instant)
    }
    entries[key]?.absent = (id, receiver)
  }

  /// Handles an output for a program that does not run.
  func receive(_ output: PositioningOutput, of key: Key) {
    guard var entry = entries[key], let absent = entry.absent else { return }
    let now = SystemClock.monotonic
    let utc = UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds)
    for event in host.read(absent.id, { $0.waitingEvents(of: output, at: utc) }) ?? [] {
      switch event {
      case .delegate(.didUpdateLocations(let locations)):
        guard let location = locations.last, entry.record.take(location) else { continue }
        entry.significantDeliveredAt = now
      // The state that accompanies a crossing. A crossing that the program has disabled does not start it.
      case .delegate(.didDetermineState) where entry.launch.events.isEmpty: continue
      case .monitor where entry.launch.events.contains(event): continue
      case .delegate, .monitor: break
      }
      entry.launch.receive(event, at: now)
    }
    entries[key] = entry
    // Stored before the state of the region, which the host stores next.
    store(key)
    perform(key, at: now)
  }

  // MARK: Starts

  private func perform(_ key: Key, at now: Instant) {
    while let action = entries[key]?.launch.nextAction(), let entry = entries[key] {
      switch action {
      case .log(let text): host.log("\(key.name) \(text)")
      case .start:
        let reason = entry.launch.events.first.map { LaunchReason($0).rawValue } ?? ""
        host.log("\(entry.record.unit.name) is started for \(key.name): \(reason)")
        switch entry.record.unit {
        case .system(let unit): bus.start(unit)
        case .user(let unit) where launcherUsers.contains(key.user): userStarts[key.user, default: []].append(unit)
        case .user:
          entries[key]?.launch.startEnded(
            "user \(key.user) has no launcher (systemctl --user enable --now sextant-launcher)", at: now)
        }
      }
    }
  }

  /// The units of a user's service manager whose stops are observed.
  func userUnits(of user: UInt32) -> [String] {
    entries.compactMap { key, entry in
      if key.user == user, case .user(let unit) = entry.record.unit { unit } else { nil }
    }.sorted()
  }

  private func watchUnits() {
    var units: Set<String> = []
    for (key, entry) in entries {
      switch entry.record.unit {
      case .system(let unit): if policy.mayLaunch(unit) { units.insert(unit) }
      case .user: usersWithChanges.insert(key.user)
      }
    }
    bus.watch(units)
  }

  func startEnded(_ unit: LaunchUnit, user: UInt32?, _ failure: String?, at now: Instant) {
    for key in keys(of: unit, user) {
      entries[key]?.launch.startEnded(failure, at: now)
      perform(key, at: now)
    }
  }

  func stopped(_ unit: LaunchUnit, user: UInt32?, at now: Instant) {
    for key in keys(of: unit, user) {
      entries[key]?.launch.unitStopped()
      host.log("\(unit.name) was stopped: \(key.name) is started for its events once a user has started it again")
      store(key)
      settle(key, at: now)
    }
  }

  /// Handles the connection of a user's launcher.
  func launcherCame(_ user: UInt32, at now: Instant) {
    launcherUsers.insert(user)
    for key in entries.keys.sorted() where key.user == user {
      if case .user? = entries[key]?.record.unit { entries[key]?.launch.startIsPossible(at: now) }
      perform(key, at: now)
    }
  }

  private func keys(of unit: LaunchUnit, _ user: UInt32?) -> [Key] {
    entries.filter { $0.value.record.unit == unit && (user == nil || $0.key.user == user) }.keys.sorted()
  }

  /// Removes the events of its monitors that a program has handled.
  private func takeFromMonitors(_ connection: Connection) {
    let key = Self.key(of: connection)
    guard let program = connection.program, let launch = entries[key]?.launch, !launch.waiting.isEmpty else { return }
    let utc = UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds)
    entries[key]?.launch =
      host.read(program) { engine in
        var launch = launch
        launch.takenFromMonitors(of: connection.token.rawValue, engine, at: utc)
        return launch
      } ?? launch
  }

  // MARK: Rounds

  var deadline: Instant? {
    entries.values.reduce(bus.deadline) { .earlier($0, $1.launch.deadline) }
  }

  /// Handles the events of a round of the thread.
  func handle(_ events: [Poller.Event]) {
    for event in events { bus.handle(event) }
  }

  func roundEnded(_ poller: inout Poller, at now: Instant) {
    // After the monitors were stored: their records show which events were handled.
    for connection in connectionsToCheck {
      takeFromMonitors(connection)
      store(Self.key(of: connection))
    }
    connectionsToCheck = []
    if policyRevision != policy.revision {
      policyRevision = policy.revision
      policyChanged(at: now)
    }
    for key in entries.keys.sorted() {
      guard let due = entries[key]?.launch.deadline, now >= due else { continue }
      entries[key]?.launch.wake(at: now)
      perform(key, at: now)
    }
    bus.settle(&poller, at: now)
    while let event = bus.nextEvent() {
      switch event {
      case .startEnded(let unit, let failure): startEnded(.system(unit), user: nil, failure, at: now)
      case .stopped(let unit): stopped(.system(unit), user: nil, at: now)
      }
    }
  }

  /// Grants may have been added or removed.
  private func policyChanged(at now: Instant) {
    for key in entries.keys.sorted() {
      if let absent = entries[key]?.absent { host.remove(absent.id) }
      entries[key]?.absent = nil
      entries[key]?.isRefusalLogged = false
      entries[key]?.launch.startIsPossible(at: now)
      settle(key, at: now)
    }
  }

  // MARK: Files

  private func store(_ key: Key) {
    guard var entry = entries[key] else { return }
    entry.record.waiting = entry.launch.waiting
    entry.record.isStopped = entry.launch.isStopped
    let text = entry.record.text
    if text != entry.stored {
      entry.stored = text
      write(text, key)
    }
    entries[key] = entry
  }

  private func write(_ text: String?, _ key: Key) {
    do throws(FileError) { try files.store(text, of: key.name.text, key.user) } catch {
      if !isStoreFailureLogged {
        host.log("\(error.path): \(error.reason); programs are not started after a restart of sextantd")
      }
      isStoreFailureLogged = true
    }
  }
}

/// A program that does not run, from the host's point of view.
final class AbsentProgram: ProgramReceiver, @unchecked Sendable {
  // Sendable: only the service's thread uses it.
  private weak var launcher: Launcher?
  private let key: Launcher.Key

  init(_ launcher: Launcher, _ key: Launcher.Key) {
    self.launcher = launcher
    self.key = key
  }

  func perform(_ action: ProgramAction) {
    if case .output(let output) = action { launcher?.receive(output, of: key) }
  }
}

/// A message that changes the services that continue without the program.
enum RegistrationChange: Equatable {
  case significantStart(Int)
  case significantStop(Int)
  case other

  var isSignificantStop: Bool { if case .significantStop = self { true } else { false } }
}

extension ClientAction {
  /// Whether a manager has no delegate from then on: events in transit to the delegate may not have been delivered.
  var losesDelegate: Bool {
    switch self {
    case .removeManager, .call(_, .setDelegate(nil)): true
    default: false
    }
  }

  /// Nil for a message that registers nothing.
  var registration: RegistrationChange? {
    switch self {
    case .call(let manager, .startSignificantChanges): .significantStart(manager)
    case .call(let manager, .stopSignificantChanges): .significantStop(manager)
    case .resumeManager(let manager, let resumption) where resumption.services.wantsSignificant:
      .significantStart(manager)
    case .call(_, .startMonitoring), .call(_, .stopMonitoring), .call(_, .startVisits), .call(_, .stopVisits),
      .addCondition, .removeCondition:
      .other
    default: nil
    }
  }
}

/// The systemd unit of a program.
enum LaunchUnit: Hashable, Codable, Sendable {
  /// A service of the system's service manager.
  case system(String)
  /// A service of the program's user's service manager.
  case user(String)

  var name: String {
    switch self {
    case .system(let name), .user(let name): name
    }
  }

  /// Returns the unit of a process from the content of /proc/PID/cgroup.
  init?(inCgroup text: String, user: UInt32) {
    guard let group = ControlGroup(text) else { return nil }
    self.init(group, user: user)
  }

  /// Returns the unit of a control group: a service of the system's manager is the outermost one, and a user's services
  /// are in user@UID.service. Nil outside a service, such as in a login session.
  init?(_ group: ControlGroup, user: UInt32) {
    let names = group.units
    guard let outer = names.first, outer.text.ends(with: ".service") else { return nil }
    guard outer.text.begins(with: "user@") else {
      self = .system(outer.text)
      return
    }
    // A user's service manager starts only the programs of its user.
    guard outer == "user@\(user).service", names.count > 1, names[1].text.ends(with: ".service") else { return nil }
    self = .user(names[1].text)
  }
}

/// The stored state of a program that an event starts: the file `launch` next to its regions.
struct LaunchRecord: Equatable, Codable, Sendable {
  static let version = 1
  /// The numbers of events: they start at nanoseconds since the boot of the computer, and count up.
  private static let eventNumbers = 0...Int.max / 2

  var version = Self.version
  var unit: LaunchUnit
  /// The executable, to which a policy may grant permission.
  var executable: String?
  var keys: UsageKeys
  /// Whether the significant-change service continues without the program.
  var wantsSignificant = false
  /// The place from which the next significant change is measured.
  var origin: Coordinate?
  /// Whether the unit was stopped on purpose.
  var isStopped = false
  private var events: [WaitingEvent] = []
  /// The numbers of `events`; nil in the file of an older version.
  private var numbers: [Int]?

  /// The waiting events, the oldest first.
  var waiting: [NumberedEvent] {
    get {
      let numbers = numbers ?? Array(events.indices)
      return zip(numbers, events).map { NumberedEvent(number: $0, $1) }
    }
    set { (events, numbers) = (newValue.map(\.event), newValue.map(\.number)) }
  }

  init(unit: LaunchUnit, executable: String?, keys: UsageKeys) {
    self.unit = unit
    self.executable = executable
    self.keys = keys
  }

  /// Returns nil for a damaged text, or a text of a later version.
  init?(_ text: String) {
    guard let json = try? JSON(parsing: Array(text.utf8)), let record: LaunchRecord = try? json.decode(),
      record.version == Self.version, record.waiting.allSatisfy({ Self.eventNumbers ~= $0.number })
    else { return nil }
    self = record
  }

  var text: String {
    guard let bytes = try? JSON(encoding: self).text() else { return "" }
    return String(decoding: bytes, as: UTF8.self) + "\n"
  }

  /// Handles a location of the significant-change service. Returns whether it is a change. The service's first location
  /// after the program's end is a change only if the program's last place is far from it (SC-2).
  mutating func take(_ location: Location) -> Bool {
    defer { if origin == nil { origin = location.coordinate } }
    guard let origin, Geodesic.distanceMetres(origin, location.coordinate) >= Self.changeMetres else { return false }
    self.origin = location.coordinate
    return true
  }

  /// The distance of a significant change (SC-2).
  static let changeMetres = 500.0
}
