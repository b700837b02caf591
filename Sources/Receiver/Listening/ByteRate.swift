import MonotonicTime

/// How fast a line brings its bytes, by what was seen while it was listened to.
struct ByteRate: Sendable {
  /// The shortest stretch that is measured, seconds.
  private static var shortestStretch: Double { 0.004 }

  /// Of the fastest stretch so far; 0 for a line that brings an epoch at once, or where nobody knows.
  private(set) var secondsPerByte = 0.0
  /// Bytes that come at once: a buffer's worth, or what a slow process finds. The larger ones of late.
  private var piece = 0
  /// Since a piece was read, and what came after it.
  private var stretch: (since: Instant, last: Instant, bytes: Int)?

  /// A piece was read.
  ///
  /// - Parameter afterIdle: whether it had been there for a time that nobody knows.
  mutating func receive(bytes count: Int, afterIdle: Bool, endsEpoch: Bool, at now: Instant) {
    if afterIdle || stretch.map({ now.seconds(since: $0.last) > EpochPace.longestPart }) ?? true {
      if !afterIdle { measure() }
      stretch = (since: now, last: now, bytes: 0)
    } else {
      piece = max(count, piece - piece / 8)
      stretch?.bytes += count
      stretch?.last = now
    }
    if endsEpoch {
      measure()
      stretch = nil
    }
  }

  /// How long so many bytes take at least, seconds, where the ones before them came at a time that nobody knows; 0 where
  /// they come in so few pieces that a rest saves none.
  func seconds(of bytes: Int) -> Double {
    bytes < 3 * piece ? 0 : Double(bytes - piece) * secondsPerByte * 0.97
  }

  /// What was expected at a time was there before.
  mutating func hasComeFaster() { secondsPerByte *= 0.9 }

  private mutating func measure() {
    guard let stretch, stretch.bytes > 0 else { return }
    let seconds = stretch.last.seconds(since: stretch.since)
    guard seconds >= Self.shortestStretch else { return }
    let found = seconds / Double(stretch.bytes)
    if secondsPerByte == 0 || found < secondsPerByte { secondsPerByte = found }
  }
}
