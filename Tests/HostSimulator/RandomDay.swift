// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream

/// A session on a virtual receiver's line with a fault about every ten minutes. The day stores only counts.
public final class RandomDay {
  public private(set) var faults = 0
  public private(set) var missedRecoveries = 0
  /// Fixes with a position.
  public var fixes: Int { host.machine.fixes }
  /// Fixes whose error exceeds their own accuracy.
  public var wrongFixes: Int { host.machine.wrongFixes }

  private let host: VirtualHost<PositionCheck, VirtualLine>
  private var random: SeededRandomNumberGenerator
  private let isIdentifiable: Bool

  /// A cold start takes half a minute, and a receiver with an incomplete identity is polled again after a minute.
  private static let recoverySeconds = 100.0

  public init(_ model: ReceiverModel, seed: UInt64) {
    random = SeededRandomNumberGenerator(seed: seed)
    isIdentifiable = model != .nmea
    var line = VirtualLine(model: model, seed: seed, startUTCSeconds: 1_780_000_000)
    line.hostRate = 9600
    host = VirtualHost(PositionCheck(scenario: line.receiver.scenario), line)
    host.run(60)
  }

  /// Runs an hour, and completes recoveries that have started: the session is idle at the end.
  public func passHour() {
    let end = host.now + Milliseconds(3_600_000)
    while host.now < end {
      host.run(Double(300 + random.next(below: 600)))
      let seconds = 1 + random.next(below: 30)
      host.inject(Self.fault(lasting: Milliseconds(UInt64(seconds) * 1000), &random))
      faults += 1
      host.run(Double(seconds))
      let count = fixes
      let isBack = host.run(Self.recoverySeconds) { $0.machine.fixes > count + 1 }
      let isSteady = !isIdentifiable || host.run(Self.recoverySeconds) { $0.isSteady }
      if !isBack || !isSteady { missedRecoveries += 1 }
    }
  }

  /// A fault at random.
  public static func fault(lasting length: Milliseconds, _ random: inout SeededRandomNumberGenerator) -> Fault {
    let rates: [UInt32] = [9600, 38_400, 115_200]
    return switch random.next(below: 11) {
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
  }
}

/// Compares fixes with the truth of a scenario that started at the instant zero.
private struct PositionCheck: HostMachine {
  let scenario: Scenario
  private(set) var fixes = 0
  private(set) var wrongFixes = 0

  init(scenario: Scenario) { self.scenario = scenario }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard !report.isUpdate, report.fix.hasPosition, let latitude = report.fix.latitudeDegrees,
      let longitude = report.fix.longitudeDegrees
    else { return }
    fixes += 1
    let truth = scenario.truth(atSeconds: now.seconds(since: .zero))
    let north = (latitude - truth.latitudeDegrees) * 111_200
    // The scenario is at 48 degrees north; this is its cosine.
    let east = (longitude - truth.longitudeDegrees) * 111_200 * 0.67
    let error = (north * north + east * east).squareRoot()
    // Ten standard deviations, and a second of motion.
    if error > 10 * (report.fix.horizontalAccuracyMetres ?? 10) + 40 { wrongFixes += 1 }
  }
}
