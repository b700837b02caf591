// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import Testing

@testable import sextant

@Suite("The end of a probe")
struct ProbeCompletionTests {
  private static func received(ubx: UInt64 = 0, nmea: UInt64 = 0) -> StreamCounters {
    var counters = StreamCounters()
    counters.ubxFrames = ubx
    counters.nmeaFrames = nmea
    return counters
  }

  @Test("A late reply is waited for without a wake-up")
  func lateReply() {
    var completion = ProbeCompletion(polls: true)
    var now = Instant.zero
    #expect(completion.deadline == nil)
    var isOver = completion.update(Self.received(nmea: 1), at: now)
    var rounds = 0
    while let due = completion.deadline, rounds < 100 {
      rounds += 1
      now = max(now, due)
      isOver = completion.update(Self.received(nmea: 8), at: now)
    }
    #expect(rounds == 1)
    #expect(!isOver)
    completion.isIdentified = true
    isOver = completion.update(Self.received(nmea: 9), at: now)
    #expect(isOver)
  }

  @Test("A receiver that is unplugged within its epoch causes no round until it returns")
  func unplugged() {
    var completion = ProbeCompletion(polls: true)
    _ = completion.update(Self.received(nmea: 1), at: .zero)
    #expect(completion.deadline != nil)
    completion.restart()
    _ = completion.update(Self.received(), at: .zero)
    #expect(completion.deadline == nil)
    completion.isIdentified = true
    let isOver = completion.update(Self.received(ubx: 1, nmea: 1), at: .zero)
    #expect(isOver)
  }

  @Test("Both protocols and the identity complete the probe at once")
  func atOnce() {
    var completion = ProbeCompletion(polls: true)
    let withoutIdentity = completion.update(Self.received(ubx: 1, nmea: 3), at: .zero)
    completion.isIdentified = true
    let withIdentity = completion.update(Self.received(ubx: 1, nmea: 3), at: .zero)
    #expect(!withoutIdentity && withIdentity)
  }

  @Test("A receiver that sends nothing but replies completes the probe after an epoch")
  func repliesAlone() {
    var completion = ProbeCompletion(polls: true)
    completion.isIdentified = true
    let results = [
      completion.update(Self.received(), hasReplied: false, at: .zero),
      completion.update(Self.received(), hasReplied: true, at: .zero),
      completion.update(Self.received(), hasReplied: true, at: .zero + ProbeCompletion.epoch),
    ]
    #expect(results == [false, false, true])
  }

  @Test("A receiver that is not polled is received for an epoch")
  func readOnly() {
    var completion = ProbeCompletion(polls: false)
    let results = [
      completion.update(Self.received(), at: .zero),
      completion.update(Self.received(nmea: 1), at: .zero),
      completion.update(Self.received(nmea: 2), at: .zero + ProbeCompletion.epoch),
    ]
    #expect(results == [false, false, true])
  }
}
