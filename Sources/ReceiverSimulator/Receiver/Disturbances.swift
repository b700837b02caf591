// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

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
  /// Applies a fault of the receiver itself; `VirtualLine` applies those of the line.
  mutating func suffer(_ fault: Fault) {
    if disturbances.add(fault, at: now) { return }
    switch fault {
    case .power(let isOn): if isOn { restoreSupply() } else { cutSupply(losingBackup: false) }
    case .baudRateChange(let rate): if family != nil { changeFamilyRate(to: rate) } else { changeRate(to: rate) }
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
