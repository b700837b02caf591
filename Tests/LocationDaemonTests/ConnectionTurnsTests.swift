// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing

@testable import LocationDaemon

@Suite("Turns of connections")
struct ConnectionTurnsTests {
  private func readable(_ numbers: some Sequence<UInt32>) -> [Poller.Event] {
    numbers.map { .readable(Poller.Token(rawValue: $0)) }
  }

  @Test("A round without more connections than the limit handles all events")
  func few() {
    var turns = ConnectionTurns(limit: 3, tokens: 10..<100)
    let events = readable([12, 10, 1])
    #expect(turns.take(events) == events && turns.take(events) == events)
  }

  @Test("Each ready connection has a turn in as many rounds as their number needs, in whatever order they are reported")
  func all() {
    var turns = ConnectionTurns(limit: 16, tokens: 1000..<2000)
    for _ in 0..<3 {
      var served: [Poller.Event] = []
      // The first sixteen are always ready and reported first, as by epoll.
      for _ in 0..<19 {
        let round = turns.take(readable(1000..<1300))
        #expect(round.count == 16)
        served += round
      }
      #expect(Set(served).count == 300)
    }
  }

  @Test("A connection that waits is served although others are ready without end and new ones come")
  func noneWaits() {
    var turns = ConnectionTurns(limit: 16, tokens: 1000..<100_000)
    for waiting in [1000, 1016, 1031, 1032] as [UInt32] {
      var rounds = 0
      var isServed = false
      while !isServed, rounds < 10 {
        let others = UInt32(1001 + rounds)...UInt32(1032 + rounds)
        isServed = turns.take(readable(Array(others) + [waiting])).contains(.readable(Poller.Token(rawValue: waiting)))
        rounds += 1
      }
      #expect(isServed && rounds <= 4, "\(waiting): \(rounds)")
    }
  }

  @Test("Both events of a connection are in one round, in their order, and other events do not count")
  func pairs() {
    var turns = ConnectionTurns(limit: 1, tokens: 10..<100)
    let token = Poller.Token(rawValue: 20)
    let others = readable([1, 2, 200])
    #expect(turns.take(others + [.timeout, .readable(token), .hangUp(token)]) == [.readable(token), .hangUp(token)])
    #expect(turns.take(others).isEmpty)
  }
}
