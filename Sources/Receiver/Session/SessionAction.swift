import MonotonicTime

/// What the one who holds the line has to do for a session.
public enum SessionAction: Sendable, Equatable {
  /// Write these bytes to the line.
  case send([UInt8])
  /// Set the line to this rate, once what was written is out, and discard what was received and not read.
  case setRate(UInt32)
  /// Tell the user or the program.
  case report(SessionReport)
  /// A command that was submitted is over.
  case finished(SessionTicket, Outcome)
  /// What comes of the retrieval of a batch.
  case batch(BatchEvent)
}

/// Names a submitted command.
public struct SessionTicket: Hashable, Sendable {
  public var number: Int
}

/// What a session has to tell. Each is told once for each time that it happens, not for each byte or second of it.
public enum SessionReport: Sendable, Equatable {
  /// Frames are received at this rate.
  case rateFound(UInt32)
  /// The receiver said who it is.
  case identified(ReceiverDescription)
  /// It is no u-blox receiver, or does not answer as one: what it says is used, nothing is sent.
  case notIdentified(isOtherVendor: Bool)
  /// The wished state is there. The number of settings that the receiver refused.
  case configured(refused: Int)
  /// The receiver refuses or ignores what it is told; what it says by itself is used.
  case configurationFailed
  /// The receiver, which has just started, was given the time, the place and the orbits of the last run, as far as they
  /// are known and it takes them; the number of messages.
  case assisted(given: Int, refused: Int)
  /// The receiver was reset and has lost its configuration, which is given to it again.
  case wasReset
  /// Nothing comes from the receiver any more.
  case silent
  /// Bytes come, and nothing of them is understood.
  case notUnderstood
  /// The receiver is heard again.
  case back
  /// The rate that was wished could not be reached; the line is at the old one.
  case rateNotChanged(UInt32)
  /// It was asked to sleep, and its sleep is watched from now on: until its own time, or until it is woken.
  case asleep(until: Instant?)
  /// It is awake again, and answers.
  case awake(WakeCause)
  /// It was asked to sleep and goes on speaking.
  case doesNotSleep
  /// It cannot sleep, or could not be woken at this port: it was not asked to.
  case cannotSleep
  /// It did not wake and is being reset.
  case resetToWake
  /// Neither waking nor a reset helped; it is tried again ever more rarely.
  case doesNotWake
  /// It keeps this many epochs: as many as were wished, or as fit.
  case batching(epochs: Int)
  /// Nothing was understood for five seconds after the start.
  case adviseOnSilence
  /// The end has come, and not all that was changed could be put back.
  case notPutBack
}
