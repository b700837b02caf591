// SPDX-License-Identifier: Apache-2.0
import LocationService
import MonotonicTime

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

  /// The time until a refused action of a user is possible.
  func wait(of user: UInt32, at now: Instant) -> Milliseconds {
    Milliseconds(periods[user]?.end.milliseconds(since: now) ?? 0)
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
