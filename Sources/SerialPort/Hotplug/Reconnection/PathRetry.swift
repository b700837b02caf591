// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Decides when to reopen a port without udev events, such as a pseudo-terminal or a port on a bus, and which losses to
/// report.
public struct PathRetry: Sendable {
  /// The time of the next attempt; nil while the port is open, and before its first loss.
  public private(set) var due: Instant?

  private var reports = LossReports()
  private var openedAt: Instant?
  private var flaps = 0
  private var isLossReported = false

  public init() {}

  /// Records that the port is open.
  ///
  /// - Parameters:
  ///   - path: its name in the report.
  ///   - now: the time.
  /// - Returns: the report of the return after a reported loss; nil if there is none.
  public mutating func opened(_ path: String, at now: Instant) -> String? {
    due = nil
    openedAt = now
    defer { isLossReported = false }
    return isLossReported ? "\(path): the receiver is back" : nil
  }

  /// Records that the port could not be opened.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - pause: the time until the next attempt; nil for the usual one.
  public mutating func failed(at now: Instant, pause: Milliseconds? = nil) {
    due = now + (pause ?? RetryPolicy.unannounced)
  }

  /// Records that the port hung up or failed.
  ///
  /// - Parameters:
  ///   - path: its name in the report.
  ///   - now: the time.
  /// - Returns: the report; nil if there is none.
  public mutating func lost(_ path: String, at now: Instant) -> String? {
    let isFlap = openedAt.map { now < $0 + RetryPolicy.flap } ?? false
    flaps = isFlap ? flaps + 1 : 0
    due = now + max(RetryPolicy.unannounced, RetryPolicy.delay(afterFlaps: flaps))
    let report = reports.report(ofLossAt: now)
    isLossReported = report == .loss
    return report.text(path)
  }
}
