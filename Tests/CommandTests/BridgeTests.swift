// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverRuntime
import Testing

@testable import sextant

@Suite("sextant bridge") struct BridgeTests {
  @Test("A client that waits for the line causes no round before it gets the line", arguments: [false, true])
  func turn(isTelnet: Bool) {
    let client = BridgeTurn.Client(since: .zero, isTelnet: isTelnet)
    let limit = isTelnet ? BridgeTurn.longestWaitOfTelnet : BridgeTurn.longestWait
    for isLineOpen in [false, true] {
      for isFound in [false, true] {
        for step: UInt64 in 0...40 {
          let now = Instant.zero + Milliseconds(step * 500)
          var turn = BridgeTurn()
          let isDue = turn.isDue(for: client, isLineOpen: isLineOpen, isFound: isFound, at: now)
          #expect(isDue == (isLineOpen && (isFound || now >= .zero + limit)))
          #expect(turn.deadline.map { $0 > now } ?? true)
          #expect((turn.deadline != nil) == (isLineOpen && !isDue))
          // The receiver is unplugged.
          #expect(!turn.isDue(for: client, isLineOpen: false, isFound: isFound, at: now) && turn.deadline == nil)
          #expect(!turn.isDue(for: nil, isLineOpen: true, isFound: true, at: now) && turn.deadline == nil)
        }
      }
    }
  }
}
