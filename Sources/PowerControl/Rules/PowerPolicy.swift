/// Every number of the policy, in one table. docs/power.md, "The arithmetic", says where each comes from.
public struct PowerPolicy: Hashable, Sendable {
  // Orbits: a receiver that sleeps with stale ones needs a cold start, and under a poor sky may never lock again.
  /// How long orbits (ephemeris) hold: GPS, 4 h.
  public var orbitsValidSeconds = 4.0 * 3600
  /// With fewer constellations: after that too few of their satellites are left above the horizon for a hot start.
  public var orbitsReducedSeconds = 2.5 * 3600
  /// Uninterrupted tracking in which a full set is received: GPS repeats it every 30 s, and the epochs around are not whole.
  public var orbitsCollectSeconds = 33.0
  /// In cyclic tracking the receiver renews them within this time by itself.
  public var orbitsCyclicSeconds = 1800.0
  /// Orbits are renewed when the next look would come later than this before their end.
  public var orbitsMarginSeconds = 10.0 * 60
  /// A renewal that has not succeeded after this time is given up until the next look.
  public var orbitsPatienceSeconds = 90.0

  // Fixes.
  /// A fix that is better than this is good enough to sleep on.
  public var goodFixMetres = 25.0
  /// A look that only has poorer fixes ends after this time.
  public var settleSeconds = 5.0
  /// Cyclic tracking only with fixes better than this: it needs good signals.
  public var cyclicFixMetres = 10.0
  /// Cyclic tracking that had to be left for poor signals is not tried again before this time, and so long a rate is kept
  /// before a lower one.
  public var cyclicAfterSeconds = 30.0
  /// Tracking without a fix is an outage after this time.
  public var lostAfterSeconds = 10.0
  /// So is a receiver that is awake and says nothing: longer than the longest period between epochs.
  public var silenceSeconds = 30.0

  // Looks.
  /// What a start takes beyond the data sheet's time, before it is learned: the oscillator starts, the line wakes, the host
  /// reacts.
  public var wakeSeconds = 0.5
  /// What a wake-up is early besides, for an epoch's place in the second.
  public var marginSeconds = 0.25
  /// A receiver that nothing but time can wake (I2C) sleeps no longer than this: a demand may come at any moment.
  public var blindSleepSeconds = 60.0
  /// Nobody sleeps for less.
  public var shortestSleepSeconds = 2.0
  /// From fix to fix a sleep must last so many times longer than the time in which tracking costs as much as waking up.
  public var breakEvenFactor = 1.1

  // Pausing.
  /// The first look while paused comes after this time; `SEXTANT_PAUSE_PROBE_SECONDS` replaces it.
  public var pauseProbeSeconds = 60.0
  /// Looks grow by this factor,
  public var pauseGrowth = 2.0
  /// up to the interval that notices movement in time.
  public var pauseLongestSeconds = 295.0
  /// Movement of a paused client is noticed within this time.
  public var movementSeconds = 300.0
  /// Replaces the times of ``PauseThresholds``: `SEXTANT_PAUSE_SECONDS`.
  public var pauseSeconds: Double? = nil
  /// Without a fix for so long a client is paused (rule PA-6).
  public var pauseNoFixSeconds = 600.0
  /// This speed is movement, if it is well beyond its error.
  public var movingMetresPerSecond = 0.8
  /// So long after a movement hint the receiver stays awake to see it.
  public var hintSeconds = 15.0
  /// Hints that turn out wrong are not looked at more often than this.
  public var hintShortestSeconds = 30.0

