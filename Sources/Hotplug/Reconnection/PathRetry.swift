import MonotonicTime

/// When a port is opened again that no message tells of, such as a pseudo-terminal's or one on a bus, and what of its losses
/// is told: each, but not those of a loose cable one by one.
public struct PathRetry: Sendable {
  /// When it is to be tried; nil while it is open, or was never lost.
  public private(set) var due: Instant?

  private var reports = LossReports()
  private var openedAt: Instant?
  private var flaps = 0

  public init() {}

  public mutating func opened(at now: Instant) {
    due = nil
    openedAt = now
  }

  /// It could not be opened.
  public mutating func failed(at now: Instant) { due = now + RetryPolicy.unannounced }

  /// It hung up, or failed.
  ///
  /// - Parameters:
  ///   - path: its name in what is told.
  ///   - now: the time.
  /// - Returns: what is to be told; nil for nothing new.
  public mutating func lost(_ path: String, at now: Instant) -> String? {
    let isFlap = openedAt.map { now < $0 + RetryPolicy.flap } ?? false
    flaps = isFlap ? flaps + 1 : 0
    due = now + max(RetryPolicy.unannounced, RetryPolicy.delay(afterFlaps: flaps))
    return reports.telling(ofLossAt: now).text(path)
  }
}
