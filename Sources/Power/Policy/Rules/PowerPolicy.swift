// SPDX-License-Identifier: Apache-2.0

/// The numbers of the policy. docs/reference/power.md, "The calculation", derives them.
public struct PowerPolicy: Hashable, Sendable {
  // Orbits. A receiver that sleeps with old ones needs a cold start, and under a poor sky may not get a fix again.
  /// The validity of orbits (ephemeris): GPS, 4 h.
  public var orbitsValidSeconds = 4.0 * 3600
  /// The same with fewer constellations: later too few of their satellites remain above the horizon for a hot start.
  public var orbitsReducedSeconds = 2.5 * 3600
  /// Uninterrupted tracking in which a full set is received: GPS repeats it every 30 s, and the first and last epochs
  /// are incomplete.
  public var orbitsCollectSeconds = 33.0
  /// The receiver's report of its orbits changes nothing if the collection ends within this time: it is then about to
  /// have the orbits of all satellites in view, which last longer.
  public var orbitsNearlySeconds = 10.0
  /// Satellites that a start needs.
  public var orbitsLeastSatellites = 4
  /// The time in which all satellites in view set, if as many set in each minute: with four of ten left after 2.5 h
  /// (`sureOrbitsSeconds` of ``ReceiverCapabilities``).
  public var orbitsSetSeconds = 4.2 * 3600
  /// The time within which a receiver in cyclic tracking renews them by itself.
  public var orbitsCyclicSeconds = 1800.0
  /// Orbits are renewed if the next position check would come later than this before their end.
  public var orbitsMarginSeconds = 10.0 * 60
  /// A renewal that has not succeeded after this time is given up until the next position check.
  public var orbitsTimeoutSeconds = 90.0

  // Fixes.
  /// A fix with a smaller error is good enough for a sleep.
  public var goodFixMetres = 25.0
  /// A position check with poorer fixes only ends after this time.
  public var settleSeconds = 5.0
  /// The greatest error for cyclic tracking, which needs good signals.
  public var cyclicFixMetres = 10.0
  /// The time before cyclic tracking that ended for poor signals is tried again, and before a lower rate is chosen.
  public var cyclicAfterSeconds = 30.0
  /// Tracking without a fix is an outage after this time.
  public var lostAfterSeconds = 10.0
  /// A receiver that is awake and silent for this time is an outage too: longer than the longest period between epochs.
  public var silenceSeconds = 30.0

  // Position checks.
  /// The duration of a start beyond the data sheet's time, before it is learned: the oscillator starts, the line wakes,
  /// the host reacts.
  public var wakeSeconds = 0.5
  /// The additional lead of a wake-up, for an epoch's place in the second.
  public var marginSeconds = 0.25
  /// The longest sleep of a receiver that only time can wake (I2C): a demand may come at any moment.
  public var blindSleepSeconds = 60.0
  /// The shortest sleep.
  public var shortestSleepSeconds = 2.0
  /// The time from fix to fix must exceed, by this factor, the time in which tracking costs as much as waking up.
  public var breakEvenFactor = 1.1

  // Movement.
  /// The interval before the first position check for a movement.
  public var movementCheckSeconds = 60.0
  /// The growth of that interval from check to check.
  public var movementCheckGrowth = 2.0
  /// Its limit, with which movement is detected in time.
  public var movementCheckLongestSeconds = 295.0
  /// A movement is detected within this time.
  public var movementSeconds = 300.0
  /// The lowest speed that counts as movement, if it exceeds its error clearly.
  public var movingMetresPerSecond = 0.8
  /// The receiver stays awake for this long after a movement hint.
  public var hintSeconds = 15.0
  /// The shortest time between position checks for hints that turn out wrong.
  public var hintShortestSeconds = 30.0

