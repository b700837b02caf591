// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import ReceiverSimulator
import TestSupport
import Testing

/// A fault every ten minutes or so, in virtual time.
@Suite("A day with random faults")
struct RandomDayTests {
  /// The whole day with one receiver, and some hours with each: it is minutes of work for a debug build.
  static let lengths: [(ReceiverModel, Int)] = ReceiverModel.ofUBlox.map { ($0, $0 == .m10 ? repetitions(24) : 2) }

  @Test("No wrong fix and no missed recovery", arguments: lengths)
  func hours(_ model: ReceiverModel, _ hours: Int) {
    let day = RandomDay(model, seed: UInt64(model.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
    for _ in 0..<hours { day.passHour() }
    #expect(day.fixes > hours * 3000 && day.faults > hours * 4, "\(day.fixes), \(day.faults)")
    #expect(day.wrongFixes == 0)
    #expect(day.missedRecoveries == 0)
  }
}
