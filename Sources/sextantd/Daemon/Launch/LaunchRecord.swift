// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning

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
    guard let outer = names.first, outer.hasSuffix(".service") else { return nil }
    guard outer.hasPrefix("user@") else {
      self = .system(outer)
      return
    }
    // A user's service manager starts only the programs of its user.
    guard outer == "user@\(user).service", names.count > 1, names[1].hasSuffix(".service") else { return nil }
    self = .user(names[1])
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
