// SPDX-License-Identifier: Apache-2.0

/// Detects a thread that does not run its loop, so that the events of its manager wait.
struct RunLoopStallDetector {
  /// The longest wait of events that is not a stall: a program's callback may take some time.
  static var timeoutSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isReported = false
  private var isCheckScheduled = false

  /// Handles an event. Returns whether to report a stall, which is reported once.
  mutating func received(atSeconds now: Double) -> Bool {
    guard let since = waitingSince else {
      waitingSince = now
      return false
    }
    guard !isReported, now - since >= Self.timeoutSeconds else { return false }
    isReported = true
    return true
  }

  /// Returns the time until the check that detects a stall without further events, seconds; nil if one is scheduled already.
  mutating func nextCheck(atSeconds now: Double) -> Double? {
    guard !isReported, !isCheckScheduled, let since = waitingSince else { return nil }
    isCheckScheduled = true
    return max(0, since + Self.timeoutSeconds - now)
  }

  /// Handles the check at its time. Returns whether to report a stall.
  mutating func checked(atSeconds now: Double) -> Bool {
    isCheckScheduled = false
    guard !isReported, let since = waitingSince, now - since >= Self.timeoutSeconds else { return false }
    isReported = true
    return true
  }

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
