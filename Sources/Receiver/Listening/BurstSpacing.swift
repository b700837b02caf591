// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The time between bursts of periodic messages: the epoch period that the line shows.
///
/// Of the last four times the second longest counts: a burst with a pause in it looks like two bursts, and one lost burst, or a
/// restart of the receiver, makes no longer period.
struct BurstSpacing {
  /// The duration after which a burst without pauses counts as over: a line that is always busy has no long period.
  private static var longestBurst: Milliseconds { Milliseconds(3000) }
  /// The longest period. A longer time is an outage. Receivers of u-blox measure every 65.5 s at most (interface descriptions,
  /// CFG-RATE).
  private static var longest: Milliseconds { Milliseconds(70_000) }

  private var began: Instant?
  private var lastFrame = Instant.zero
  /// The last times, in a ring.
  private var times: InlineArray<4, Milliseconds?> = .init(repeating: nil)
  private var next = 0

  /// Returns the second longest one of the last four times between bursts; `unknown` replaces each one that is not known.
  func period(unknown: Milliseconds) -> Milliseconds {
    var (longest, second) = (Milliseconds(0), Milliseconds(0))
    for index in times.indices {
      let time = times[index] ?? unknown
      if time > longest { (longest, second) = (time, longest) } else { second = max(second, time) }
    }
    return second
  }

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
    if time > Self.longest { return times = .init(repeating: nil) }
    times[next] = isPause ? time : Milliseconds(0)
    next = (next + 1) % times.count
  }
}
