// SPDX-License-Identifier: Apache-2.0
import EventLoop

/// Chooses the connections that a round handles, so that those that are always ready do not delay the others: each one has its
/// turn again when all others that are ready had theirs.
struct ConnectionTurns {
  /// The largest number of connections in a round.
  let limit: Int
  /// The tokens of connections.
  let tokens: Range<UInt32>
  /// The token that had the last turn.
  private var last: UInt32 = 0

  init(limit: Int, tokens: Range<UInt32>) {
    self.limit = limit
    self.tokens = tokens
  }

  /// Returns the events of a round: those of the tokens that follow the last one in a circle. The poller reports the others again.
  mutating func take(_ events: [Poller.Event]) -> [Poller.Event] {
    guard events.count > limit else { return events }
    let distances = Set(events.compactMap(distance)).sorted()
    guard let end = distances.prefix(limit).last else { return [] }
    let taken = events.filter { event in distance(event).map { $0 <= end } ?? false }
    last = last &+ 1 &+ end
    return taken
  }

  /// The distance of an event's token from the last one in the circle of all numbers; nil for an event of something else.
  private func distance(_ event: Poller.Event) -> UInt32? {
    switch event {
    case .readable(let token), .writable(let token), .hangUp(let token):
      tokens.contains(token.rawValue) ? token.rawValue &- last &- 1 : nil
    case .signal, .woken, .timeout: nil
    }
  }
}
