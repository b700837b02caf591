// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Testing

@testable import sextantd

@Suite("The shares of users")
struct SharesTests {
  @Test("A user has its share, all users together have theirs, and the rest is the administrator's")
  func amounts() {
    var share = Share(ofUser: 3, ofUsers: 5, ofAdministrator: 2)
    for _ in 0..<3 {
      #expect(share.has(for: 1000))
      share.add(1, to: 1000)
    }
    #expect(!share.has(for: 1000) && share.has(2, for: 1001) && !share.has(3, for: 1001))
    share.add(2, to: 1001)
    #expect(!share.has(for: 1002) && share.has(2, for: 0) && !share.has(3, for: 0))
    share.add(2, to: 0)
    #expect(!share.has(for: 0))
    share.add(-1, to: 1000)
    #expect(share.has(for: 1002) && share.has(for: 1000) && share.amount(of: 1000) == 2)
    #expect(Share.number(of: 990, own: 990) == 0 && Share.number(of: 1000, own: 990) == 1000)
  }

  @Test("Subordinate users take from the share of their owner, and root's have one for each range")
  func subordinates() {
    let text =
      "ada:100000:65536\n1001:300000:10\nroot:1000000:1000000000\nghost:500000:10\nada:x:1\nada:0:5\n"
      + "ada:9:0\nada:4294967295:2\nada:7\nada:400000:1:9\n"
    let users = SubordinateUsers(text, number: { ["ada": 1000, "root": 0][$0] ?? UInt32($0) })
    for (user, owner) in [
      (99_999, 99_999), (100_000, 1000), (165_535, 1000), (165_536, 165_536), (300_009, 1001), (300_010, 300_010),
      (1_000_000, 1_000_000), (2_000_000, 1_000_000), (500_000, 500_000), (0, 0), (9, 9), (400_000, 400_000),
      (UInt32.max, UInt32.max),
    ] as [(UInt32, UInt32)] {
      #expect(users.sharer(of: user) == owner, "\(user)")
      #expect(Share.number(of: user, own: 990, users) == owner)
    }
    #expect(Share.number(of: 990, own: 990, users) == 0)
  }

  @Test("Of a user with more than its share the largest holder is cut off, and no other user's")
  func excess() {
    let share = Share(ofUser: 100, ofUsers: 250, ofAdministrator: 300)
    let held: [(holder: String, user: UInt32, amount: Int)] = [
      ("small", 1000, 10), ("large", 1000, 80), ("middle", 1000, 40), ("other", 1001, 100), ("root", 0, 299),
    ]
    #expect(share.excess(held) == ["large"])
    #expect(share.excess(held + [("huge", 1000, 500)]) == ["huge", "large"])
    #expect(share.excess([("root", 0, 299), ("root 2", 0, 200)]) == ["root"])
    // Each user is within its share, but the total is too large.
    let many = (1...4).map { (holder: "\($0)", user: UInt32($0), amount: 60 + 2 * $0) }
    #expect(share.excess(many) == ["4"])
    #expect(share.excess([(holder: String, user: UInt32, amount: Int)]()).isEmpty)
  }

  @Test("A user who causes line upon line has a few of them in the log, and then their number")
  func lines() {
    var share = LogShare()
    var now = Instant(nanoseconds: 1_000_000_000)
    var written: [String] = []
    for number in 0..<10_000 {
      written += share.lines("line \(number)", of: 1000, at: now)
      now += Milliseconds(1)
    }
    #expect(written.count == ServiceLimits.logLines.count)
    #expect(share.lines("another user", of: 1001, at: now) == ["another user"])
    now += ServiceLimits.logLines.time
    let next = share.lines("later", of: 1000, at: now)
    #expect(
      next == [
        "\(10_000 - ServiceLimits.logLines.count) more lines of the programs of user 1000 were left out", "later",
      ])
    #expect(share.lines("again", of: 1000, at: now) == ["again"])
    let long = share.lines(String(repeating: "ä", count: 60_000), of: 1002, at: now)
    #expect(long.count == 1 && long[0].utf8.count <= ServiceLimits.logLineBytes + 3)
  }

  @Test("The users whose time is over are forgotten")
  func forgotten() {
    var share = RateShare((count: 2, time: Milliseconds(1000)))
    for user in 0..<UInt32(1000) {
      #expect(share.refused(afterOneOf: user, at: Instant(nanoseconds: UInt64(user) * 10_000_000)) == 0)
    }
    #expect(String(describing: share).count < 20_000)
  }

  @Test("A refused change names the time after which it is possible")
  func waits() {
    var share = RateShare((count: 16, time: Milliseconds(10_000)))
    var now = Instant.zero
    for _ in 0..<64 {
      if share.refused(afterOneOf: 1000, at: now) == nil {
        let wait = share.wait(of: 1000, at: now)
        #expect(wait > Milliseconds(0) && wait <= Milliseconds(10_000))
        now = now + wait
        #expect(share.refused(afterOneOf: 1000, at: now) != nil)
      }
      now = now + Milliseconds(10)
    }
    #expect(now > Instant.zero + Milliseconds(30_000) && now < Instant.zero + Milliseconds(50_000))
  }

  @Test("The longest text of a message counts wherever it is")
  func texts() {
    let long = JSON.string(String(repeating: "x", count: 3000))
    #expect((["a": ["b", 1, long]] as JSON).longestText == 3000)
    #expect(JSON.object([JSON.Member(String(repeating: "n", count: 50), .null)]).longestText == 50)
    #expect((["a": 1, "bc": 2.5] as JSON).longestText == 2)
  }
}
