// SPDX-License-Identifier: Apache-2.0
import EventLoop

/// Chooses the connections that a round handles, so that those that are always ready do not delay the others: each user has the same
/// number of turns, and of a user's connections each one has its turn again when all others that are ready had theirs.
struct ConnectionTurns {
  /// The largest number of connections in a round.
  let limit: Int
  /// The tokens of connections.
  let tokens: Range<UInt32>
  /// The token of each user that had the last turn.
  private var last: [UInt32: UInt32] = [:]
  /// The user that had the last turn.
  private var lastUser: UInt32 = 0

  init(limit: Int, tokens: Range<UInt32>) {
    self.limit = limit
    self.tokens = tokens
  }

  /// Returns the events of a round: those of the tokens that follow the last one in a circle, of each user in turn, and first those
  /// that come first. The poller reports the others again.
  ///
  /// - Parameter user: returns the user of a token.
  mutating func take(_ events: [Poller.Event], user: (UInt32) -> UInt32 = { _ in 0 }) -> [Poller.Event] {
    let ready = Set(events.compactMap(token))
    guard events.count > limit || Set(ready.map(user)).count > 1 else { return events }
    var waiting: [UInt32: [UInt32]] = [:]
    for token in ready { waiting[user(token), default: []].append(token) }
    for (user, tokens) in waiting {
      let start = last[user] ?? 0
      // The next one is at the end.
      waiting[user] = tokens.sorted { $0 &- start &- 1 > $1 &- start &- 1 }
    }
    last = last.filter { waiting[$0.key] != nil }
    let users = waiting.keys.sorted { [lastUser] in $0 &- lastUser &- 1 < $1 &- lastUser &- 1 }
    var turns: [UInt32] = []
    while turns.count < min(limit, ready.count) {
      for user in users where turns.count < limit {
        guard let token = waiting[user]?.popLast() else { continue }
        turns.append(token)
        last[user] = token
        lastUser = user
      }
    }
    let places = Dictionary(uniqueKeysWithValues: zip(turns, turns.indices))
    var taken: [[Poller.Event]] = Array(repeating: [], count: turns.count)
    for event in events { if let place = token(event).flatMap({ places[$0] }) { taken[place].append(event) } }
    return taken.flatMap(\.self)
  }

  /// The token of a connection's event; nil for an event of something else.
  private func token(_ event: Poller.Event) -> UInt32? {
    switch event {
    case .readable(let token), .writable(let token), .hangUp(let token):
      tokens.contains(token.rawValue) ? token.rawValue : nil
    case .signal, .woken, .timeout: nil
    }
  }
}
