// SPDX-License-Identifier: Apache-2.0
import Power
import Testing

@Suite("The earliest time at which a distance can have been covered")
struct ReachTests {
  @Test("From standstill it takes the time to speed up")
  func fromStandstill() {
    #expect(abs(Reach(speed: 0, bound: 60).earliestSeconds(600) - 20) < 0.01)
    #expect(Reach(speed: 0, bound: 60).earliestSeconds(0) == 0)
    #expect(Reach(speed: 0, bound: 60).earliestSeconds(-5) == 0)
  }

  @Test("Beyond that the bound counts")
  func bounded() {
    // 50 m/s after 16.7 s and 416.7 m, the remaining distance at 50 m/s.
    #expect(abs(Reach(speed: 0, bound: 50).earliestSeconds(20_000) - 408.3) < 0.1)
  }

  @Test("A speed above the bound raises it")
  func faster() {
    #expect(abs(Reach(speed: 80, bound: 50).earliestSeconds(800) - 10) < 0.01)
  }

  @Test("A greater distance never takes less time, a greater speed never more")
  func monotone() {
    for metres in stride(from: 1.0, to: 5000, by: 37) {
      for speed in stride(from: 0.0, to: 40, by: 7) {
        let here = Reach(speed: speed, bound: 50).earliestSeconds(metres)
        #expect(Reach(speed: speed, bound: 50).earliestSeconds(metres + 10) >= here)
        #expect(Reach(speed: speed + 1, bound: 50).earliestSeconds(metres) <= here)
      }
    }
  }
}
