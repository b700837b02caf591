import MonotonicTime

/// What is to be done now.
public enum PowerAction: Hashable, Sendable {
  /// The receiver is to be brought into this state and kept there, also over its power cycles.
  case enter(WantedState)
  /// No sign of life: wake it once more. The first bytes to a sleeping receiver are always lost.
  case wakeAgain(attempt: Int)
  /// It does not wake: reset it (a pin, a supply, or a reset message, whichever the session has).
  case reset
  /// Read the batch out. Answered by `batchRetrieved` or `retrievalCut`.
  case retrieveBatch
  /// Tell this, once.
  case report(PowerReport)
}

/// What clients or people should know. Each is said once for what it tells of.
public enum PowerReport: Hashable, Sendable {
  case paused(ClientID, PauseReason)
  case resumed(ClientID)
  /// No fix any more, or none yet.
  case skyLost
  case skyBack(afterSeconds: Double)
  /// The time of a deferral is over, or its distance may be.
  case deferralDue(ClientID)
  /// The receiver cannot collect for this client; the host has to.
  case deferralKeptByHost(ClientID)
  /// So many fixes of a batch are lost.
  case fixesLost(Int)
  /// The receiver started anew while it collected: what it had since the last read-out is gone, at most so many fixes.
  case batchGone(atMost: Int)
  case refused(Refusal)
  /// It was asked to sleep and goes on sending; it will be asked again later.
  case doesNotSleep
  /// It wakes although nobody woke it.
  case wakesByItself
  /// Waking and resetting did not help; it is tried again ever more rarely.
  case doesNotWake
  /// After that it answered.
  case answersAgain
  /// The host suspends, and somebody is promised something: it should be awake by then.
  case hostIsNeeded(by: Instant)
  /// No receiver, and somebody wants one.
  case noReceiver
}

public enum PauseReason: UInt8, Hashable, Sendable {
  /// It rests.
  case stationary
  /// No fix could be obtained for long (rule PA-6).
  case noFix
}
