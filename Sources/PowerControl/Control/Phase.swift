import MonotonicTime

/// Where the policy is. The diagram stands in docs/power.md.
enum Phase: Sendable {
  /// No receiver.
  case absent
  /// The host is suspended, or about to be.
  case suspended(since: Instant)
  case awake(Awake)
  case asleep(Asleep)
  case waking(Waking)

  /// The receiver runs and is listened to.
  struct Awake: Sendable {
    var since: Instant
    /// The first fix since then.
    var firstFix: Instant?
    /// Since when epochs come without a fix.
    var fixless: Instant?
    /// The best that was received in this search.
    var signal = SignalObservation(satellites: 0, strongSatellites: 0)
    /// It had time to receive something, and said that it does not.
    var isSkyEmpty = false
    /// The start is thought to be a hot one.
    var isHot: Bool
  }

  /// The receiver sleeps, or runs unheard.
  struct Asleep: Sendable {
    var since: Instant
    /// When it is woken; nil: when somebody asks for something.
    var until: Instant?
    var reason: Reason
    /// Epochs came although it ought to sleep: when the last, and how often it was asked again.
    var lastStray: Instant?
    var repeats = 0

    enum Reason: Sendable { case idle, betweenLooks, noSky }
  }

  /// The receiver has been woken and has not answered yet.
  struct Waking: Sendable {
    /// The last attempt.
    var since: Instant
    var attempts = 1
    var resets = 0
    /// Both have failed: it is tried again after this many seconds.
    var reviveSeconds: Double?
    var isHot: Bool
  }
}

/// A batch that the receiver collects.
struct BatchRun: Sendable {
  var batch: WantedState.Batch
  var periodSeconds: Int
  /// Since when what it holds has been collected.
  var heldSince: Instant
  /// It was read out since it began.
  var isRead = false
  /// Nothing has been decided since it was read.
  var isJustRead = false
  /// Seconds of collecting that the clock did not count, because the host was suspended.
  var uncountedSeconds = 0.0
  /// A read-out runs since then.
  var readingSince: Instant?
  var cuts = 0
  /// After a cut: not before then.
  var nextRead: Instant?
  /// Nobody wants it any more, since then: it is read out a last time and ended.
  var leavingSince: Instant?
  var isReadOut = false

  /// When it could be full.
  func fullAt(marginSeconds: Double) -> Instant {
    heldSince + Milliseconds(seconds: max(Double(batch.epochs * periodSeconds) - marginSeconds - uncountedSeconds, 1))
  }
}
