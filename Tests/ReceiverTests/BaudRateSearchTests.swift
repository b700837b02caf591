// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import Testing

@Suite("The baud rate is found by listening")
struct BaudRateSearchTests {
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test("A frame settles it, and nothing is changed any more")
  func found() {
    var search = BaudRateSearch(at: 38400, now: at(0))
    #expect(search.receive(frames: 1, skipped: 0, isText: true, at: at(100)) == .found(38400))
    #expect(search.isFound)
    #expect(search.deadline == nil)
    #expect(search.receive(frames: 0, skipped: 5000, isText: false, at: at(9000)) == .none)
    #expect(search.wake(at: at(99_000)) == .none)
  }

  @Test("Bytes of no frame move on at once; of text, only when they are longer than a sentence begun in its middle")
  func garbage() {
    var search = BaudRateSearch(at: 115_200, now: at(0))
    #expect(search.receive(frames: 0, skipped: 47, isText: false, at: at(10)) == .none)
    #expect(search.receive(frames: 0, skipped: 1, isText: false, at: at(11)) == .setRate(9600))
    // Each rate has its own timeout.
    #expect(search.receive(frames: 0, skipped: 399, isText: true, at: at(30)) == .none)
    #expect(search.receive(frames: 0, skipped: 1, isText: true, at: at(31)) == .setRate(38400))
  }

  @Test("Silence for longer than an epoch moves on, and not before")
  func silence() throws {
    var search = BaudRateSearch(at: 9600, now: at(0))
    let deadline = try #require(search.deadline)
    #expect(deadline > at(1000))
    #expect(search.wake(at: at(1000)) == .none)
    #expect(search.wake(at: deadline) == .setRate(38400))
    #expect(search.rate == 38400)
  }

