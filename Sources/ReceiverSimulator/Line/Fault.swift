import MonotonicTime

/// What goes wrong, in a scenario or by `VirtualLine.inject`.
///
/// A fault with a length ends by itself; the same kind again replaces the length that is left.
public enum Fault: Sendable, Equatable {
  /// The plug is pulled: the device is gone and the receiver loses its supply, not its backup.
  case unplug(for: Milliseconds)
  /// The receiver's supply fails while the adapter stays. Without backup, clock, orbits and stored settings are lost.
  case powerCycle(for: Milliseconds, losingBackup: Bool)
  /// The host's power switch, until the other one follows. The backup supply stays.
  case power(isOn: Bool)
  /// Bytes in both directions are changed, each with this probability.
  case corrupt(share: Double, for: Milliseconds)
  /// Bytes in both directions are lost, each with this probability.
  case drop(share: Double, for: Milliseconds)
  /// The receiver's processor stands still: it sends nothing, reads nothing and draws current.
  case freeze(for: Milliseconds)
  /// Every message that can be refused is refused.
  case refuseEverything(for: Milliseconds)
  /// It navigates and sends, and answers nothing.
  case silence(for: Milliseconds)
  /// Bytes without a sense fill the line.
  case flood(for: Milliseconds)
  /// The receiver changes its rate without being asked.
  case baudRateChange(to: UInt32)
  /// A watchdog reset: the settings in RAM are lost.
  case reboot
  /// Requests to sleep are not obeyed.
  case ignoreSleepRequests(for: Milliseconds)
  /// Bytes do not wake it.
  case ignoreWakeUps(for: Milliseconds)
  /// It wakes by itself this long after the fault, if it sleeps then.
  case wakeByItself(after: Milliseconds)
  /// The oldest epochs of the batch are lost, as if it had overrun.
  case loseBatchedEpochs(Int)
  /// The beginning of a NAV-PVT, and then nothing at all is sent.
  case cutFrame(silenceFor: Milliseconds)
}
