// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import Testing
import UBX

@testable import Receiver

@Suite("How often a line wakes the process")
struct WakeUpTests {
  /// A driver in virtual time at a line of 115200 baud: 12 bytes a millisecond, five epochs a second.
  private struct Driver: ~Copyable {
    var session: ReceiverSession
    var policy = ReadScheduler()
    var now = Instant.zero
    private(set) var wakeUps = 0
    /// When each epoch was handed out, after its last byte.
    private(set) var delays: [Double] = []
    /// Reports that were made before an epoch's last byte was there, or again.
    private(set) var partialReports = 0
    /// When something was sent.
    private(set) var sent: [Instant] = []
    private var kept: [UInt8] = []
    /// Milliseconds between two epochs and between two pieces, and the bytes of a piece.
    private let period, pause: UInt64
    private let piece: Int

    init(
      _ intent: SessionSettings.Intent = .serve, period: UInt64 = 200, piece: Int = 12, pause: UInt64 = 1
    ) {
      (self.period, self.piece, self.pause) = (period, piece, pause)
      session = ReceiverSession(
        SessionSettings(intent: intent, line: .bound), lineRate: 115_200, reference: nil, now: .zero)
    }

    /// Epochs of three messages, 382 bytes each, from a receiver that does not answer; each is delayed by `late`, in milliseconds.
    mutating func run(epochs: Range<Int>, late: (Int) -> UInt64 = { _ in 0 }) {
      for number in epochs {
        let bytes = Self.epoch(number, period)
        let begin = Instant.zero + Milliseconds(300 + period * UInt64(number) + late(number))
        var at = 0
        while at < bytes.count {
          let arrival = begin + Milliseconds(UInt64(at / piece) * pause)
          pass(until: arrival)
          now = arrival
          let end = min(at + piece, bytes.count)
          kept += bytes[at..<end]
          at = end
          if policy.idleUntil == nil {
            wakeUps += 1
            read(isLast: at == bytes.count)
          }
        }
      }
    }

    private mutating func pass(until end: Instant) {
      while let due = Instant.earlier(session.deadline, policy.idleUntil), due <= end {
        now = max(now, due)
        wakeUps += 1
        if let until = policy.idleUntil, now >= until {
          policy.wake(at: now)
          read(isLast: false)
        }
        var isReported = false
        if let due = session.deadline, now >= due { session.wake(at: now) { _, _ in isReported = true } }
        if isReported { partialReports += 1 }
        carryOut()
      }
    }

    private mutating func read(isLast: Bool) {
      defer { carryOut() }
      guard !kept.isEmpty else { return }
      var endsEpoch = false
      let bytes = kept
      var isWhole = true
      unsafe session.receive(bytes.span.bytes, at: now) { report, _ in
        endsEpoch = true
        isWhole = isWhole && report.fix.hasPosition && !report.isUpdate
      }
      if !isWhole { partialReports += 1 }
      policy.receive(bytes: kept.count, endsEpoch: endsEpoch, at: now)
      if endsEpoch { delays.append(isLast ? 0 : 1) }
      kept = []
    }

    private mutating func carryOut() {
      while let action = session.nextAction() {
        if case .send = action { sent.append(now) }
      }
      policy.attend(to: session.expectation, before: session.deadline, at: now)
    }

    private static func epoch(_ number: Int, _ period: UInt64) -> [UInt8] {
      var time = [UInt8](repeating: 0, count: 4)
      let milliseconds = UInt32(100_000 + Int(period) * number)
      for index in 0..<4 { time[index] = UInt8(truncatingIfNeeded: milliseconds >> (8 * index)) }
      var pvt = time + [UInt8](repeating: 0, count: 88)
      pvt.replaceSubrange(4..<12, with: [0xEA, 0x07, 6, 1, 12, 0, UInt8(milliseconds / 1000 % 60), 0x07])
      pvt[20] = 3
      pvt[21] = 1
      var satellites = time + [1, 20, 0, 0]
      for index in 0..<20 { satellites += [0, UInt8(index + 1), 40, 30, 10, 0, 0, 0, 0x1F, 9, 0, 0] }
      return frameBytes(.navPVT, pvt) + frameBytes(.navDOP, time + [UInt8](repeating: 1, count: 14))
        + frameBytes(.navSAT, satellites)
    }
  }

  @Test("A receiver that is only listened to wakes it twice an epoch")
  func idleIntervals() {
    var driver = Driver(.readOnly)
    driver.run(epochs: 0..<20)
    let before = driver.wakeUps
    driver.run(epochs: 20..<100)
    let perEpoch = Double(driver.wakeUps - before) / 80
    #expect(perEpoch <= 2.2, "\(perEpoch)")
    #expect(driver.delays.count >= 98)
    #expect(driver.delays.suffix(90).allSatisfy { $0 == 0 })
  }

  @Test("A receiver that sends and never replies wakes the process at most three times an epoch, polls included")
  func neverAnswers() {
    var driver = Driver()
    driver.run(epochs: 0..<20)
    let before = driver.wakeUps
    let polled = driver.sent.count
    driver.run(epochs: 20..<100)
    let perEpoch = Double(driver.wakeUps - before) / 80
    #expect(perEpoch <= 3, "\(perEpoch)")
    #expect(driver.delays.suffix(90).allSatisfy { $0 == 0 })
    // It is still polled.
    #expect(driver.sent.count > polled)
  }

  @Test("Each later question costs no more than its answer's time")
  func laterRequests() {
    var driver = Driver()
    driver.run(epochs: 0..<100)
    let before = driver.wakeUps
    driver.run(epochs: 100..<500)
    let perEpoch = Double(driver.wakeUps - before) / 400
    #expect(perEpoch <= 2.2, "\(perEpoch)")
  }

  @Test("A poll without a reply makes no epoch be read byte by byte, nor the one in which it is given up")
  func givenUp() {
    var driver = Driver()
    driver.run(epochs: 0..<20)
    var most = 0
    for epoch in 20..<200 {
      let before = driver.wakeUps
      driver.run(epochs: epoch..<epoch + 1)
      most = max(most, driver.wakeUps - before)
    }
    // Ten in the epochs with a poll: idle intervals, and the bytes right after each.
    #expect(most <= 10, "\(most)")
  }

  @Test("A slow line that idleIntervals within an epoch is not taken for a silent one", arguments: [1, 8, 48])
  func slowLine(_ piece: Int) {
    // 9600 baud: a byte a millisecond, single or as many as a FIFO or a bridge collects.
    var driver = Driver(.readOnly, period: 1000, piece: piece, pause: UInt64(piece))
    driver.run(epochs: 0..<20)
    let before = driver.partialReports
    // On time, late, and alternately.
    driver.run(epochs: 20..<40)
    driver.run(epochs: 40..<60, late: { _ in 150 })
    driver.run(epochs: 60..<100, late: { $0 % 3 == 0 ? 150 : 0 })
    driver.run(epochs: 100..<140, late: { UInt64($0 * 37 % 90) })
    #expect(driver.partialReports == before, "\(driver.partialReports - before)")
  }

  @Test("A request in the middle of a slow epoch does not split it")
  func requestedWithin() {
    var driver = Driver(period: 1000, piece: 8, pause: 8)
    driver.run(epochs: 0..<20)
    let before = driver.partialReports
    driver.run(epochs: 20..<200)
    #expect(driver.partialReports == before, "\(driver.partialReports - before)")
  }
}
