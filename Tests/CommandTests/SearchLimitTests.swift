// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import sextant

@Suite("The time limit for a receiver that does not reply")
struct SearchLimitTests {
  private static let end = Instant.zero + SearchLimit.length

  @Test("A command without a duration gives up on a receiver that never replies")
  func silent() {
    let limit = SearchLimit(seconds: nil, from: .zero)
    #expect(limit.deadline(hasReplied: false) == Self.end)
    #expect(!limit.isOver(hasReplied: false, at: .zero + Milliseconds(29_999)))
    #expect(limit.isOver(hasReplied: false, at: Self.end))
  }

  @Test("After a reply there is no time limit and no wake-up")
  func replied() {
    let limit = SearchLimit(seconds: nil, from: .zero)
    #expect(limit.deadline(hasReplied: true) == nil)
    #expect(!limit.isOver(hasReplied: true, at: Self.end + SearchLimit.length))
  }

  @Test("A command with a duration has no time limit of its own")
  func timed() {
    let limit = SearchLimit(seconds: 600, from: .zero)
    #expect(limit.deadline(hasReplied: false) == nil)
    #expect(!limit.isOver(hasReplied: false, at: Self.end))
  }
}
