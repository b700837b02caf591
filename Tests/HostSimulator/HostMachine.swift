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
  /// Handles the report of an epoch.
  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant)
  /// Handles an action of the session, before the host performs it.
  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant)
  /// Handles the loss of the line, after the last actions of its session.
  mutating func lineLost(at now: Instant)
  /// Handles a wake-up of the host, caused by bytes or a deadline.
  mutating func hostWoke(at now: Instant)
  /// Performs the outputs of the machine. Returns its commands for the host; nil if there is no output.
  mutating func commands(at now: Instant) -> [HostCommand]?
}

extension HostMachine {
  public var deadline: Instant? { nil }
  public mutating func wake(at now: Instant) {}
  public mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}
  public mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {}
  public mutating func lineLost(at now: Instant) {}
  public mutating func hostWoke(at now: Instant) {}
  public mutating func commands(at now: Instant) -> [HostCommand]? { nil }
}

/// A command of a machine.
public enum HostCommand {
  case receiver(ReceiverCommand)
  /// End the session normally, and leave the line closed.
  case finish
}
