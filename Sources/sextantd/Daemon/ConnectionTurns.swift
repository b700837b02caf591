// SPDX-License-Identifier: Apache-2.0

/// The order in which a round serves the ready connections, so that a user with many connections does not delay others:
/// each user has one turn, root first, and further turns while time is left. The ready connections of a user take
/// turns.
struct ConnectionTurns {
  /// The turn of a connection.
  struct Turn: Equatable {
    let token: UInt32
    let user: UInt32
    /// Whether its user has an earlier turn in the round. Such a turn can be skipped: the connection is then the next
    /// one of its user.
    let isFurther: Bool
  }

  /// The largest number of turns in a round.
  let limit: Int
  /// The token that had the last turn, for each user.
  private var last: [UInt32: UInt32] = [:]
  /// The user, other than root, that had the last turn.
  private var lastUser: UInt32 = 0

  init(limit: Int) { self.limit = limit }

  /// Returns the turns of a round. The caller must call `served` for each used turn.
  ///
  /// - Parameters:
  ///   - ready: the tokens of the connections that are ready.
  ///   - user: returns the user of a token in the shares; 0 is root.
  mutating func order(_ ready: some Sequence<UInt32>, user: (UInt32) -> UInt32) -> [Turn] {
    var waiting: [UInt32: [UInt32]] = [:]
    for token in ready { waiting[user(token), default: []].append(token) }
    for (user, tokens) in waiting where tokens.count > 1 {
      let start = last[user] ?? 0
      // The next one is at the end.
      waiting[user] = tokens.sorted { $0 &- start &- 1 > $1 &- start &- 1 }
    }
    last = last.filter { waiting[$0.key] != nil }
    let users = waiting.keys.sorted { [lastUser] a, b in
      a == 0 || b == 0 ? a == 0 && b != 0 : a &- lastUser &- 1 < b &- lastUser &- 1
    }
    var turns: [Turn] = []
    var isFurther = false
    while turns.count < limit {
      let count = turns.count
      for user in users where turns.count < limit {
        guard let token = waiting[user]?.popLast() else { continue }
        turns.append(Turn(token: token, user: user, isFurther: isFurther))
      }
      if turns.count == count { break }
      isFurther = true
    }
    return turns
  }

  /// Records that a turn was used.
  mutating func served(_ turn: Turn) {
    last[turn.user] = turn.token
    if turn.user != 0 { lastUser = turn.user }
  }
}
