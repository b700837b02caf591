// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream

/// A command to the session, or to the owner of its line.
public enum ReceiverCommand: Sendable, Equatable {
  /// `ReceiverSession.set`.
  case set(DesiredConfiguration)
  /// `ReceiverSession.sleep`; nil: without an end.
  case sleep(Milliseconds?)
  /// `ReceiverSession.wakeUp`.
  case wakeUp
  /// `ReceiverSession.retrieveBatch`.
  case retrieveBatch(BatchJournal)
  /// Whether the line is read. A receiver that takes no commands runs on while its host sleeps.
  case listen(Bool)
  /// Whether the switch in the receiver's supply is on.
  case supply(isOn: Bool)
}

/// The outputs of a ``PowerCoordinator``, in order.
public enum CoordinatorOutput: Sendable, Equatable {
  case command(ReceiverCommand)
  /// A report for clients or users.
  case report(PowerReport)
  /// An epoch that arrived as it was measured, at that time.
  case live(Fix, at: Instant)
  /// The receiver collects from now on, and is silent; the journal to store.
  case collects(BatchJournal)
  /// A read of the receiver's memory begins.
  case readOutBegins
  /// A fix of the memory, oldest first; the journal to store once the fix is stored.
  case batched(BatchedFix, BatchJournal)
  /// Fixes of the memory were lost: their number, and where.
  case lost(Int, BatchLoss)
  /// The receiver restarted: an unknown number of collected fixes is lost.
  case startedAnew
  /// The read ends: at the end of the memory, or because the line broke off.
  case readOutEnds(isWhole: Bool)
  /// The receiver does not collect any more and its memory is read: there is no journal to store.
  case collectsNoMore
}
