// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// The settings of a session.
public struct SessionSettings: Sendable {
  /// The purpose of a session, which limits what it may send.
  public enum Intent: Sendable {
    /// Nothing is sent.
    case readOnly
    /// Only a receiver that shows to be a u-blox one is polled and configured.
    case serve
    /// Any receiver is polled for its identity, except one of another manufacturer.
    case identify
  }

  /// The kind of the line.
  public enum Line: Sendable, Equatable {
    /// A line whose rate the session finds.
    case serial
    /// A line with a given rate; no other one is tried.
    case bound
    /// The receiver's own USB port, which has no rate.
    case usb
    /// A device of the kernel's GNSS subsystem, an I2C bus or a FIFO, without a rate.
    case withoutRate(ReceiverPortNumber?)

    /// The receiver's port, where the kind of the line shows it.
    var port: ReceiverPortNumber? {
      switch self {
      case .serial, .bound: nil
      case .usb: .usb
      case .withoutRate(let port): port
      }
    }
  }

  public var intent: Intent
  public var line: Line
  /// Whether the bytes come from a recording. Their dates are not the computer's.
  public var isRecording = false
  /// Whether the device is a u-blox receiver, by its USB ids or by an earlier session.
  public var isKnownUBlox = false
  /// Earlier rates of the receiver, in baud.
  public var likelyRates: [UInt32] = []
  /// The desired configuration of an identified receiver.
  public var desired: @Sendable (ReceiverDescription) -> DesiredConfiguration = { .navigation(for: $0) }
  /// The assistance for a receiver after its start; nil for none.
  public var assistance: AssistanceSettings?
  /// Whether the receiver is polled for the validity of its orbits after the first fix of a start.
  public var pollsOrbits = false
  /// Whether the end of the session restores what was changed.
  public var restoresAtEnd = true
  /// Whether UBX may be switched on at a u-blox receiver without UBX replies, which changes its port until it loses power.
  public var maySwitchUBXOn = true
  /// The beginning of the frame, perhaps empty, that a killed reader received last. The line still has its rate, which the
  /// first bytes outside of frames do not refute.
  public var unfinishedFrame: [UInt8]?
  /// The record of a killed program: the receiver is woken at its rate first.
  public var recovery: CrashRecoveryRecord?
  /// The settings that the killed program changed.
  public var recoverySettings: CrashRecoverySettings?
  /// The records of other receivers, which may be at this line now.
  public var otherRecords: [OtherCrashRecoveryRecord] = []
  /// The memory of the session before, on the same receiver.
  public var memory: SessionMemory?

  public init(intent: Intent, line: Line) {
    self.intent = intent
    self.line = line
  }
}

/// The results of a session for the next one with the same receiver, after an unplug for example.
public struct SessionMemory: Sendable {
  /// The rate at which frames were received.
  public var rate: UInt32?
  /// The rate that the line was found at, if it was raised from that; the end restores it.
  var foundRate: UInt32?
  /// The name of the family's port whose rate was raised.
  var raisedPort: String?
  public var description: ReceiverDescription?
  /// Whether the receiver had no reply to the probes of any family: it is not probed again while it is the same one.
  public var isUnanswering = false
  /// The receiver's orbits at the end of the session, if `AssistanceSettings.readsDatabaseAtEnd` is set.
  public var database: [AssistanceRecord.Message] = []
  /// The settings as they were found before they were changed.
  var found: [Setting] = []
  /// The values of another maker's receiver as they were found before they were changed.
  var foundValues: [ReceiverValue] = []
  /// The log of a user that was stopped for a restart, and has not been started again.
  var stoppedLog: LoggerState?
  /// The content of battery-backed memory before it was written.
  var backup = BackupStore.Before()

  /// The memory of a receiver that was left as it was found, or of none.
  ///
  /// - Parameters:
  ///   - description: the receiver; nil before it is identified.
  ///   - rate: the rate at which frames were received, in baud.
  public init(of description: ReceiverDescription? = nil, rate: UInt32? = nil) {
    self.description = description
    self.rate = rate
  }

  /// Whether something other than the rate is not as it was found.
  var hasChanges: Bool { !(found.isEmpty && foundValues.isEmpty && stoppedLog == nil && backup.isEmpty) }

  /// Keeps settings as they were found, the first finding of each.
  mutating func keep(_ settings: [Setting]) {
    for one in settings where !found.contains(where: { $0.isOfSame(one) }) { found.append(one) }
  }

  mutating func keep(_ values: [ReceiverValue]) {
    for one in values {
      if let index = foundValues.firstIndex(where: { $0.kind == one.kind }) {
        foundValues[index] = foundValues[index].adding(one)
      } else {
        foundValues.append(one)
      }
    }
  }

  mutating func clearSettings() {
    found = []
    foundValues = []
    stoppedLog = nil
    foundRate = nil
    raisedPort = nil
    backup = BackupStore.Before()
  }
}
