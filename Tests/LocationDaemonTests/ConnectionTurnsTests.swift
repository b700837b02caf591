// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import sextantd

@Suite("Turns of connections")
struct ConnectionTurnsTests {
  @Test("Each ready connection has a turn in as many rounds as their number needs, in whatever order they are reported")
  func all() {
    var turns = ConnectionTurns(limit: 16)
    for _ in 0..<3 {
      var served: [UInt32] = []
      for _ in 0..<19 {
        let round = turns.order((1000..<UInt32(1300)).shuffled(), user: { _ in 1 })
        #expect(round.count == 16)
        for turn in round { turns.served(turn) }
        served += round.map(\.token)
      }
      #expect(Set(served).count == 300)
    }
  }

  @Test("A connection that waits is served although others are ready without end and new ones come")
  func noneWaits() {
    var turns = ConnectionTurns(limit: 16)
    for waiting in [1000, 1016, 1031, 1032] as [UInt32] {
      var rounds = 0
      var isServed = false
      while !isServed, rounds < 10 {
        let others = UInt32(1001 + rounds)...UInt32(1032 + rounds)
        let round = turns.order(Array(others) + [waiting], user: { _ in 1 })
        for turn in round { turns.served(turn) }
        isServed = round.contains { $0.token == waiting }
        rounds += 1
      }
      #expect(isServed && rounds <= 4, "\(waiting): \(rounds)")
    }
  }

  @Test("Each user has one turn before any has a further one, and root has the first")
  func users() {
    var turns = ConnectionTurns(limit: 16)
    let user: (UInt32) -> UInt32 = { $0 == 4000 ? 3 : $0 == 4001 ? 0 : $0 < 1256 ? 1 : 2 }
    var served: Set<UInt32> = []
    for _ in 0..<80 {
      let round = turns.order(Array(1000..<1512) + [4000, 4001], user: user)
      #expect(round.count == 16)
      #expect(round[0] == ConnectionTurns.Turn(token: 4001, user: 0, isFurther: false))
      #expect(Set(round.prefix(4).map(\.user)) == [0, 1, 2, 3])
      #expect(round.map(\.isFurther) == Array(repeating: false, count: 4) + Array(repeating: true, count: 12))
      for turn in round {
        turns.served(turn)
        served.insert(turn.token)
      }
    }
    #expect(served.count == 514)
  }

  @Test("With more users than turns each user has its turn, in as many rounds as their number needs")
  func manyUsers() {
    var turns = ConnectionTurns(limit: 16)
    var served: Set<UInt32> = []
    for _ in 0..<7 {
      for turn in turns.order(1000..<1100, user: { $0 }) {
        turns.served(turn)
        served.insert(turn.user)
      }
    }
    #expect(served.count == 100)
  }

  @Test("A turn that was left out is the next one of its user")
  func leftOut() {
    var turns = ConnectionTurns(limit: 16)
    var served: [UInt32] = []
    for _ in 0..<40 {
      // No time is left for a further turn.
      for turn in turns.order(1000..<1040, user: { $0 % 2 + 1 }) where !turn.isFurther {
        turns.served(turn)
        served.append(turn.token)
      }
    }
    #expect(served.count == 80 && Set(served).count == 40)
  }

  /// In virtual time: a hostile user's turn ends with the message that exceeds the time of a turn.
  @Test(
    "However many connections hostile users have, another user and root wait for a round: a turn of each, and its time",
    arguments: [1, 2, 8], [1, 64, 128])
  func delay(hostileUsers: Int, connectionsOfEach: Int) {
    let message = Milliseconds(1)
    let turn = ServiceLimits.turn + message
    let bound = turn * UInt64(hostileUsers + 2) + ServiceLimits.round + turn
    var turns = ConnectionTurns(limit: ServiceLimits.turnsOfRound)
    var now = Instant(nanoseconds: 0)
    let hostile = (0..<UInt32(hostileUsers * connectionsOfEach)).map { 1000 + $0 }
    let user: (UInt32) -> UInt32 = {
      $0 == 9000 ? 500 : $0 == 9001 ? 0 : 1000 + ($0 - 1000) / UInt32(connectionsOfEach)
    }
    var waitsSince: [UInt32: Instant] = [9000: now, 9001: now]
    var longest = Milliseconds(0)
    var work: [UInt32: UInt64] = [:]
    for round in 0..<500 {
      let began = now
      for turn in turns.order(hostile + Array(waitsSince.keys), user: user) {
        if turn.isFurther, now >= began + ServiceLimits.round { break }
        turns.served(turn)
        if let since = waitsSince.removeValue(forKey: turn.token) {
          longest = max(longest, Milliseconds(now.milliseconds(since: since)))
          now += message
        } else {
          let start = now
          repeat { now += message } while now < start + ServiceLimits.turn
          work[turn.user, default: 0] += now.milliseconds(since: start)
        }
      }
      // They send requests at a different time of the round each time.
      for token in [9000, 9001] as [UInt32] where waitsSince[token] == nil {
        waitsSince[token] = began + Milliseconds(UInt64(round) % max(1, now.milliseconds(since: began)))
      }
    }
    #expect(longest <= bound, "\(longest) of at most \(bound)")
    // The hostile users share the rest equally.
    let shares = work.values.sorted()
    #expect(shares.count == hostileUsers && shares.last! - shares.first! <= shares.last! / 10)
  }
}
