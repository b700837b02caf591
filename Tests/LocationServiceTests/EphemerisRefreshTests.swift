// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import LocationService

@Suite("Ephemerides of the source of corrections")
struct EphemerisRefreshTests {
  private static func at(_ seconds: UInt64) -> Instant { .zero + Milliseconds(seconds * 1000) }

  /// The answers at these times, with the seconds for which the stored ephemerides remain usable.
  private func answers(_ refresh: inout EphemerisRefresh, _ times: [(UInt64, Double)]) -> [Bool] {
    times.map { refresh.update(usableSeconds: $0.1, at: Self.at($0.0)) }
  }

  @Test("The source is connected while too few are stored, until no new one comes, and then for long not again")
  func complete() {
    var refresh = EphemerisRefresh()
    var isNeeded = answers(&refresh, [(0, 0)])
    for second in 1...20 as ClosedRange<UInt64> {
      refresh.received(at: Self.at(second))
      isNeeded += answers(&refresh, [(second, second < 8 ? 0 : 9000)])
    }
    #expect(!isNeeded.contains(false))
    let found1 = answers(&refresh, [(49, 9000)])
    #expect(found1 == [true])
    #expect(refresh.assuredSeconds(usableSeconds: 9000) == 9000)
    let found2 = answers(&refresh, [(50, 9000)])
    #expect(found2 == [false])
    // The policy may count on the next ones, while there are any.
    #expect(refresh.assuredSeconds(usableSeconds: 9000) == EphemerisRefresh.trustedSeconds)
    #expect(refresh.assuredSeconds(usableSeconds: 0) == 0)
    let found3 = answers(&refresh, [(5300, 3700), (5400, 3500)])
    #expect(found3 == [false, true])
  }

  @Test("A source without ephemerides is given up after three minutes, for a quarter of an hour")
  func without() {
    var refresh = EphemerisRefresh()
    let found4 = answers(&refresh, [(0, 0), (179, 0), (180, 0), (1079, 0)])
    #expect(found4 == [true, true, false, false])
    #expect(refresh.deadline(after: Self.at(200)) == Self.at(1080))
    let found5 = answers(&refresh, [(1080, 0)])
    #expect(found5 == [true])
    // An earlier success counts no longer.
    #expect(refresh.assuredSeconds(usableSeconds: 100) == 100)
  }

  @Test("The deadline is when the answer may change, and never in the past")
  func deadline() {
    var refresh = EphemerisRefresh()
    _ = answers(&refresh, [(0, 0)])
    refresh.received(at: Self.at(100))
    #expect(refresh.deadline(after: Self.at(100)) == Self.at(130))
    // Too few, and none for half a minute: only the end of the connection is left.
    let found6 = answers(&refresh, [(130, 0)])
    #expect(found6 == [true])
    #expect(refresh.deadline(after: Self.at(130)) == Self.at(180))
    refresh.received(at: Self.at(170))
    #expect(refresh.deadline(after: Self.at(170)) == Self.at(180))
  }
}
