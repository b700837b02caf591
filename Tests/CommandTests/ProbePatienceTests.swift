import MonotonicTime
import ReceiverStream
import Testing

@testable import sextant

@Suite("When a probe is over")
struct ProbePatienceTests {
  private static func heard(ubx: UInt64 = 0, nmea: UInt64 = 0) -> StreamCounters {
    var counters = StreamCounters()
    counters.ubxFrames = ubx
    counters.nmeaFrames = nmea
    return counters
  }

  @Test("An answer that is late is waited for without a wake-up")
  func lateAnswer() {
    var patience = ProbePatience(asks: true)
    var now = Instant.zero
    #expect(patience.deadline == nil)
    #expect(!patience.isOver(Self.heard(nmea: 1), at: now))
    var rounds = 0
    while let due = patience.deadline, rounds < 100 {
      rounds += 1
      now = max(now, due)
      #expect(!patience.isOver(Self.heard(nmea: 8), at: now))
    }
    #expect(rounds == 1)
    patience.isIdentified = true
    #expect(patience.isOver(Self.heard(nmea: 9), at: now))
  }

  @Test("Both protocols and the name are enough at once")
  func atOnce() {
    var patience = ProbePatience(asks: true)
    #expect(!patience.isOver(Self.heard(ubx: 1, nmea: 3), at: .zero))
    patience.isIdentified = true
    #expect(patience.isOver(Self.heard(ubx: 1, nmea: 3), at: .zero))
  }

  @Test("Who is not asked is listened to for an epoch")
  func readOnly() {
    var patience = ProbePatience(asks: false)
    #expect(!patience.isOver(Self.heard(), at: .zero))
    #expect(!patience.isOver(Self.heard(nmea: 1), at: .zero))
    #expect(patience.isOver(Self.heard(nmea: 2), at: .zero + ProbePatience.epoch))
  }
}
