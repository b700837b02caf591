// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// A command of the policy.
public enum PowerAction: Hashable, Sendable {
  /// Bring the receiver into this state and keep it there, also over its power cycles.
  case enter(WantedState)
  /// Wake the receiver once more: it has not answered. The first bytes to a sleeping receiver are always lost.
  case wakeAgain(attempt: Int)
  /// Reset the receiver by a pin, its supply or a message: it does not wake.
  case reset
  /// Read the batch. Answered by `batchRetrieved` or `retrievalCut`.
  case retrieveBatch
  /// End the read of the batch: it is given up.
  case cutRetrieval
  /// Report this to clients or users.
  case report(PowerReport)
}

/// Reports for clients or users. Each is sent once for its cause.
public enum PowerReport: Hashable, Sendable {
  /// There are no more fixes, or none yet.
  case skyLost
  case skyBack(afterSeconds: Double)
  /// The time of a deferral is over, or its distance may be covered.
  case deferralDue(ClientID)
  /// The receiver cannot collect for this client; the host has to.
  case deferralKeptByHost(ClientID)
  /// The number of lost fixes of a batch.
  case fixesLost(Int)
  /// The receiver restarted while it collected. Its fixes since the last read are lost: at most this many.
  case batchGone(atMost: Int)
  case refused(Refusal)
  /// The receiver goes on sending after a sleep request; the request is repeated later.
  case doesNotSleep
  /// The receiver wakes without a wake-up.
  case wakesByItself
  /// Waking and resetting did not help; attempts become rarer.
  case doesNotWake
  /// The receiver answers after `doesNotWake`.
  case answersAgain
  /// The host suspends although a client was promised a fix: the host should be awake by then.
  case hostIsNeeded(by: Instant)
  /// There is no receiver although a client needs one.
  case noReceiver
}
