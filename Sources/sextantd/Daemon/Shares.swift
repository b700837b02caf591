// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The limits on a user's part of the daemon's resources, so that no user blocks the others. docs/guides/service.md
/// lists them.
///
/// The user of the daemon and root have a separate share of each, the reserve of the administrator.
enum ServiceLimits {
  /// Connections to the location socket. Each has a descriptor and some kilobytes; a desktop has a few dozen programs.
  static let connections = Share(ofUser: 128, ofUsers: 512, ofAdministrator: 512)
  /// Connected programs with demands, each with an engine and a copy of its state.
  static let programs = Share(ofUser: 32, ofUsers: 256, ofAdministrator: 512)
  /// Managers, streams, sessions, activities and monitors of the programs of a user; a kilobyte each, in several copies.
  static let objects = Share(ofUser: 1024, ofUsers: 4096, ofAdministrator: 8192)
  /// Clients of gpsd, per user or address of the other end. Each may leave 64 kB unread.
  static let clients = Share(ofUser: 64, ofUsers: 384, ofAdministrator: 128)
  /// The time after which a client of gpsd without a watch that sends nothing is closed.
  static let idleClient = Milliseconds(60_000)
  /// Bytes in the queues of a user's connections, received or to be sent. The queues take up to three times this
  /// memory.
  static let queuedBytes = Share(ofUser: 4 << 20, ofUsers: 12 << 20, ofAdministrator: 16 << 20)
  /// The length of a name or a text in a program's description and in its messages, in bytes of UTF-8.
  static let textBytes = 2048
  /// The length of a program's identifier, which is part of the name of its folder.
  static let identifierBytes = 128
  /// The time for which one connection is served before the next one's turn: a location is delayed at most by the turns
  /// of a round.
  static let turn = Milliseconds(1)
  /// The turns of a round: the receivers are read in each round.
  static let turnsOfRound = 16
  /// The time of a round within which a user who has had a turn gets a further one.
  static let round = Milliseconds(2)
  /// The connections that a round accepts or closes at a socket. Before a connection's first turn the service only
  /// looks up its user, so that users who connect continuously do not block others in the queue of the listener.
  static let acceptsOfRound = 256
  /// The same for clients of gpsd, for which the look-up of the user is a request to the kernel.
  static let clientAcceptsOfRound = 64
  /// The log lines that a user may cause in an interval.
  static let logLines = (count: 8, time: Milliseconds(60_000))
  /// The length of a log line with text from a program.
  static let logLineBytes = 512
  /// The changes of stored permissions by a user in an interval: each is a write to the disk, for which the daemon
  /// waits.
  static let storedChanges = (count: 16, time: Milliseconds(10_000))
  /// The programs of a user with a stored permission. Each is a folder, and all are read for the list.
  static let storedPrograms = 256
  /// The time for which the list of a user's programs is cached.
  static let listAge = Milliseconds(1000)
  /// The time for which the fault of a device in the status is cached.
  static let deviceFaultAge = Milliseconds(2000)
}

/// The amounts of a resource in use, per user and in total.
struct Share: Sendable {
  /// The largest amounts of one user, of all users, and of the administrator.
  let ofUser: Int
  let ofUsers: Int
  let ofAdministrator: Int
  private var taken: [UInt32: Int] = [:]
  private var takenByUsers = 0

  init(ofUser: Int, ofUsers: Int, ofAdministrator: Int) {
    (self.ofUser, self.ofUsers, self.ofAdministrator) = (ofUser, ofUsers, ofAdministrator)
  }

  /// The number of a user in the shares: the user of the daemon counts as root, and a subordinate user as its owner.
  static func number(
    of user: UInt32, own: UInt32, _ subordinates: SubordinateUsers = .installed
  ) -> UInt32 {
    user == own ? 0 : subordinates.sharer(of: user)
  }

  /// The amount that a user has.
  func amount(of user: UInt32) -> Int { taken[user] ?? 0 }

  /// Whether a user may have this additional amount.
  func has(_ amount: Int = 1, for user: UInt32) -> Bool {
    let own = self.amount(of: user)
    if user == 0 { return own + amount <= ofAdministrator }
    return own + amount <= ofUser && takenByUsers + amount <= ofUsers
  }

  /// Assigns an amount to a user; a negative amount returns it.
  mutating func add(_ amount: Int, to user: UInt32) {
    let new = self.amount(of: user) + amount
    taken[user] = new == 0 ? nil : new
    if user != 0 { takenByUsers += amount }
  }

  /// Returns the holders that must release their amounts until no user exceeds its share: each time the largest holder
  /// of the user with the most.
  ///
  /// - Parameter held: the amount of each holder, and its user.
  func excess<Holder>(_ held: [(holder: Holder, user: UInt32, amount: Int)]) -> [Holder] {
    var share = Share(ofUser: ofUser, ofUsers: ofUsers, ofAdministrator: ofAdministrator)
    for one in held { share.add(one.amount, to: one.user) }
    var rest = held.sorted { $0.amount < $1.amount }
    var found: [Holder] = []
    while let user = share.userWithExcess, let index = rest.lastIndex(where: { $0.user == user && $0.amount > 0 }) {
      share.add(-rest[index].amount, to: user)
      found.append(rest.remove(at: index).holder)
    }
    return found
  }

  /// The user with the most, if it exceeds its share or the total exceeds the limit; nil otherwise.
  private var userWithExcess: UInt32? {
    if amount(of: 0) > ofAdministrator { return 0 }
    guard let most = taken.filter({ $0.key != 0 }).max(by: { $0.value < $1.value }) else { return nil }
    return most.value > ofUser || takenByUsers > ofUsers ? most.key : nil
  }
}

/// Counts the actions of each user in an interval, up to a limit.
struct RateShare: Sendable {
  private let limit: (count: Int, time: Milliseconds)
  private var periods: [UInt32: (end: Instant, count: Int)] = [:]

  init(_ limit: (count: Int, time: Milliseconds)) { self.limit = limit }

  /// Counts one more action of a user. Returns the number of refusals in the interval that has ended, or nil if this
  /// action is refused.
  mutating func refused(afterOneOf user: UInt32, at now: Instant) -> Int? {
    if periods[user].map({ now >= $0.end }) ?? true {
      let refused = max(0, (periods[user]?.count ?? 0) - limit.count)
      // Users with nothing to report are removed.
      periods = periods.filter { now < $0.value.end || $0.value.count > limit.count }
      periods[user] = (now + limit.time, 1)
      return refused
    }
    periods[user]!.count += 1
    return periods[user]!.count <= limit.count ? 0 : nil
  }
}

/// The log lines that users cause.
struct LogShare: Sendable {
  private var rate = RateShare(ServiceLimits.logLines)

  /// Returns the lines to write for a line that a user caused, which contains text from a program: empty if the user
  /// has caused too many.
  mutating func lines(_ text: @autoclosure () -> String, of user: UInt32, at now: Instant) -> [String] {
    guard let refused = rate.refused(afterOneOf: user, at: now) else { return [] }
    let line = Self.shortened(text())
    return refused == 0 ? [line] : ["\(refused) more lines of the programs of user \(user) were left out", line]
  }

  /// A text truncated to the length of a line.
  static func shortened(_ text: String) -> String {
    guard text.utf8.count > ServiceLimits.logLineBytes else { return text }
    return String(decoding: text.utf8.prefix(ServiceLimits.logLineBytes), as: UTF8.self) + "…"
  }
}
