/// Notices a thread that does not run its loop: the events of its manager wait, and nobody would know why.
struct RunLoopStallDetector {
  /// For how long events may wait: a callback of a program may take its time.
  static var patienceSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isReported = false
  /// Whether somebody will look.
  private var isCheckScheduled = false

  /// An event came; true: say that events wait, which is said once.
  mutating func received(atSeconds now: Double) -> Bool {
    guard let since = waitingSince else {
      waitingSince = now
      return false
    }
    guard !isReported, now - since >= Self.patienceSeconds else { return false }
    isReported = true
    return true
  }

  /// In how many seconds it has to be looked at whether the loop has run; nil: somebody looks already. Events may come no
  /// more, and those that wait wait all the same.
  mutating func nextCheck(atSeconds now: Double) -> Double? {
    guard !isReported, !isCheckScheduled, let since = waitingSince else { return nil }
    isCheckScheduled = true
    return max(0, since + Self.patienceSeconds - now)
  }

  /// That time has come; true: say that events wait.
  mutating func checked(atSeconds now: Double) -> Bool {
    isCheckScheduled = false
    guard !isReported, let since = waitingSince, now - since >= Self.patienceSeconds else { return false }
    isReported = true
    return true
  }

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