  // Searching.
  /// A search goes on without pause for this long after the last fix, for those who want fixes as they are made,
  public var searchFirstSeconds = 60.0
  /// and for those who are content with looks.
  public var searchFirstCheckSeconds = 15.0
  /// The interval between later searches, as a share of the outage: the delay is in proportion.
  public var searchShare = 0.25
  /// and at least this long.
  public var searchShortestSeconds = 10.0
  /// A fix comes within this time of the sky's return.
  public var skyReturnSeconds = 360.0
  /// A search ends with the first report of the receiver's that it receives nothing, so long after the order to wake or later:
  /// the oscillator's start and the second in which a hot start has all its signals.
  public var emptySkySeconds = 1.25
  /// Where epochs are on a grid, a search is begun so much earlier than that before one of them.
  public var emptySkyMarginSeconds = 0.15
  /// Without such a report it ends after this time, if the receiver knows time and place,
  public var patienceSeconds = 2.5
  /// and after this one if it does not.
  public var coldPatienceSeconds = 7.0
  /// Every two hours a search without any signal lasts this long: signals may be weak (the receivers' own limit is 15 s too).
  public var thoroughPatienceSeconds = 15.0
  /// The same without usable orbits. What could still give a fix then is received from strong signals alone.
  public var thoroughColdPatienceSeconds = 4.0
  public var thoroughEverySeconds = 7200.0
  /// A search that receives something, but not enough for a fix, ends after this time.
  public var weakPatienceSeconds = 15.0
  /// With four strong satellites a fix is a matter of time: so many cold starts are waited for.
  public var strongPatienceFactor = 1.6

  // What clients are promised.
  /// What is promised at an interval is sought a hundredth earlier, but at most so much.
  public var earlySeconds = 10.0
  /// A region's crossing is reported within this time, its dwell included.
  public var crossingSeconds = 30.0
  /// How long a crossing must last to be believed.
  public var dwellSeconds = 20.0
  /// Significant changes are not sought more often than this,
  public var significantShortestSeconds = 300.0
  /// and at rest not more rarely than this.
  public var significantLongestSeconds = 900.0
  public var significantMetres = 500.0
  /// With an accelerometer that is still, filters and regions are looked at only this often.
  public var stationaryCheckSeconds = 3600.0

  // Batching.
  /// A batch is read out this long before it can be full.
  public var batchMarginSeconds = 15.0
  /// Fixes that are collected are at most this far apart,
  public var batchSpacingMetres = 5.0
  /// and at most this long.
  public var batchLongestPeriodSeconds = 5
  /// Nothing is collected for less than this: read out by then, the line has not slept.
  public var batchShortestSeconds = 20.0
  /// A batch that nobody wants any more is kept for this long: a client that has just finished a deferral mostly begins the
  /// next one at once.
  public var batchLingerSeconds = 2.0
  /// A read-out ends when a deferral does: it begins so much earlier for each fix that is held, until a read-out of some fixes
  /// has shown how fast the line is, if nobody else knows (108 bytes at 9600 baud are 0.113 s),
  public var readOutSecondsPerFix = 0.12
  public var readOutLearnedFrom = 5
  /// and so much besides, for the question and the host.
  public var readOutSeconds = 0.3
  /// A read-out that has not ended after this time broke off.
  public var readOutPatienceSeconds = 60.0
  /// Read-outs in a row that may break off; each is tried again after the linger time.
  public var readOutAttempts = 3
  /// A size that is refused is halved so often.
  public var batchHalvings = 2
  /// Collecting begins only in cyclic tracking if it lasts for so long once the orbits are there; else at once.
  public var settleWorthSeconds = 60.0
  /// An "until travelled" deferral is not looked at more often.
  public var travelledShortestSeconds = 60.0

  // Constellations.
  /// Whether the smaller set may be chosen at all.
  public var mayReduceConstellations = true
  /// All clients must be content with this accuracy for the smaller set,
  public var reducedFromMetres = 100.0
  /// and look at least this often,
  public var reducedCheckSeconds = 60.0
  /// for this long, because the change restarts the receiver.
  public var reducedAfterSeconds = 600.0

  // Faults.
  /// A wake-up is answered within this time, or did not succeed.
  public var wakePatienceSeconds = 3.0
  /// Wake-ups before a reset.
  public var wakeAttempts = 3
  /// A reset is answered within this time.
  public var resetPatienceSeconds = 10.0
  /// Resets before the receiver is reported.
  public var resetAttempts = 2
  /// After that it is tried every so often, at first and at last.
  public var reviveSeconds = 60.0
  public var reviveLongestSeconds = 600.0
  /// Fixes that come later than this into a sleep are no rest of the line's buffer.
  public var sleepGraceSeconds = 2.0
  /// A receiver that does not sleep is asked so often, and then not for this long.
  public var sleepAttempts = 3
  public var refusedSeconds = 3600.0

  public init() {}

  /// The policy as it is used.
  public static let standard = PowerPolicy()
}
