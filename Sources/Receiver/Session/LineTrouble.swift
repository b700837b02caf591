import MonotonicTime

/// What was told of a line that is in trouble, and is so until the receiver is heard for a while: once, and not once a
/// byte or a second.
struct LineTrouble {
  enum Kind { case silent, notUnderstood }

  /// For how long a receiver has to be heard again before that is told: a noisy line comes and goes.
  static var backAfter: Milliseconds { Milliseconds(3000) }

  /// What is wrong; nil where all is well.
  private(set) var kind: Kind?
  /// When it is over, if the receiver is heard until then.
  private(set) var backAt: Instant?

  /// The receiver is silent, or says nothing that is understood; whether that is news.
  mutating func begin(_ kind: Kind) -> Bool {
    let isNews = self.kind == nil
    self.kind = kind
    backAt = nil
    return isNews
  }

  /// The receiver is heard again.
  mutating func hear(at now: Instant) {
    if kind != nil { backAt = now + Self.backAfter }
  }

  /// The receiver is heard no more, or is asked to be silent.
  mutating func interrupt() { backAt = nil }

  /// Whether it is over by now; true once.
  mutating func isOver(at now: Instant) -> Bool {
    guard let backAt, now >= backAt else { return false }
    self.backAt = nil
    kind = nil
    return true
  }
}
