import MonotonicTime
import Receiver
import Testing

@Suite("The baud rate is found by listening")
struct BaudRateSearchTests {
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test("A frame settles it, and nothing is changed any more")
  func found() {
    var search = BaudRateSearch(at: 38400, now: at(0))
    #expect(search.receive(bytes: 60, frames: 1, at: at(100)) == .found(38400))
    #expect(search.isFound)
    #expect(search.deadline == nil)
    #expect(search.receive(bytes: 5000, frames: 0, at: at(9000)) == .none)
    #expect(search.wake(at: at(99_000)) == .none)
  }

  @Test("Garbage that is longer than a sentence moves on at once")
  func garbage() {
    var search = BaudRateSearch(at: 115_200, now: at(0))
    #expect(search.receive(bytes: 399, frames: 0, at: at(10)) == .none)
    #expect(search.receive(bytes: 1, frames: 0, at: at(11)) == .setRate(9600))
    // Each rate has its own patience.
    #expect(search.receive(bytes: 399, frames: 0, at: at(30)) == .none)
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

  @Test("Every rate is tried once in a round, the one that is set first, and then again")
  func round() throws {
    var search = BaudRateSearch(at: 250_000, now: at(0))
    var tried = [search.rate]
    for _ in BaudRateSearch.rates {
      guard case .setRate(let rate) = search.wake(at: try #require(search.deadline)) else { break }
      tried.append(rate)
    }
    #expect(tried == [250_000] + BaudRateSearch.rates)
    #expect(search.wake(at: try #require(search.deadline)) == .setRate(250_000))
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
        _ = search.receive(bytes: 80, frames: 1, at: burst)
      } else {
        _ = search.receive(bytes: 480, frames: 0, at: burst)
      }
    }
    #expect(search.isFound)
    #expect(search.rate == receiver)
  }
}
