import MonotonicTime

/// Until when a command waits for a receiver that answers, where nobody said how long.
struct SearchLimit {
  /// As long as `power status` takes for all of it: a receiver that sleeps is woken, at each rate that its line may have.
  static let length = Milliseconds(30_000)

  /// nil where the command ends at a time of its own.
  private let end: Instant?

  /// - Parameters:
  ///   - seconds: how long the command was told to go on.
  ///   - start: when it began.
  init(seconds: Double?, from start: Instant) { end = seconds == nil ? start + Self.length : nil }

  /// When to look again, if nothing comes.
  func deadline(hasAnswered: Bool) -> Instant? { hasAnswered ? nil : end }

  /// Whether no receiver is waited for any more.
  func isOver(hasAnswered: Bool, at now: Instant) -> Bool {
    guard let end = deadline(hasAnswered: hasAnswered) else { return false }
    return now >= end
  }
}