  // Searching.
  /// A search goes on without a break for this long after the last fix, for clients that need live fixes.
  public var searchFirstSeconds = 60.0
  /// The same for clients that need position checks only.
  public var searchFirstCheckSeconds = 15.0
  /// The interval between later searches, as a share of the outage: the delay is in proportion.
  public var searchShare = 0.25
  /// The shortest of these intervals.
  public var searchShortestSeconds = 10.0
  /// A fix comes within this time of the sky's return.
  public var skyReturnSeconds = 360.0
  /// The time after the wake-up command from which a report without signals ends a search: the oscillator's start and
  /// the second in which a hot start has all its signals.
  public var emptySkySeconds = 1.25
  /// Where epochs are on a grid, a search begins so much earlier than that before one of them.
  public var emptySkyMarginSeconds = 0.15
  /// Without such a report a search ends after this time, if the receiver has time and position.
  public var searchTimeoutSeconds = 2.5
  /// The same if it has not.
  public var coldSearchTimeoutSeconds = 7.0
  /// The duration of the longer search that comes every two hours, because signals may be weak (the receivers' own
  /// limit is 15 s too).
  public var thoroughSearchTimeoutSeconds = 15.0
  /// The same without usable orbits: only strong signals can give a fix then.
  public var thoroughColdSearchTimeoutSeconds = 4.0
  public var thoroughEverySeconds = 7200.0
  /// A search that receives signals, but not enough for a fix, ends after this time.
  public var weakSearchTimeoutSeconds = 15.0
  /// With four strong satellites a fix only takes time: the search lasts for this multiple of a cold start's duration.
  public var strongSearchTimeoutFactor = 1.6

  // Promises to clients.
  /// A fix that is promised at an interval is sought a hundredth earlier, at most so much.
  public var earlySeconds = 10.0
  /// A region's crossing is reported within this time, its dwell included.
  public var crossingSeconds = 30.0
  /// The duration after which a crossing counts.
  public var dwellSeconds = 20.0
  /// The time from a possible crossing to the fix that decides it (rule RG-13), which must not come too early.
  public var crossingCheckSeconds = 20.3
  /// The greatest plausible speed at a border: a crossing is reported in time up to this speed. A fix with a greater speed
  /// raises it.
  public var borderMetresPerSecond = 50.0
  /// The time before the end of a deferral at which its fixes are read, so that all have arrived when it ends.
  public var deferralEarlySeconds = 0.05
  /// The shortest interval of significant changes.
  public var significantShortestSeconds = 300.0
  /// The longest interval of significant changes, while stationary.
  public var significantLongestSeconds = 900.0
  public var significantMetres = 500.0
  /// The interval of position checks for filters and regions while an accelerometer reports no movement.
  public var stationaryCheckSeconds = 3600.0

  // Batching.
  /// A batch is read this long before it can be full.
  public var batchMarginSeconds = 15.0
  /// The greatest distance between collected fixes.
  public var batchSpacingMetres = 5.0
  /// The longest time between them.
  public var batchLongestPeriodSeconds = 5
  /// The shortest time of collecting: read earlier, the line would not have slept.
  public var batchShortestSeconds = 20.0
  /// A batch without a client is kept for this long: a client that has finished a deferral mostly begins the next one
  /// at once.
  public var batchLingerSeconds = 2.0
  /// The duration of a read per fix, if the line's rate is unknown and no read has measured it (108 bytes at 9600 baud
  /// are 0.113 s). A read is begun early enough to end with its deferral.
  public var readOutSecondsPerFix = 0.12
  public var readOutLearnedFrom = 5
  /// The additional duration of a read, for the poll and the host.
  public var readOutSeconds = 0.3
  /// A read that has not ended after this time has broken off.
  public var readOutTimeoutSeconds = 60.0
  /// Reads in a row that may break off; each is repeated after the linger time.
  public var readOutAttempts = 3
  /// The number of times that a refused size is halved.
  public var batchHalvings = 2
  /// Collecting waits for cyclic tracking only if it lasts for at least this long once the orbits are received.
  public var settleWorthSeconds = 60.0

  // Constellations.
  /// Whether the smaller set may be used.
  public var mayReduceConstellations = true
  /// The accuracy that every client must accept for the smaller set.
  public var reducedFromMetres = 100.0
  /// The longest interval of position checks for it.
  public var reducedCheckSeconds = 60.0
  /// The time for which both must hold, because the change restarts the receiver.
  public var reducedAfterSeconds = 600.0

  // Faults.
  /// A wake-up that is not answered within this time has failed.
  public var wakeTimeoutSeconds = 3.0
  /// Wake-ups before a reset.
  public var wakeAttempts = 3
  /// A reset is answered within this time.
  public var resetTimeoutSeconds = 10.0
  /// Resets before the receiver is reported.
  public var resetAttempts = 2
  /// The interval of later attempts, at first and at last.
  public var retrySeconds = 60.0
  public var longestRetrySeconds = 600.0
  /// Fixes that come later than this into a sleep do not come from the line's buffer.
  public var sleepGraceSeconds = 2.0
  /// Sleep requests to a receiver that does not sleep, and the time before the next ones.
  public var sleepAttempts = 3
  public var refusedSeconds = 3600.0

  public init() {}

  /// The default policy.
  public static let standard = PowerPolicy()
}
