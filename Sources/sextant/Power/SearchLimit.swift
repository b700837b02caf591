// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The time limit for a receiver that does not reply, for a command without a duration.
struct SearchLimit {
  /// The time of a complete `power status`: a sleeping receiver is woken at each rate that its line may have.
  static let length = Milliseconds(30_000)

  /// Nil for a command with a duration.
  private let end: Instant?

  /// - Parameters:
  ///   - seconds: the duration of the command, if the user gave one.
  ///   - start: the start of the command.
  init(seconds: Double?, from start: Instant) { end = seconds == nil ? start + Self.length : nil }

  /// When to check again without an event.
  func deadline(hasReplied: Bool) -> Instant? { hasReplied ? nil : end }

  /// Whether the time for a reply is over.
  func isOver(hasReplied: Bool, at now: Instant) -> Bool {
    guard let end = deadline(hasReplied: hasReplied) else { return false }
    return now >= end
  }
}
