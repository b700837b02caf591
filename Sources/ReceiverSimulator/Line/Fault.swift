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
