import MonotonicTime
import Testing

@testable import sextant

@Suite("How long a receiver is waited for")
struct SearchLimitTests {
  private static let end = Instant.zero + SearchLimit.length

  @Test("Without a time of its own a command gives a receiver up that never answers")
  func silent() {
    let limit = SearchLimit(seconds: nil, from: .zero)
    #expect(limit.deadline(hasAnswered: false) == Self.end)
    #expect(!limit.isOver(hasAnswered: false, at: .zero + Milliseconds(29_999)))
    #expect(limit.isOver(hasAnswered: false, at: Self.end))
  }

  @Test("One that has answered is waited for as long as it takes, without a wake-up")
  func answered() {
    let limit = SearchLimit(seconds: nil, from: .zero)
    #expect(limit.deadline(hasAnswered: true) == nil)
    #expect(!limit.isOver(hasAnswered: true, at: Self.end + SearchLimit.length))
  }

  @Test("A command that was given a time takes it")
  func timed() {
    let limit = SearchLimit(seconds: 600, from: .zero)
    #expect(limit.deadline(hasAnswered: false) == nil)
    #expect(!limit.isOver(hasAnswered: false, at: Self.end))
  }
}
