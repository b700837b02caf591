import MonotonicTime

/// How long and how much: none of it is the user's.
extension ReceiverSession {
  /// Silence after which a receiver that spoke is taken to be gone or asleep, at the least.
  static var silence: Milliseconds { Milliseconds(3000) }
  /// Bytes of no frame after which the rate is taken to have changed, and the time without a frame that has to pass.
  static var garbageBytes: Int { 60 }
  static var garbageTime: Milliseconds { Milliseconds(1500) }
  /// After a refusal or no answer, the receiver is asked again after this time, doubled each time up to the longest.
  static var firstRetry: Milliseconds { Milliseconds(5000) }
  /// The same for one that only looks like a u-blox receiver.
  static var firstRetryOfUnsure: Milliseconds { Milliseconds(60_000) }
  static var longestRetry: Milliseconds { Milliseconds(1_800_000) }
  /// For how long the end may take, and be it after the last answer.
  static var longestEnding: Milliseconds { Milliseconds(4000) }
  /// For how long settings are put back at the most, on a slow line that loses what is said and answered, and for how long the
  /// line's rate is given back after that.
  static var longestGivingBack: Milliseconds { Milliseconds(8000) }
  /// For how long a receiver may tell what it knows of the orbits, and the rate below which that takes too long: some
  /// hundred messages of 172 bytes at the most.
  static var longestKeeping: Milliseconds { Milliseconds(6000) }
  static var leastKeepingRate: UInt32 { 38_400 }
  /// After a change of the rate, what an adapter still had of the old one may come for so long.
  static var staleBytes: Milliseconds { Milliseconds(150) }
  /// How long a receiver is listened to before it is asked, for another manufacturer's sentences.
  static var listeningBeforeAsking: Milliseconds { Milliseconds(300) }
  /// After so many it is looked for at all rates: a watchdog may have given it another one, at which it says nothing by
  /// itself.
  static var mostFailedPolls: Int { 3 }
  /// A rate is raised when the line has been quiet for so long, or at the latest after this time.
  static var longestWaitForQuiet: Milliseconds { Milliseconds(5000) }
  static var quietTime: Milliseconds { Milliseconds(150) }
  /// The rate that a line is given on which a receiver has no room to say who it is: every family and most boards have it.
  static var roomyRate: UInt32 { 115_200 }
  /// More than any receiver holds.
  static var mostUnasked: Int { 1024 }
}