  @Test("Every rate is tried once in a round, the one that is set and the likely ones first, and then again")
  func round() throws {
    var search = BaudRateSearch(at: 250_000, likely: [57600], now: at(0))
    let order: [UInt32] = [250_000, 57600] + BaudRateSearch.rates.filter { $0 != 57600 }
    var tried = [search.rate]
    for _ in order.dropFirst() {
      guard case .setRate(let rate) = search.wake(at: try #require(search.deadline)) else { break }
      tried.append(rate)
    }
    #expect(tried == order)
    #expect(search.wake(at: try #require(search.deadline)) == .setRate(250_000))
  }

  @Test("0 is not a rate: the line can be hung up, and so can an earlier one")
  func hungUp() throws {
    var search = BaudRateSearch(
      at: 0, likely: [0, 57600], polling: .afterListening, pollsOthers: true, now: at(0))
    var tried = [search.rate]
    for _ in 0..<100 {
      let due = try #require(search.deadline)
      _ = search.wake(at: due)
      tried.append(search.rate)
    }
    #expect(tried[0] == 57600 && Set(tried) == Set(BaudRateSearch.rates))
  }

  @Test("A line without a byte is polled after a round of listening, within ten seconds, and then read again")
  func polling() throws {
    var search = BaudRateSearch(at: 9600, polling: .afterListening, now: at(0))
    for _ in 0..<BaudRateSearch.rates.count - 1 {
      guard case .setRate = search.wake(at: try #require(search.deadline)) else {
        Issue.record("polled too early")
        return
      }
    }
    var polled: [UInt32] = []
    #expect(try #require(search.deadline) < at(10_000))
    while case .poll(let rate) = search.wake(at: try #require(search.deadline)) { polled.append(rate) }
    #expect(polled == BaudRateSearch.rates)
    #expect(search.rate == 9600)
  }

  @Test("A line that is silent after the rest of a reply to an earlier program is polled")
  func rest() throws {
    var search = BaudRateSearch(at: 9600, polling: .afterListening, pollsOthers: true, now: at(0))
    #expect(search.receive(frames: 0, skipped: 11, isText: true, at: at(1)) == .none)
    var (polled, others) = (0, 0)
    var end = at(0)
    while polled < BaudRateSearch.rates.count {
      end = try #require(search.deadline)
      switch search.wake(at: end) {
      case .poll: polled += 1
      case .pollOther: others += 1
      default: break
      }
      guard end < at(60_000) else { break }
    }
    #expect(polled == BaudRateSearch.rates.count && others > 0 && end < at(20_000))
  }

  @Test("A line with garbage is not polled unless the receiver is known", arguments: [1000, 4000] as [UInt64])
  func notPolled(every period: UInt64) throws {
    var search = BaudRateSearch(at: 9600, polling: .afterListening, now: at(0))
    var burst: UInt64 = 10
    for _ in 0..<50 {
      let due = try #require(search.deadline)
      while at(burst) < due {
        _ = search.receive(frames: 0, skipped: 3, isText: false, at: at(burst))
        burst += period
      }
      switch search.wake(at: due) {
      case .setRate, .none: break
      case let action: Issue.record("\(action) at \(due)")
      }
    }
  }

  @Test(
    "A line that sends some bytes once and nothing after them is polled, the families of other makers too",
    arguments: [5, 30], [false, true])
  func onceBytes(count: Int, isText: Bool) throws {
    for burst in stride(from: UInt64(10), to: 12_000, by: 250) {
      var search = BaudRateSearch(at: 9600, polling: .afterListening, pollsOthers: true, now: at(0))
      var (polls, others) = ([UInt32: Int](), 0)
      var (isSent, due) = (false, at(0))
      while polls.count < BaudRateSearch.rates.count || others == 0, due < at(60_000) {
        due = try #require(search.deadline)
        if !isSent, at(burst) <= due {
          isSent = true
          _ = search.receive(frames: 0, skipped: count, isText: isText, at: at(burst))
          continue
        }
        switch search.wake(at: due) {
        case .poll(let rate): polls[rate, default: 0] += 1
        case .pollOther, .pollAtRate: others += 1
        default: break
        }
      }
      #expect(polls.count == BaudRateSearch.rates.count && others > 0, "\(burst)")
      #expect(due < at(burst + 25_000), "\(burst): \(due)")
    }
  }

  @Test("A known receiver is polled at each rate within two seconds once the rate is wrong")
  func pollingSoon() throws {
    var search = BaudRateSearch(at: 9600, polling: .soon, now: at(0))
    #expect(search.receive(frames: 0, skipped: 60, isText: false, at: at(100)) == .poll(9600))
    var last = at(100)
    while search.rate != 921_600 {
      last = try #require(search.deadline)
      guard case .poll = search.wake(at: last) else { break }
    }
    #expect(search.rate == 921_600)
    #expect(last < at(2500))
    // The remaining listening follows.
    #expect(search.wake(at: try #require(search.deadline)) == .setRate(9600))
  }

  /// Searches the rate of a line that sends sentences of 75 bytes in each period, in pieces of 5 ms.
  ///
  /// - Returns: the number of the burst in which the rate is found; nil after twelve.
  private func burstOfDiscovery(
    _ receiver: UInt32, every period: UInt64, from phase: UInt64, polling: BaudRateSearch.Polling, sentences: Int = 4
  ) -> Int? {
    var search = BaudRateSearch(at: 9600, polling: polling, pollsOthers: polling != .never, now: at(0))
    let (burst, sentence, piece) = (75 * sentences, 75, Int(receiver) / 2000)
    for number in 0..<12 as Range<UInt64> {
      // The bytes of the burst that were sent when the rate was set.
      var missed = 0
      for sent in stride(from: 0, to: burst, by: piece) {
        let now = at(phase + number * period + UInt64(sent / piece) * 5)
        let before = search.rate
        while let deadline = search.deadline, deadline <= now { _ = search.wake(at: deadline) }
        if search.rate != before { missed = sent }
        let bytes = min(piece, burst - sent)
        let rate = search.rate
        if rate == receiver {
          let frames = max(0, (sent + bytes) / sentence - (missed + sentence - 1) / sentence)
          _ = search.receive(frames: frames, skipped: bytes, isText: true, at: now)
        } else {
          let count = max(1, bytes * Int(min(rate, receiver)) / Int(receiver))
          _ = search.receive(frames: 0, skipped: count, isText: false, at: now)
        }
        if search.isFound { return search.rate == receiver ? Int(number) + 1 : nil }
        if search.rate != rate { missed = sent + bytes }
      }
    }
    return nil
  }

  @Test(
    "A line with a burst in five or ten seconds is found in its first burst at the first rate, and a few later at others",
    arguments: [5000, 10_000] as [UInt64], [BaudRateSearch.Polling.never, .afterListening])
  func slowLine(every period: UInt64, polling: BaudRateSearch.Polling) throws {
    for phase in stride(from: UInt64(200), to: period, by: 95) {
      for (index, rate) in BaudRateSearch.rates.enumerated() {
        let found = burstOfDiscovery(rate, every: period, from: phase, polling: polling)
        let burst = try #require(found, "\(rate) from \(phase)")
        #expect(burst <= (index == 0 ? 1 : index == 1 ? 3 : index + 3), "\(rate) from \(phase): \(burst)")
      }
    }
  }

  @Test(
    "An unknown line with one sentence in five seconds is found a few sentences later, also where it is polled at once",
    arguments: [BaudRateSearch.Polling.never, .afterListening, .soon])
  func oneSentence(polling: BaudRateSearch.Polling) throws {
    for phase in stride(from: UInt64(200), to: 5000, by: 95) {
      for (index, rate) in BaudRateSearch.rates.enumerated() {
        let found = burstOfDiscovery(rate, every: 5000, from: phase, polling: polling, sentences: 1)
        let burst = try #require(found, "\(rate) from \(phase)")
        #expect(burst <= index + 3, "\(rate) from \(phase): \(burst)")
      }
    }
  }

  @Test(
    "A receiver that sends an epoch a second is found within a round at every rate",
    arguments: BaudRateSearch.rates, [4800, 9600, 921_600] as [UInt32])
  func everyRate(of receiver: UInt32, from start: UInt32) throws {
    // The line: 480 bytes at each full second, garbage of as many bytes unless the rates are the same.
    var search = BaudRateSearch(at: start, now: at(0))
    for second in 1...14 where !search.isFound {
      let burst = at(UInt64(second) * 1000)
      while let deadline = search.deadline, deadline < burst { _ = search.wake(at: deadline) }
      if search.rate == receiver {
        _ = search.receive(frames: 1, skipped: 0, isText: true, at: burst)
      } else {
        _ = search.receive(frames: 0, skipped: 480, isText: false, at: burst)
      }
    }
    #expect(search.isFound)
    #expect(search.rate == receiver)
  }
}
