/// How a session deals with a receiver.
public struct SessionSettings: Sendable {
  /// What may be sent.
  public enum Intent: Sendable {
    /// Not one byte.
    case readOnly
    /// What a u-blox receiver needs to serve well; nothing to a receiver that does not show itself as one.
    case serve
    /// The user wants to know who it is: it is asked unless it is another manufacturer's.
    case identify
  }

  /// What the line is.
  public enum Line: Sendable, Equatable {
    /// A line with a rate, which the session finds.
    case serial
    /// A line with a rate that was given; no other is tried.
    case bound
    /// The receiver's own USB port, which has no rate.
    case usb
    /// A device of the kernel's GNSS subsystem, an I2C bus, a FIFO: no rate that could be changed.
    case withoutRate(ReceiverPortNumber?)
  }

  public var intent: Intent
  public var line: Line
  /// Whether the device is known to be a u-blox receiver, by its USB ids or from before.
  public var isKnownUBlox = false
  /// Rates that it had before.
  public var likelyRates: [UInt32] = []
  /// What the receiver is to be set to once it said who it is.
  public var desired: @Sendable (ReceiverDescription) -> DesiredConfiguration = { .navigation(for: $0) }
  /// What a receiver that has just started is helped with; nil for nothing.
  public var assistance: AssistanceSettings?
  /// Whether the receiver is as it was found when the session ends. Who was asked to change it leaves what was set.
  public var restoresAtEnd = true
  /// Whether a receiver that shows to be a u-blox one and does not answer in UBX may be told to, which changes its port until
  /// it loses power.
  public var maySwitchUBXOn = true
  /// Where a reader before this one was killed: the beginning of the frame that it received last, perhaps empty. The line
  /// has still its rate, so that is not doubted at the first bytes that are understood by nobody.
  public var unfinishedFrame: [UInt8]?
  /// How a program that did not come to its end has left it: it is woken at that rate first.
  public var recovery: CrashRecoveryRecord?
  /// What that program had changed.
  public var recoverySettings: CrashRecoverySettings?
  /// What is known of it from before the line was lost.
  public var memory: SessionMemory?

  public init(intent: Intent, line: Line) {
    self.intent = intent
    self.line = line
  }
}

/// What a session leaves to the next one with the same receiver, after an unplug for example.
public struct SessionMemory: Sendable {
  /// The rate at which frames were received.
  public var rate: UInt32?
  /// The rate that the line was found at, if it was raised from that; the end restores it.
  var foundRate: UInt32?
  public var description: ReceiverDescription?
  /// The receiver's orbits at the end of the session, if `AssistanceSettings.readsDatabaseAtEnd` is set.
  public var database: [AssistanceRecord.Message] = []
  /// The settings as they were found before they were changed.
  var found: [Configuration.Found] = []
  /// The content of battery-backed memory before it was written.
  var backup = BackupStore.Before()

  /// Keeps settings as they were found, the first finding of each.
  mutating func keep(_ settings: [Configuration.Found]) {
    for one in settings where !found.contains(where: { $0.setting.isOfSame(one.setting) }) { found.append(one) }
  }

  mutating func clearSettings() {
    found = []
    foundRate = nil
    backup = BackupStore.Before()
  }
}
