// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Receiver
import ReceiverSimulator
import Testing

@testable import Power

/// A fault of a receiver that sleeps between position checks must not end the checks: whenever it occurs, fixes resume.
@Suite("Faults of a receiver that sleeps between position checks")
struct FaultsDuringChecksTests {
  private static let faults: [(String, Fault)] = [
    ("freeze", .freeze(for: Milliseconds(30_000))),
    ("silence", .silence(for: Milliseconds(30_000))),
    ("corrupt", .corrupt(share: 0.05, for: Milliseconds(60_000))),
    ("drop", .drop(share: 0.02, for: Milliseconds(60_000))),
    ("refusals", .refuseEverything(for: Milliseconds(60_000))),
    ("flood", .flood(for: Milliseconds(20_000))),
    ("reboot", .reboot),
    ("ignored sleep request", .ignoreSleepRequests(for: Milliseconds(120_000))),
    ("ignored wake-up", .ignoreWakeUps(for: Milliseconds(120_000))),
    ("spontaneous wake-up", .wakeByItself(after: Milliseconds(5000))),
    ("other rate", .baudRateChange(to: 57_600)),
    ("cut frame", .cutFrame(silenceFor: Milliseconds(20_000))),
    ("power cycle", .powerCycle(for: Milliseconds(3000), losingBackup: true)),
    ("unplug", .unplug(for: Milliseconds(10_000))),
  ]

  @Test(
    "Position checks continue after every fault, at any moment",
    arguments: [ReceiverModel.m8, .m10, .f9p, .clone], faults.indices)
  func checksGoOn(_ model: ReceiverModel, _ number: Int) {
    let (name, fault) = Self.faults[number]
    // Into the check, in the middle of its output, or into the sleep after it.
    for offset in [0.6, 1.5, 20] {
      let scene = Scene(model)
      scene.demand(Demand(everySeconds: 60))
      scene.run(200)
      let checks = scene.commands.count { $0.command == .wakeUp }
      scene.run(100) { $0.commands.count { $0.command == .wakeUp } > checks }
      scene.run(offset)
      scene.inject(fault)
      scene.run(600)
      let before = scene.fixes.count
      scene.run(480)
      #expect(
        scene.fixes.count >= before + 4,
        "\(name) \(offset) s into a check: \(scene.fixes.count - before) fixes, \(scene.sessionReports.suffix(8)), \(scene.commands.suffix(6)), \(scene.reports.suffix(4))"
      )
    }
  }
}
