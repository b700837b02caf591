// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver

/// Decides when orbits are downloaded from AssistNow.
///
///     resting ── a receiver is in use, and its orbits end soon ──▶ downloading ── answer ──▶ resting for most of the period
///        ▲                                                          │    │ refused (4xx) ──▶ refused, until the next start
///        └────────────── back-off with jitter ◀──── no answer ──────┘    └ limited (429) ──▶ resting for a day
///
/// An account pays for, or has a limited number of, requests: one is sent for each period, and none that was refused is repeated. The
/// value does not use a clock or sockets.
struct AssistNowRefresh: Sendable {
  /// The result of a download.
  enum Outcome: Equatable {
    case received
    case failed
    case limited
    case refused
  }

  private enum State {
    case resting(until: Instant)
    case downloading
    case refused
  }

  /// The pause after the first failure, which doubles, and the longest one.
  static let firstPause = Milliseconds(60_000)
  static let longestPause = Milliseconds(6 * 3_600_000)
  /// The pause after the server's limit.
  static let limitPause = Milliseconds(86_400_000)

  private var state = State.resting(until: .zero)
  /// The number of failures since the last answer.
  private(set) var failures = 0
  /// Whether the last download had enough orbits.
  private var hasSucceeded = false
  private var random: UInt64
  /// Orbits are downloaded if they will not last for this time.
  private let reserveSeconds: Double
  /// The shortest time between two answers.
  private let period: Milliseconds

  /// - Parameter random: a seed for the lengths of pauses after failures.
  init(_ content: AssistNow.Content, random: UInt64) {
    self.random = random
    switch content {
    case .predictions(let days):
      // With a period of one day the next one begins at midnight.
      reserveSeconds = days > 1 ? 86_400 : 0
      period = Milliseconds(UInt64(clamping: days) * 43_200_000)
    case .ephemerides:
      reserveSeconds = 900
      period = Milliseconds(3_600_000)
    }
  }

  /// The time at which the answer of `update` may change; nil if only other events change it.
  var deadline: Instant? { if case .resting(let until) = state { until } else { nil } }

  /// Brings the state up to date while a receiver is in use. Returns whether a download is to begin.
  ///
  /// - Parameter usableSeconds: how long the stored orbits suffice.
  mutating func update(usableSeconds: Double, at now: Instant) -> Bool {
    guard case .resting(let until) = state, now >= until else { return false }
    guard usableSeconds <= reserveSeconds else {
      // They end at a known time, unless ephemerides from elsewhere come.
      let left = min(usableSeconds - reserveSeconds, 3600)
      state = .resting(until: now + Milliseconds(seconds: max(left, 1)))
      return false
    }
    state = .downloading
    return true
  }

  /// The download has ended.
  ///
  /// - Parameter usableSeconds: how long the stored orbits suffice now.
  mutating func ended(_ outcome: Outcome, usableSeconds: Double, at now: Instant) {
    guard case .downloading = state else { return }
    hasSucceeded = outcome == .received && usableSeconds > 0
    switch outcome {
    case .received:
      failures = 0
      state = .resting(until: now + period)
    case .failed:
      let pause = Milliseconds(min(Self.firstPause.count << UInt64(min(failures, 16)), Self.longestPause.count))
      failures += 1
      state = .resting(until: now + pause + spread(pause))
    case .limited: state = .resting(until: now + Self.limitPause + spread(Self.limitPause))
    case .refused: state = .refused
    }
  }

  /// The download was given up: the receiver is not in use any longer.
  mutating func cancelled(at now: Instant) {
    if case .downloading = state { state = .resting(until: now + Self.firstPause) }
  }

  /// Returns the time in seconds for which starts have orbits, with those that are going to be downloaded.
  func assuredSeconds(usableSeconds: Double) -> Double {
    hasSucceeded && usableSeconds > 0 ? max(usableSeconds, EphemerisRefresh.trustedSeconds) : usableSeconds
  }

  /// Returns up to a quarter of a pause.
  private mutating func spread(_ pause: Milliseconds) -> Milliseconds {
    // Knuth's MMIX generator; only its upper bits are sufficiently random.
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Milliseconds((random >> 33) % (pause.count / 4 + 1))
  }
}
