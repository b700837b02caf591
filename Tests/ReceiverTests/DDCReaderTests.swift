// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import Testing

/// A receiver's registers on an I2C bus, in virtual time: it has a burst of bytes each period, over 60 ms.
private struct RegisterBank {
  var period: UInt64 = 1000
  var epoch: [UInt8]
  var firstAt: UInt64 = 137
  /// Says 0 once while it has up to 16 bytes, as some firmware does.
  var hidesTail = false
  private var taken = 0
  private var hasHidden = false

  init(epoch: [UInt8]) { self.epoch = epoch }

  /// The number of bytes that it has sent up to a time.
  private func sent(_ milliseconds: UInt64) -> Int {
    guard milliseconds >= firstAt else { return 0 }
    let since = milliseconds - firstAt
    let whole = Int(since / period) * epoch.count
    return whole + min(epoch.count, epoch.count * Int(since % period + 1) / 60)
  }

  mutating func count(at milliseconds: UInt64) -> Int {
    let available = sent(milliseconds) - taken
    if hidesTail, (1...16).contains(available), !hasHidden {
      hasHidden = true
      return 0
    }
    hasHidden = false
    return available
  }

  mutating func read(_ count: Int, at milliseconds: UInt64) -> [UInt8] {
    let available = sent(milliseconds) - taken
    let bytes = (0..<count).map { $0 < available ? epoch[(taken + $0) % epoch.count] : 0xFF }
    taken += min(count, available)
    return bytes
  }
}

@Suite("A receiver on an I2C bus")
struct DDCReaderTests {
  private let epoch = Wire.ubx(1, 7, [UInt8](repeating: 0xFF, count: 92)) + Wire.nmea("GNGLL,,,,,,V,N")

  /// Runs a reader on a bank; the bytes, transfers in the last ten seconds, and the longest wait for a burst's end.
  private func run(_ bank: RegisterBank, seconds: UInt64) -> (bytes: [UInt8], transfers: Int) {
    var bank = bank
    var reader = DDCReader(at: .zero)
    var fill = IdleFill()
    var bytes: [UInt8] = []
    var transfers = 0
    var now: UInt64 = 0
    while now < seconds * 1000 {
      let instant = Instant.zero + Milliseconds(now)
      switch reader.next(at: instant) {
      case .readCount:
        reader.counted(bank.count(at: now), at: instant)
      case .readStream(let count):
        bytes += bank.read(count, at: now).filter { fill.keeps($0) }
        reader.received(count, at: instant)
      case .wait(let until):
        now = max(until.milliseconds(since: .zero), now + 1)
        continue
      }
      if now >= (seconds - 10) * 1000 { transfers += 1 }
    }
    return (bytes, transfers)
  }

  @Test("The stream is read completely, with its 0xFF, for every error of the count", arguments: [false, true])
  func whole(hidesTail: Bool) {
    var bank = RegisterBank(epoch: epoch)
    bank.hidesTail = hidesTail
    let (bytes, _) = run(bank, seconds: 30)
    #expect(bytes.count >= 29 * epoch.count)
    #expect(bytes == (0..<bytes.count).map { epoch[$0 % epoch.count] })
  }

  @Test("An epoch of 60 ms takes few transfers once its rhythm is known", arguments: [1000, 997, 200] as [UInt64])
  func few(period: UInt64) {
    var bank = RegisterBank(epoch: epoch)
    bank.period = period
    let (_, transfers) = run(bank, seconds: 60)
    let epochs = 10_000 / Double(period)
    // Seven counts in the 60 ms of the burst with a read each, two for its end, one or two before its start.
    #expect(Double(transfers) / epochs <= 18, "\(Double(transfers) / epochs) transfers an epoch")
  }

  @Test("A rhythm that changes is learned anew")
  func change() {
    var reader = DDCReader(at: .zero)
    var counts: [UInt64] = []
    // A burst each second for ten seconds, then each 300 ms with another beginning.
    var starts: [UInt64] = []
    for index in 0..<10 as Range<UInt64> { starts.append(137 + 1000 * index) }
    for index in 0..<40 as Range<UInt64> { starts.append(10_050 + 300 * index) }
    var next = 0
    var now: UInt64 = 0
    while next < starts.count {
      let instant = Instant.zero + Milliseconds(now)
      switch reader.next(at: instant) {
      case .readCount:
        counts.append(now)
        let isThere = now >= starts[next]
        reader.counted(isThere ? 10 : 0, at: instant)
        if isThere {
          let isLearning = (10..<40).contains(next)
          #expect(isLearning || now < starts[next] + 60, "the burst at \(starts[next]) was found at \(now)")
          next += 1
        }
      case .readStream(let count): reader.received(count, at: instant)
      case .wait(let until): now = max(until.milliseconds(since: .zero), now + 1)
      }
    }
    let last = counts.filter { $0 >= starts[39] && $0 < starts[49] }.count
    #expect(last <= 60, "\(last) counts in ten epochs")
  }

  @Test("The count of a silent or failing receiver is read four times a second")
  func silent() {
    for fails in [false, true] {
      var reader = DDCReader(at: .zero)
      var counts = 0
      var now = Instant.zero
      while now < Instant.zero + Milliseconds(60_000) {
        if case .wait(let until) = reader.next(at: now) {
          now = until
          continue
        }
        counts += 1
        if fails { reader.failed(at: now) } else { reader.counted(0, at: now) }
      }
      // Five seconds at 20 a second, then 4 a second.
      #expect(counts < 330)
    }
  }

  @Test("All ones is not a count")
  func allOnes() {
    var reader = DDCReader(at: .zero)
    reader.counted(0xFFFF, at: .zero)
    #expect(reader.next(at: .zero) == .wait(until: .zero + Milliseconds(50)))
  }

  @Test("After a request the count is read at once and often")
  func answer() {
    var reader = DDCReader(at: .zero)
    reader.counted(0, at: .zero)
    reader.sent(at: .zero)
    #expect(reader.deadline == .zero + Milliseconds(10))
    reader.counted(0, at: .zero + Milliseconds(10))
    #expect(reader.deadline == .zero + Milliseconds(20))
    reader.counted(0, at: .zero + Milliseconds(250))
    #expect(reader.deadline == .zero + Milliseconds(300))
  }

  @Test("A long count is read in pieces, shorter ones if the adapter needs it")
  func pieces() {
    var reader = DDCReader(at: .zero)
    reader.counted(1500, at: .zero)
    #expect(reader.next(at: .zero) == .readStream(1024))
    let isShorter = reader.shorten()
    #expect(isShorter)
    #expect(reader.next(at: .zero) == .readStream(512))
    reader.received(512, at: .zero)
    reader.received(512, at: .zero)
    #expect(reader.next(at: .zero) == .readStream(476))
    while reader.shorten() {}
    #expect(reader.longestRead == 16)
  }

  @Test("Fill is taken out between frames and in front of them, and left in them")
  func fill() {
    let ubx = Wire.ubx(6, 0x8A, [0xFF, 0xFF, 0xB5, 0xFF])
    let rtcm = Wire.rtcm3([0xFF, 0xFF, 0xFF])
    let none: [UInt8] = [0xFF, 0xFF, 0xFF]
    var filter = IdleFill()
    let parts = [none, ubx, none, rtcm, none, [0xB5], none, [0xD3], none, ubx]
    let kept = parts.joined().filter { filter.keeps($0) }
    let wanted = [ubx, rtcm, [0xB5, 0xD3], ubx]
    #expect(kept == Array(wanted.joined()))
  }
}
