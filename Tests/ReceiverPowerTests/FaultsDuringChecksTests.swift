import MonotonicTime
import PowerControl
import Receiver
import ReceiverSimulator
import Testing

@testable import ReceiverPower

/// What goes wrong while a receiver sleeps between looks must not end the looks: whatever the moment, fixes come again.
@Suite("Faults of a receiver that sleeps between looks")
struct FaultsDuringChecksTests {
  private static let faults: [(String, Fault)] = [
    ("freeze", .freeze(for: Milliseconds(30_000))),
    ("silence", .silence(for: Milliseconds(30_000))),
    ("corrupt", .corrupt(share: 0.05, for: Milliseconds(60_000))),
    ("drop", .drop(share: 0.02, for: Milliseconds(60_000))),
    ("refusals", .refuseEverything(for: Milliseconds(60_000))),
    ("flood", .flood(for: Milliseconds(20_000))),
    ("reboot", .reboot),
    ("ignored sleep", .ignoreSleepRequests(for: Milliseconds(120_000))),
    ("ignored waking", .ignoreWakeUps(for: Milliseconds(120_000))),
    ("waking by itself", .wakeByItself(after: Milliseconds(5000))),
    ("other rate", .baudRateChange(to: 57_600)),
    ("cut frame", .cutFrame(silenceFor: Milliseconds(20_000))),
    ("power cycle", .powerCycle(for: Milliseconds(3000), losingBackup: true)),
    ("unplug", .unplug(for: Milliseconds(10_000))),
  ]

  @Test(
    "Looks go on after every fault, whenever it happens",
    arguments: [ReceiverModel.m8, .m10, .f9p, .clone], faults.indices)
  func checksGoOn(_ model: ReceiverModel, _ number: Int) {
    let (name, fault) = Self.faults[number]
    // Into the look, in the middle of what is said, or into the sleep after it.
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
        "\(name) \(offset) s into a look: \(scene.fixes.count - before) fixes, \(scene.sessionReports.suffix(8)), \(scene.commands.suffix(6)), \(scene.reports.suffix(4))"
      )
    }
  }
}
