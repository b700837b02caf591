// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The time between bursts of periodic messages: the epoch period that the line shows.
///
/// The longer one of the last two times counts, because a burst with a pause in it looks like two bursts.
struct BurstSpacing {
  /// The duration after which a burst without pauses counts as over: a line that is always busy has no long period.
  private static var longestBurst: Milliseconds { Milliseconds(3000) }
  /// The longest period. A longer time is an outage. Receivers of u-blox measure every 65.5 s at most (interface descriptions,
  /// CFG-RATE).
  private static var longest: Milliseconds { Milliseconds(70_000) }

  private var began: Instant?
  private var lastFrame = Instant.zero
  private var newest: Milliseconds?
  private var older: Milliseconds?

  /// Returns the longer one of the last two times between bursts; `unknown` stands for each one that is not known.
  func longer(unknown: Milliseconds) -> Milliseconds { max(newest ?? unknown, older ?? unknown) }

  /// Handles a frame of a periodic message.
  ///
  /// - Parameters:
  ///   - now: the time of the frame.
  ///   - start: when the receiver was last told to send; earlier bursts do not count.
  mutating func receive(at now: Instant, since start: Instant) {
    defer { lastFrame = now }
    guard let began, lastFrame >= start else { return self.began = now }
    let isPause = now >= lastFrame + Listener.epochSilence
    guard isPause || now >= began + Self.longestBurst else { return }
    self.began = now
    let time = Milliseconds(now.milliseconds(since: began))
    if time > Self.longest { return (older, newest) = (nil, nil) }
    (older, newest) = (newest, isPause ? time : Milliseconds(0))
  }
}
