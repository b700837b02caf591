// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// A fault, from a scenario or from `VirtualLine.inject`.
///
/// A fault with a duration ends by itself; the same fault again replaces the remaining duration.
public enum Fault: Sendable, Equatable {
  /// The device is unplugged: it disappears, and the receiver loses its supply, not its backup supply.
  case unplug(for: Milliseconds)
  /// The receiver's supply fails while the adapter stays. Without backup, clock, orbits and stored settings are lost.
  case powerCycle(for: Milliseconds, losingBackup: Bool)
  /// The host switches the supply off, until the matching fault switches it on. The backup supply stays.
  case power(isOn: Bool)
  /// Bytes in both directions are changed, each with this probability.
  case corrupt(share: Double, for: Milliseconds)
  /// Bytes in both directions are lost, each with this probability.
  case drop(share: Double, for: Milliseconds)
  /// The receiver's processor halts: it sends nothing, reads nothing and draws current.
  case freeze(for: Milliseconds)
  /// Every message that can be refused is refused.
  case refuseEverything(for: Milliseconds)
  /// The receiver navigates and sends, but does not reply.
  case silence(for: Milliseconds)
  /// Random bytes fill the line.
  case flood(for: Milliseconds)
  /// The receiver changes its rate without a command.
  case baudRateChange(to: UInt32)
  /// A watchdog reset: the settings in RAM are lost.
  case reboot
  /// The receiver ignores commands to sleep.
  case ignoreSleepRequests(for: Milliseconds)
  /// Bytes do not wake the receiver.
  case ignoreWakeUps(for: Milliseconds)
  /// The receiver wakes this long after the fault, if it sleeps then.
  case wakeByItself(after: Milliseconds)
  /// The receiver reports critical jamming, in the messages that its model has. Its fixes stay as they are.
  case jam(for: Milliseconds)
  /// The receiver reports spoofing.
  case spoof(for: Milliseconds)
  /// The oldest epochs of the batch are lost, as in an overrun.
  case loseBatchedEpochs(Int)
  /// The receiver sends the beginning of a NAV-PVT, and then nothing.
  case cutFrame(silenceFor: Milliseconds)
}

/// The active faults of a receiver, each with its end.
struct Disturbances: Sendable {
  private var frozenUntil: Instant?
  private var muteUntil: Instant?
  private var silentUntil: Instant?
  private var refusesUntil: Instant?
  private var ignoresSleepUntil: Instant?
  private var ignoresWakeUntil: Instant?
  private var jammedUntil: Instant?
  private var spoofedUntil: Instant?
  private var cut: Milliseconds?
  var floodUntil: Instant?
  var wakesByItselfAt: Instant?

  /// The end of a freeze: the receiver does nothing.
  func isFrozen(at now: Instant) -> Bool { isOn(frozenUntil, now) }
  /// The end of a silence: the receiver sends nothing.
  func isMute(at now: Instant) -> Bool { isOn(muteUntil, now) }
  /// The end of a time without replies.
  func isSilent(at now: Instant) -> Bool { isOn(silentUntil, now) || isOn(muteUntil, now) }
  func refuses(at now: Instant) -> Bool { isOn(refusesUntil, now) }
  func ignoresSleep(at now: Instant) -> Bool { isOn(ignoresSleepUntil, now) }
  func ignoresWake(at now: Instant) -> Bool { isOn(ignoresWakeUntil, now) }

  /// Whether the receiver reports jamming, or spoofing.
  func isJammed(at now: Instant) -> Bool { isOn(jammedUntil, now) }
  func isSpoofed(at now: Instant) -> Bool { isOn(spoofedUntil, now) }

  mutating func mute(until end: Instant) { muteUntil = end }

  /// The length of the silence behind a cut frame that is due.
  mutating func takeCut() -> Milliseconds? {
    defer { cut = nil }
    return cut
  }

  /// Starts a fault that has only a duration; returns false for other faults.
  mutating func add(_ fault: Fault, at now: Instant) -> Bool {
    switch fault {
    case .freeze(let time): frozenUntil = now + time
    case .silence(let time): silentUntil = now + time
    case .refuseEverything(let time): refusesUntil = now + time
    case .ignoreSleepRequests(let time): ignoresSleepUntil = now + time
    case .ignoreWakeUps(let time): ignoresWakeUntil = now + time
    case .flood(let time): floodUntil = now + time
    case .wakeByItself(let time): wakesByItselfAt = now + time
    case .jam(let time): jammedUntil = now + time
    case .spoof(let time): spoofedUntil = now + time
    case .cutFrame(let time): cut = time
    default: return false
    }
    return true
  }

  private func isOn(_ end: Instant?, _ now: Instant) -> Bool { end.map { now < $0 } ?? false }
}

extension VirtualReceiver {
  /// Applies a fault of the receiver itself; `VirtualLine` applies faults of the line.
  mutating func suffer(_ fault: Fault) {
    if disturbances.add(fault, at: now) { return }
    switch fault {
    case .power(let isOn): if isOn { restoreSupply() } else { cutSupply(losingBackup: false) }
    case .baudRateChange(let rate): if family != nil { setFamilyRate(rate) } else { changeRate(to: rate) }
    case .reboot: if powerState.isAwake { reset() }
    case .loseBatchedEpochs(let count): batch.lose(count)
    default: break
    }
  }

  /// Fills the line with random bytes.
  mutating func flood() {
    guard let end = disturbances.floodUntil else { return }
    if now >= end { return disturbances.floodUntil = nil }
    guard powerState.isAwake, now >= transmitter.freeAt else { return }
    var garbage: [UInt8] = []
    while garbage.count < 64 {
      let word = random.next()
      for byte in 0..<8 as Range<UInt64> { garbage.append(UInt8(truncatingIfNeeded: word >> (byte * 8))) }
    }
    transmitter.send(garbage, at: now)
  }
}

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
