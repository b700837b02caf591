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
    var isOver = patience.isOver(Self.heard(nmea: 1), at: now)
    var rounds = 0
    while let due = patience.deadline, rounds < 100 {
      rounds += 1
      now = max(now, due)
      isOver = patience.isOver(Self.heard(nmea: 8), at: now)
    }
    #expect(rounds == 1)
    #expect(!isOver)
    patience.isIdentified = true
    isOver = patience.isOver(Self.heard(nmea: 9), at: now)
    #expect(isOver)
  }

  @Test("Both protocols and the name are enough at once")
  func atOnce() {
    var patience = ProbePatience(asks: true)
    let withoutName = patience.isOver(Self.heard(ubx: 1, nmea: 3), at: .zero)
    patience.isIdentified = true
    let withName = patience.isOver(Self.heard(ubx: 1, nmea: 3), at: .zero)
    #expect(!withoutName && withName)
  }

  @Test("Who is not asked is listened to for an epoch")
  func readOnly() {
    var patience = ProbePatience(asks: false)
    let results = [
      patience.isOver(Self.heard(), at: .zero),
      patience.isOver(Self.heard(nmea: 1), at: .zero),
      patience.isOver(Self.heard(nmea: 2), at: .zero + ProbePatience.epoch),
    ]
    #expect(results == [false, false, true])
  }
}
