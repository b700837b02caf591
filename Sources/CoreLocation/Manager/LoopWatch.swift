/// Notices a thread that does not run its loop: the events of its manager wait, and nobody would know why.
struct LoopWatch {
  /// For how long events may wait: a callback of a program may take its time.
  static var patienceSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isTold = false

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

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
