// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

/// A fault every ten minutes or so, in virtual time.
@Suite("A day with random faults")
struct RandomDayTests {
  struct Day {
    var faults = 0
    var positions = 0
    /// Positions that are further from the truth than their own accuracy allows.
    var wrong = 0
    var missedRecoveries = 0
    var reports = 0
    var largestError = 0.0
  }

  static func day(_ model: ReceiverModel, hours: Int) -> Day {
    let scene = SessionScene(model, seed: 7)
    var random = SeededRandomNumberGenerator(seed: UInt64(model.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
    var day = Day()
    scene.run(60)
    let end = scene.now + Milliseconds(UInt64(hours) * 3_600_000)
    while scene.now < end {
      scene.run(Double(300 + random.next(below: 600)))
      day.take(scene)
      let (fault, length) = Self.fault(&random)
      day.faults += 1
      scene.line.inject(fault, at: scene.now)
      scene.run(length)
      // A cold start takes half a minute, and a receiver that looks like u-blox is polled again after a minute.
      let count = scene.positions.count
      if !scene.run(100, until: { $0.positions.count > count + 1 }) { day.missedRecoveries += 1 }
      if model != .nmea, !scene.run(120, until: { $0.isSteady }) { day.missedRecoveries += 1 }
      day.take(scene)
    }
    return day
  }

  private static func fault(_ random: inout SeededRandomNumberGenerator) -> (Fault, Double) {
    let seconds = 1 + random.next(below: 30)
    let length = Milliseconds(UInt64(seconds) * 1000)
    let rates: [UInt32] = [9600, 38400, 115_200]
    let fault: Fault =
      switch random.next(below: 11) {
      case 0: .unplug(for: length)
      case 1: .powerCycle(for: length, losingBackup: random.next(below: 2) == 0)
      case 2: .corrupt(share: Double(1 + random.next(below: 200)) / 10_000, for: length)
      case 3: .drop(share: Double(1 + random.next(below: 200)) / 10_000, for: length)
      case 4: .freeze(for: length)
      case 5: .refuseEverything(for: length)
      case 6: .silence(for: length)
      case 7: .flood(for: length)
      case 8: .baudRateChange(to: rates[random.next(below: 3)])
      case 9: .cutFrame(silenceFor: length)
      default: .reboot
      }
    return (fault, Double(seconds))
  }

  /// The whole day with one receiver, and some hours with each: it is minutes of work for a debug build.
  static let lengths: [(ReceiverModel, Int)] = ReceiverModel.allCases.map { ($0, $0 == .m10 ? 24 : 2) }

  @Test("No wrong fix and no missed recovery", arguments: lengths)
  func hours(_ model: ReceiverModel, _ hours: Int) {
    let day = Self.day(model, hours: hours)
    #expect(day.positions > hours * 3000, "\(day)")
    #expect(day.wrong == 0, "\(day)")
    #expect(day.missedRecoveries == 0, "\(day)")
  }
}

extension RandomDayTests.Day {
  /// Compares what the scene collected with the truth, and lets it go.
  mutating func take(_ scene: SessionScene) {
    for (at, fix) in scene.takeFixes() where fix.hasPosition {
      guard let latitude = fix.latitudeDegrees, let longitude = fix.longitudeDegrees else { continue }
      positions += 1
      let truth = scene.line.receiver.truth(at: at)
      let north = (latitude - truth.latitudeDegrees) * 111_200
      let east = (longitude - truth.longitudeDegrees) * 111_200 * 0.67
      let error = (north * north + east * east).squareRoot()
      largestError = max(largestError, error)
      // Ten standard deviations, and a second of motion.
      if error > 10 * (fix.horizontalAccuracyMetres ?? 10) + 40 { wrong += 1 }
    }
    reports += scene.takeReports()
  }
}
