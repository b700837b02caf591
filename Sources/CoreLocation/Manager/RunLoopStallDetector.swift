// SPDX-License-Identifier: Apache-2.0

/// Detects a thread that does not run its loop, so that the events of its manager wait.
struct RunLoopStallDetector {
  /// The longest wait of events, as a callback of a program may take a while.
  static var timeoutSeconds: Double { 10 }

  private var waitingSince: Double?
  private var isReported = false
  private var isCheckScheduled = false

  /// Takes an event. Returns whether a stall has to be reported, which happens once.
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

  /// Takes the time of the check. Returns whether a stall has to be reported.
  mutating func checked(atSeconds now: Double) -> Bool {
    isCheckScheduled = false
    guard !isReported, let since = waitingSince, now - since >= Self.timeoutSeconds else { return false }
    isReported = true
    return true
  }

  /// The loop ran.
  mutating func ran() { waitingSince = nil }
}
