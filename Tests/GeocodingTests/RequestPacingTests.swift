// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import MonotonicTime
import Testing

@Suite("Pacing of requests")
struct RequestPacingTests {
  private static func at(_ milliseconds: UInt64) -> Instant { .zero + Milliseconds(milliseconds) }

  @Test("Requests start a second apart, and at once after a pause")
  func pace() {
    var pacing = RequestPacing<Int>()
    let starts = ([1000, 1200, 1300, 9000] as [UInt64]).map { asked in
      let start = pacing.nextStart(at: Self.at(asked))
      pacing.noteStart(at: start)
      return start
    }
    #expect(starts == [1000, 2000, 3000, 9000].map(Self.at))
  }

  @Test("A request that does not start delays no other one")
  func unstarted() {
    var pacing = RequestPacing<Int>()
    pacing.noteStart(at: Self.at(1000))
    #expect(
      ([1100, 1200, 1300] as [UInt64]).map { pacing.nextStart(at: Self.at($0)) }
        == ([2000, 2000, 2000] as [UInt64]).map(Self.at))
  }

  @Test("An answer is kept for the same request, and the oldest ones are dropped")
  func cache() {
    var pacing = RequestPacing<Int>()
    pacing.keep(1, of: "a")
    pacing.keep(2, of: "a")
    #expect(pacing.answer(of: "a") == 2 && pacing.answer(of: "b") == nil)
    for number in 0..<RequestPacing<Int>.capacity { pacing.keep(number, of: "\(number)") }
    #expect(pacing.answer(of: "a") == nil && pacing.answer(of: "0") == 0)
  }
}
