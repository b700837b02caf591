// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream

/// The part of a simulated host above the session: the machine under test, or a record of the session's output.
///
/// A machine is a value, like the session. It implements the events that it uses; the defaults do nothing.
public protocol HostMachine {
  /// The time at which `wake` is due; nil if never.
  var deadline: Instant? { get }
  /// Performs the actions that are due.
  mutating func wake(at now: Instant)
  /// Handles received bytes, before the session does.
  mutating func receive(_ bytes: [UInt8], at now: Instant)
  /// Handles the report of an epoch.
  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant)
  /// Handles an action of the session, before the host performs it.
  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant)
  /// Handles the loss of the line, after the last actions of its session.
  mutating func lineLost(at now: Instant)
  /// Handles a wake-up of the host, caused by bytes or a deadline.
  mutating func hostWoke(at now: Instant)
  /// Ends a round of the host on an open line.
  mutating func endRound(of session: borrowing ReceiverSession, at now: Instant)
  /// Handles the ticket of a submitted command or tasks.
  mutating func accept(_ ticket: SessionTicket)
  /// Performs the outputs of the machine. Returns its commands for the host; nil if there is no output.
  mutating func commands(at now: Instant) -> [HostCommand]?
}

extension HostMachine {
  public var deadline: Instant? { nil }
  public mutating func wake(at now: Instant) {}
  public mutating func receive(_ bytes: [UInt8], at now: Instant) {}
  public mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}
  public mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {}
  public mutating func lineLost(at now: Instant) {}
  public mutating func hostWoke(at now: Instant) {}
  public mutating func endRound(of session: borrowing ReceiverSession, at now: Instant) {}
  public mutating func accept(_ ticket: SessionTicket) {}
  public mutating func commands(at now: Instant) -> [HostCommand]? { nil }
}

/// A command of a machine.
public enum HostCommand {
  case receiver(ReceiverCommand)
  case submit(Command)
  case perform([ReceiverTask], restoring: [ReceiverValue])
  /// End the session normally, and leave the line closed.
  case finish
}

/// The crash-recovery record of a killed process, as the file has it.
public struct StoredRecord {
  public private(set) var recovery: CrashRecoveryRecord?
  public private(set) var settings: CrashRecoverySettings?
  /// How often it was written.
  public private(set) var writes = 0

  public init() {}

  /// Stores the record before bytes are sent, as the driver does.
  public mutating func store(_ session: borrowing ReceiverSession) {
    guard let recovery = session.recovery else { return }
    let settings = session.recoverySettings
    if self.recovery == recovery, self.settings == settings { return }
    (self.recovery, self.settings, writes) = (recovery, settings, writes + 1)
  }

  public mutating func clear() { (recovery, settings) = (nil, nil) }

  /// Sets the record of a session as it is read back from text.
  public func read(into settings: inout SessionSettings) {
    settings.recovery = recovery.flatMap { CrashRecoveryRecord($0.text) }
    settings.recoverySettings = self.settings.flatMap { CrashRecoverySettings("\n" + $0.text) }
  }
}
