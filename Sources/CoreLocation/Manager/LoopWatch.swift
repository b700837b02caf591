/// Notices a thread that does not run its loop: the events of its manager wait, and nobody would know why.
struct LoopWatch {
  /// For how long events may wait: a callback of a program may take its time.
  static var patienceSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isTold = false
  /// Whether somebody will look.
  private var isLookedAt = false

  /// An event came; true: say that events wait, which is said once.
  mutating func received(atSeconds now: Double) -> Bool {
    guard let since = waitingSince else {
      waitingSince = now
      return false
    }
    guard !isTold, now - since >= Self.patienceSeconds else { return false }
    isTold = true
    return true
  }

  /// In how many seconds it has to be looked at whether the loop has run; nil: somebody looks already. Events may come no
  /// more, and those that wait wait all the same.
  mutating func nextLook(atSeconds now: Double) -> Double? {
    guard !isTold, !isLookedAt, let since = waitingSince else { return nil }
    isLookedAt = true
    return max(0, since + Self.patienceSeconds - now)
  }

  /// That time has come; true: say that events wait.
  mutating func looked(atSeconds now: Double) -> Bool {
    isLookedAt = false
    guard !isTold, let since = waitingSince, now - since >= Self.patienceSeconds else { return false }
    isTold = true
    return true
  }

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
