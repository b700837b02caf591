// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import Testing

@testable import LocationService

@Suite("When orbits are downloaded from AssistNow")
struct AssistNowRefreshTests {
  private static func at(_ hours: Double) -> Instant { .zero + Milliseconds(seconds: hours * 3600) }

  /// The hours at which downloads begin in `days`, if a received one is usable for `validHours` and each ends with its `outcome`.
  private func downloads(
    _ content: AssistNow.Content, days: Int, validHours: Double, _ outcome: (Int) -> AssistNowRefresh.Outcome
  ) -> [Double] {
    var refresh = AssistNowRefresh(content, random: 7)
    var begun: [Double] = []
    var until = 0.0
    var hour = 0.0
    while hour < Double(days) * 24 {
      let now = Self.at(hour)
      if refresh.update(usableSeconds: max(until - hour, 0) * 3600, at: now) {
        let result = outcome(begun.count)
        begun.append(hour)
        if result == .received { until = hour + validHours }
        refresh.ended(result, usableSeconds: max(until - hour, 0) * 3600, at: now)
      }
      // The deadline is the time of the next look, and never in the past.
      guard let deadline = refresh.deadline else { break }
      hour = max(deadline.seconds(since: .zero) / 3600, hour + 1.0 / 3600)
    }
    return begun
  }

  @Test("Predictions of a week are renewed in the last day of their use")
  func week() {
    let found = downloads(.predictions(days: 7), days: 20, validHours: 7 * 24) { _ in .received }
    #expect(found.count == 4, "\(found)")
    for (before, next) in zip(found, found.dropFirst()) { #expect((143...145).contains(next - before), "\(found)") }
  }

  @Test("Ephemerides are renewed before their end, and not more than once an hour")
  func live() {
    let found = downloads(.ephemerides, days: 1, validHours: 2) { _ in .received }
    #expect((13...14).contains(found.count), "\(found)")
    let useless = downloads(.ephemerides, days: 1, validHours: 0) { _ in .received }
    #expect(useless.count == 24, "\(useless)")
  }

  @Test("An answer without usable orbits does not use the quota up: it is followed by half a period")
  func useless() {
    let found = downloads(.predictions(days: 7), days: 14, validHours: 0) { _ in .received }
    #expect(found == [0, 84, 168, 252], "\(found)")
  }

  @Test("A refused request is not repeated")
  func refused() {
    #expect(downloads(.predictions(days: 7), days: 30, validHours: 0) { _ in .refused } == [0])
    #expect(downloads(.predictions(days: 7), days: 30, validHours: 0) { $0 < 2 ? .failed : .refused }.count == 3)
  }

  @Test("After the limit of the account a day passes")
  func limited() {
    let found = downloads(.predictions(days: 7), days: 10, validHours: 0) { _ in .limited }
    #expect((8...10).contains(found.count), "\(found)")
    for (before, next) in zip(found, found.dropFirst()) { #expect((24...30).contains(next - before)) }
  }

  @Test("Pauses after failures double up to six hours, with up to a quarter more; an answer ends them")
  func failures() {
    let found = downloads(.predictions(days: 7), days: 3, validHours: 0) { _ in .failed }
    let pauses = zip(found, found.dropFirst()).map { $1 - $0 }
    for (index, pause) in pauses.enumerated() {
      let shortest = min(Double(1 << min(index, 20)) / 60, 6)
      #expect((shortest - 0.001...shortest * 1.25 + 0.001).contains(pause), "\(index): \(pause)")
    }
    #expect(found.count < 25)
    let recovered = downloads(.predictions(days: 7), days: 8, validHours: 7 * 24) { $0 < 3 ? .failed : .received }
    #expect(recovered.count == 5, "\(recovered)")
  }

  @Test("A download that was given up is not an answer, and the policy relies on later ones only after a success")
  func assurance() {
    var refresh = AssistNowRefresh(.predictions(days: 7), random: 1)
    let first = refresh.update(usableSeconds: 0, at: .zero)
    let during = refresh.update(usableSeconds: 0, at: Self.at(1))
    #expect(first && !during && refresh.deadline == nil)
    refresh.cancelled(at: Self.at(1))
    #expect(refresh.assuredSeconds(usableSeconds: 100) == 100)
    let second = refresh.update(usableSeconds: 0, at: Self.at(2))
    #expect(second)
    refresh.ended(.received, usableSeconds: 600_000, at: Self.at(2))
    #expect(refresh.assuredSeconds(usableSeconds: 600_000) == 600_000)
    #expect(refresh.assuredSeconds(usableSeconds: 100) == 86_400 && refresh.assuredSeconds(usableSeconds: 0) == 0)
    // An outcome without a download has no effect.
    refresh.ended(.refused, usableSeconds: 0, at: Self.at(3))
    let deadline = Self.at(86)
    #expect(refresh.deadline == deadline)
  }
}
