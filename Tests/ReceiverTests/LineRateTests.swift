// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import Receiver

@Suite("The load of a line before a reply")
struct LineRateTests {
  @Test(
    "It is one burst, also if two ended between the ends of two epochs, and not what waited before",
    arguments: [400, 500, 700])
  func backlog(bytes: Int) {
    var line = LineRate(9600, .own)
    line.receive(bytes: 4000, at: .zero + Milliseconds(100))
    let expected = RequestInFlight.time(of: bytes, 9600).count
    for second in 1...6 as ClosedRange<UInt64> {
      for part in 0..<10 as Range<UInt64> {
        line.receive(bytes: bytes / 10, at: .zero + Milliseconds(second * 1000 + part * 50))
        // The next burst shows the end of the first epochs; their last message shows the end of the later ones.
        if part == 0 ? second == 2 || second == 3 : part == 9 && second >= 3 { line.finishEpoch() }
      }
      if second >= 3 { #expect(line.backlog.count <= expected, "\(second)") }
    }
    #expect(line.backlog.count == expected)
  }
}
