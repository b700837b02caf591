// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort
import Testing

@Suite("A port without device events")
struct PathRetryTests {
  private func at(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

  @Test("A loss is reported, and the path is retried every half second")
  func loss() {
    var retry = PathRetry()
    #expect(retry.opened("/dev/pts/3", at: at(0)) == nil)
    #expect(retry.due == nil)
    #expect(retry.lost("/dev/pts/3", at: at(60_000)) == "/dev/pts/3: the receiver is gone; waiting for it to come back")
    #expect(retry.due == at(60_500))
    retry.failed(at: at(60_501))
    #expect(retry.due == at(61_001))
    #expect(retry.opened("/dev/pts/3", at: at(61_001)) == "/dev/pts/3: the receiver is back")
    #expect(retry.due == nil)
  }

  @Test(
    "A port that fails as soon as it is open is retried at growing intervals, and reported three times and once more")
  func flapping() {
    var retry = PathRetry()
    var now = at(0)
    var reports: [String] = []
    var (openings, returns) = (0, 0)
    while now < at(60_000) {
      if retry.opened("i2c:/dev/i2c-1", at: now) != nil { returns += 1 }
      openings += 1
      now = now + Milliseconds(30)
      if let text = retry.lost("i2c:/dev/i2c-1", at: now) { reports.append(text) }
      now = retry.due ?? at(100_000)
    }
    #expect(openings < 20, "\(openings)")
    #expect(returns == 3)
    #expect(reports.count == 4 && reports.last?.contains("disconnects repeatedly") == true)
    // After a stable connection the delays start again.
    _ = retry.opened("i2c:/dev/i2c-1", at: now)
    now = now + Milliseconds(120_000)
    #expect(retry.lost("i2c:/dev/i2c-1", at: now)?.contains("waiting") == true)
    #expect(retry.due == now + Milliseconds(500))
  }
}
