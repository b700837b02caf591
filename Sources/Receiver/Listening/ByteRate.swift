// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The measured speed of a line, while it was read without a pause.
struct ByteRate: Sendable {
  /// The shortest stretch that is measured, in seconds.
  private static var shortestStretch: Double { 0.004 }

  /// The value of the fastest stretch so far; 0 for a line that delivers an epoch at once, and before a measurement.
  private(set) var secondsPerByte = 0.0
  /// The bytes that arrive at once, from a buffer or for a slow process: the larger pieces of recent reads.
  private var piece = 0
  /// The time of a read, and the bytes after it.
  private var stretch: (since: Instant, last: Instant, bytes: Int)?

  /// Handles a read.
  ///
  /// - Parameter afterIdle: whether the bytes arrived at an unknown time before.
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

  /// Returns the shortest time for so many bytes after bytes of an unknown time, in seconds; 0 if they arrive in so few
  /// pieces that an idle interval saves none.
  func seconds(of bytes: Int) -> Double {
    bytes < 3 * piece ? 0 : Double(bytes - piece) * secondsPerByte * 0.97
  }

  /// Handles bytes that arrived before they were expected.
  mutating func speedUp() { secondsPerByte *= 0.9 }

  private mutating func measure() {
    guard let stretch, stretch.bytes > 0 else { return }
    let seconds = stretch.last.seconds(since: stretch.since)
    guard seconds >= Self.shortestStretch else { return }
    let found = seconds / Double(stretch.bytes)
    if secondsPerByte == 0 || found < secondsPerByte { secondsPerByte = found }
  }
}
