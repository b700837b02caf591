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
          let isDue = turn.advance(for: client, isLineOpen: isLineOpen, isFound: isFound, at: now)
          #expect(isDue == (isLineOpen && (isFound || now >= .zero + limit)))
          #expect(turn.deadline.map { $0 > now } ?? true)
          #expect((turn.deadline != nil) == (isLineOpen && !isDue))
          // The receiver is unplugged.
          #expect(!turn.advance(for: client, isLineOpen: false, isFound: isFound, at: now) && turn.deadline == nil)
          #expect(!turn.advance(for: nil, isLineOpen: true, isFound: true, at: now) && turn.deadline == nil)
        }
      }
    }
  }

  @Test("Requests count against the limit at which nothing is read, as bytes do")
  func limit() {
    var requests = BridgeWork()
    var count = 0
    while !requests.isFull, count < 100_000 {
      requests.append(.baudRate(nil))
      count += 1
    }
    #expect(count == BridgeWork.limit / BridgeWork.requestSize + 1)
    var bytes = BridgeWork()
    for _ in 0...BridgeWork.limit { bytes.append([0x55]) }
    #expect(bytes.isFull)
  }

  @Test("Work is taken in its order; bytes without a request in between are one item")
  func order() {
    var work = BridgeWork()
    for round in 0..<5000 {
      work.append([1])
      work.append([2, 3])
      work.append([])
      work.append(.baudRate(UInt32(round)))
    }
    for round in 0..<5000 {
      #expect(work.next == .bytes([1, 2, 3]))
      work.removeNext()
      // Bytes that were taken are not joined with later ones.
      #expect(work.next == .request(.baudRate(UInt32(round))))
      work.removeNext()
    }
    #expect(work.next == nil && work.size == 0)
    work.append([4])
    work.removeNext()
    work.append([5])
    #expect(work.next == .bytes([5]) && work.size == 1)
  }

  @Test("Bytes that are discarded leave the requests, which their client waits for")
  func discarded() {
    var work = BridgeWork()
    work.append([1])
    work.removeNext()
    work.append([2])
    work.append(.baudRate(9600))
    work.append([3])
    work.discardBytes()
    #expect(work.next == .request(.baudRate(9600)) && work.size == BridgeWork.requestSize)
    work.removeNext()
    #expect(work.next == nil && work.size == 0)
  }
}
