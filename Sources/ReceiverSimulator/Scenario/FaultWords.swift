// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

extension Words {
  /// The rest of a line as a fault; see docs/reference/scenarios.md.
  mutating func fault() throws(ScenarioError) -> Fault {
    switch next() {
    case "unplug": return .unplug(for: try milliseconds())
    case "power-cycle":
      let time = try milliseconds()
      return .powerCycle(for: time, losingBackup: take("without-backup"))
    case "power":
      if take("on") { return .power(isOn: true) }
      try expect("off", or: "on")
      return .power(isOn: false)
    case "corrupt":
      let share = try share()
      return .corrupt(share: share, for: try milliseconds())
    case "drop":
      let share = try share()
      return .drop(share: share, for: try milliseconds())
    case "freeze": return .freeze(for: try milliseconds())
    case "refuse": return .refuseEverything(for: try milliseconds())
    case "silence": return .silence(for: try milliseconds())
    case "flood": return .flood(for: try milliseconds())
    case "baud":
      guard let rate = next().flatMap({ UInt32($0) }), 1200...8_000_000 ~= rate else {
        throw error("`baud` takes a rate such as 38400")
      }
      return .baudRateChange(to: rate)
    case "reboot": return .reboot
    case "ignore-sleep": return .ignoreSleepRequests(for: try milliseconds())
    case "ignore-wake": return .ignoreWakeUps(for: try milliseconds())
    case "wake": return .wakeByItself(after: try milliseconds())
    case "jam": return .jam(for: try milliseconds())
    case "spoof": return .spoof(for: try milliseconds())
    case "lose-batch":
      guard let count = next().flatMap({ Int($0) }), 1...65_535 ~= count else {
        throw error("`lose-batch` takes the number of epochs, 1 to 65535")
      }
      return .loseBatchedEpochs(count)
    case "cut-frame": return .cutFrame(silenceFor: try milliseconds())
    default:
      throw error(
        "a fault is unplug, power-cycle, power, corrupt, drop, freeze, refuse, silence, flood, baud, reboot, ignore-sleep, "
          + "ignore-wake, wake, jam, spoof, lose-batch or cut-frame")
    }
  }
}

extension Fault {
  /// Parses a fault in the form of a scenario, such as `unplug 5s`.
  ///
  /// - Throws: ``ScenarioError`` of line 0.
  public init(parsing text: String) throws(ScenarioError) {
    var words = Words(text[...], line: 0)
    self = try words.fault()
    try words.expectEnd()
  }
}
