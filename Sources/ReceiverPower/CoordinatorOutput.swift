import MonotonicTime
import PowerControl
import Receiver
import ReceiverStream

/// What the session, or whoever holds its line, is to do.
public enum ReceiverCommand: Sendable, Equatable {
  /// `ReceiverSession.set`.
  case set(DesiredConfiguration)
  /// `ReceiverSession.sleep`; nil: until it is woken.
  case sleep(Milliseconds?)
  /// `ReceiverSession.wakeUp`.
  case wakeUp
  /// `ReceiverSession.retrieveBatch`.
  case retrieveBatch(BatchJournal)
  /// Whether anybody listens to the line: a receiver that takes no orders runs on, and its host sleeps.
  case listen(Bool)
  /// Whether the switch in its supply is on.
  case supply(isOn: Bool)
}

/// What comes of what went into a ``PowerCoordinator``, in this order.
public enum CoordinatorOutput: Sendable, Equatable {
  case command(ReceiverCommand)
  /// What clients or people should know.
  case report(PowerReport)
  /// An epoch that came as it was measured, at that time.
  case live(Fix, at: Instant)
  /// The receiver collects from now on, and says nothing; the journal to keep.
  case collects(BatchJournal)
  /// Its memory is being read.
  case readOutBegins
  /// A fix of its memory, oldest first; the journal as it is once the fix is safe.
  case batched(BatchedFix, BatchJournal)
  /// Fixes of its memory are lost, and where.
  case lost(Int, BatchLoss)
  /// What it had collected before it started anew is lost, and nobody knows how much that was.
  case startedAnew
  /// It was read: to the end, or until the line broke off.
  case readOutEnds(isWhole: Bool)
  /// It collects no longer, and all it had is read: there is no journal to keep.
  case collectsNoMore
}
