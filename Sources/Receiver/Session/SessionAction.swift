// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// An action of a session, for the code that owns the line.
public enum SessionAction: Sendable, Equatable {
  /// Write these bytes to the line.
  case send([UInt8])
  /// Set the line to this rate, in baud, once all written bytes are sent, and discard unread bytes.
  case setRate(UInt32)
  /// Report to the user or the program.
  case report(SessionReport)
  /// A submitted command is over.
  case finished(SessionTicket, Outcome)
  /// A result of the retrieval of a batch.
  case batch(BatchEvent)
}

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
  /// `ReceiverSession.cutRetrieval`.
  case cutRetrieval
  /// Whether the line is read. A receiver that takes no commands runs on while its host sleeps.
  case listen(Bool)
  /// Whether the switch in the receiver's supply is on.
  case supply(isOn: Bool)
}

/// The identity of a submitted command.
public struct SessionTicket: Hashable, Sendable {
  public var number: Int
}

/// A report of a session: once for each occurrence, not for each byte or second of it.
public enum SessionReport: Sendable, Equatable {
  /// Frames are received at this rate, in baud.
  case rateFound(UInt32)
  /// The receiver is identified.
  case identified(ReceiverDescription)
  /// It is not a u-blox receiver, or does not reply: its frames are used, nothing is sent.
  case notIdentified(isOtherVendor: Bool)
  /// The receiver has the desired configuration, without this number of refused settings.
  case configured(refused: Int)
  /// The receiver has none of the settings, as it refused them or confirmed none; its frames are used.
  case configurationFailed(isRefused: Bool)
  /// The receiver got assistance after its start: the numbers of accepted and refused messages.
  case assisted(given: Int, refused: Int)
  /// The seconds for which the orbits of the satellites in use certainly remain usable, one value for each satellite, the longest
  /// first; for each start of the receiver, if `SessionSettings.pollsOrbits` is set.
  case orbits(usableSeconds: [Double])
  /// The receiver sends no sentence with a position, and none could be switched on.
  case withoutPositions
  /// The receiver was reset and lost its configuration, which was written again.
  case wasReset
  /// The receiver sends nothing any more.
  case silent
  /// Bytes are received, and no frames among them.
  case notUnderstood
  /// Frames are received again.
  case back
  /// The desired rate, in baud, could not be set; the line has the old one.
  case rateNotChanged(UInt32)
  /// The receiver was put to sleep: until this time, or until it is woken.
  case asleep(until: Instant?)
  /// The receiver is awake again.
  case awake(WakeCause)
  /// A wake-up was requested, and the receiver's timer alone ends its sleep: after this time.
  case wakesByTimer(after: Milliseconds)
  /// The receiver was put to sleep and goes on sending.
  case doesNotSleep
  /// The receiver cannot sleep, or could not be woken at this port; nothing was sent.
  case cannotSleep
  /// The receiver refuses to save settings that RAM alone may have: it is not put to sleep.
  case refusesSaving
  /// The receiver did not wake and is being reset.
  case resetToWake
  /// The receiver did not wake after a reset either; it is tried again more and more rarely.
  case doesNotWake
  /// The receiver stores this number of epochs: the desired number, or as many as fit.
  case batching(epochs: Int)
  /// The receiver's logger holds this number of records of earlier than the batch, which are neither delivered nor erased.
  case loggerHolds(Int)
  /// The receiver sent an error or a warning, other than the one before.
  case warned(String)
  /// No frame was received in the first five seconds.
  case adviseOnSilence
  /// The session ended, and some changes could not be restored.
  case notRestored
}

extension SessionReport {
  /// Returns the text of `configurationFailed`.
  package static func configurationFailure(isRefused: Bool) -> String {
    isRefused ? "the receiver refuses to be configured" : "the receiver does not confirm its settings"
  }
}
