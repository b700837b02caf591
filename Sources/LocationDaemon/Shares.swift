// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The limits of what a user may have of the daemon, so that no user keeps it from the others. They are in docs/guides/service.md.
///
/// The user of the daemon and root have a share of their own of each, the reserve of the administrator.
enum ServiceLimits {
  /// Connections to the location socket. Each has a descriptor and some kilobytes; a desktop has some dozen programs.
  static let connections = Share(ofUser: 128, ofUsers: 512, ofAdministrator: 512)
  /// Connected programs with demands, each with an engine and a copy of its state.
  static let programs = Share(ofUser: 32, ofUsers: 256, ofAdministrator: 512)
  /// Managers, streams, sessions, activities and monitors of the programs of a user; a kilobyte each, in several copies.
  static let objects = Share(ofUser: 1024, ofUsers: 4096, ofAdministrator: 8192)
  /// Clients of gpsd, by the user or the address at their other end. Each may leave 64 kB unread.
  static let clients = Share(ofUser: 64, ofUsers: 384, ofAdministrator: 128)
  /// The time after which a client of gpsd that watches nothing and sends nothing is closed.
  static let idleClient = Milliseconds(60_000)
  /// Bytes that wait in the queues of a user's connections, received or to be sent. The queues take up to three times this memory.
  static let queuedBytes = Share(ofUser: 4 << 20, ofUsers: 12 << 20, ofAdministrator: 16 << 20)
  /// The length of a name or a text in a program's description and in its messages, bytes of UTF-8.
  static let textBytes = 2048
  /// The length of a program's identifier, which is part of the name of its folder.
  static let identifierBytes = 128
  /// The time for which one connection is served before it is another one's turn: a location is not later than by the turns of a
  /// round.
  static let turn = Milliseconds(1)
  /// The turns of a round: the receivers are read in each round.
  static let turnsOfRound = 16
  /// The time of a round within which a user who has had a turn gets a further one.
  static let round = Milliseconds(2)
  /// The connections that a round accepts or closes at a socket. Until its first turn the service knows the user alone, so that
  /// users who connect without end do not keep others waiting in the queue of the listener.
  static let acceptsOfRound = 256
  /// The same for clients of gpsd, whose user costs a request to the kernel.
  static let clientAcceptsOfRound = 64
  /// The lines of the log that a user causes in a time.
  static let logLines = (count: 8, time: Milliseconds(60_000))
  /// The length of a line of the log that has text of a program.
  static let logLineBytes = 512
  /// The changes of stored permissions by a user in a time: each is a write to the disk, for which the daemon waits.
  static let storedChanges = (count: 16, time: Milliseconds(10_000))
  /// The programs of a user with a stored permission. Each is a folder, and all are read for the list.
  static let storedPrograms = 256
  /// The age up to which the list of a user's programs is not read again from the disk.
  static let listAge = Milliseconds(1000)
  /// The age up to which the fault of a device in the status is not looked for again.
  static let deviceFaultAge = Milliseconds(2000)
}

/// How much of something each user has, and how much all have.
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

  /// What a user has.
  func amount(of user: UInt32) -> Int { taken[user] ?? 0 }

  /// Whether there is so much left for a user.
  func has(_ amount: Int = 1, for user: UInt32) -> Bool {
    let own = self.amount(of: user)
    if user == 0 { return own + amount <= ofAdministrator }
    return own + amount <= ofUser && takenByUsers + amount <= ofUsers
  }

  /// Gives so much to a user; with a negative amount, takes it back.
  mutating func add(_ amount: Int, to user: UInt32) {
    let new = self.amount(of: user) + amount
    taken[user] = new == 0 ? nil : new
    if user != 0 { takenByUsers += amount }
  }

  /// Returns which holders are to give back what they have until each user has no more than its share: of the user with the most, the
  /// one with the most.
  ///
  /// - Parameter held: what each holder has, of which user.
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

  /// The user with the most, if it has more than its share or all users have more than theirs; nil otherwise.
  private var userWithExcess: UInt32? {
    if amount(of: 0) > ofAdministrator { return 0 }
    guard let most = taken.filter({ $0.key != 0 }).max(by: { $0.value < $1.value }) else { return nil }
    return most.value > ofUser || takenByUsers > ofUsers ? most.key : nil
  }
}

/// Counts what each user does in a time, up to a limit.
struct RateShare: Sendable {
  private let limit: (count: Int, time: Milliseconds)
  private var periods: [UInt32: (end: Instant, count: Int)] = [:]

  init(_ limit: (count: Int, time: Milliseconds)) { self.limit = limit }

  /// Counts one more of a user. Returns how many were refused in the time that has ended, and nil if this one is refused.
  mutating func refused(afterOneOf user: UInt32, at now: Instant) -> Int? {
    if periods[user].map({ now >= $0.end }) ?? true {
      let refused = max(0, (periods[user]?.count ?? 0) - limit.count)
      // Users of whom there is nothing to report are forgotten.
      periods = periods.filter { now < $0.value.end || $0.value.count > limit.count }
      periods[user] = (now + limit.time, 1)
      return refused
    }
    periods[user]!.count += 1
    return periods[user]!.count <= limit.count ? 0 : nil
  }
}

/// The lines of the log that users cause.
struct LogShare: Sendable {
  private var rate = RateShare(ServiceLimits.logLines)

  /// Returns the lines to write for a line of a user, which has text of a program: none if the user has caused too many.
  mutating func lines(_ text: @autoclosure () -> String, of user: UInt32, at now: Instant) -> [String] {
    guard let refused = rate.refused(afterOneOf: user, at: now) else { return [] }
    let line = Self.shortened(text())
    return refused == 0 ? [line] : ["\(refused) more lines of the programs of user \(user) were left out", line]
  }

  /// A text of at most the length of a line.
  static func shortened(_ text: String) -> String {
    guard text.utf8.count > ServiceLimits.logLineBytes else { return text }
    return String(decoding: text.utf8.prefix(ServiceLimits.logLineBytes), as: UTF8.self) + "…"
  }
}
