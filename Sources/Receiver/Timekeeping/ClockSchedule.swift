// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The policy for serving the computer's clock from a receiver.
package enum ClockPolicy: Equatable, Sendable {
  case off
  /// The receiver stays on.
  case continuous
  /// The receiver is woken at this interval.
  case every(minutes: Int)

  /// Reads the value of the policy's key `time`: `off`, `continuous` or `every N min`, N from 1 to a day; nil for another text.
  package init?(words: some Collection<Substring>) {
    let words = words.map { String($0) }
    switch words.count {
    case 1 where words[0] == "off": self = .off
    case 1 where words[0] == "continuous": self = .continuous
    case 3 where words[0] == "every" && words[2] == "min":
      guard let minutes = Int(words[1]), (1...1440).contains(minutes) else { return nil }
      self = .every(minutes: minutes)
    default: return nil
    }
  }

  /// The value in its written form.
  package var text: String {
    switch self {
    case .off: "off"
    case .continuous: "continuous"
    case .every(let minutes): "every \(minutes) min"
    }
  }
}

/// The source of a receiver's pulses.
package enum PulsePolicy: Equatable, Sendable {
  /// The source that the kernel has created for the receiver's port; none if there is no such source.
  case ofPort
  /// The carrier line of the port, for which the kernel is requested to create a source.
  case carrier
  /// A separate source, such as a GPIO.
  case device(String)

  /// Reads the value of the policy's key `pps`: `carrier` or a path below /dev; nil for another text.
  package init?(_ text: String) {
    switch text {
    case "carrier": self = .carrier
    case _ where text.hasPrefix("/dev/"): self = .device(text)
    default: return nil
    }
  }
}

/// Decides when the clock needs the receiver.
///
///     off ──policy──▶ serving ──enough samples, or none for five minutes──▶ resting
///                        ▲                                                     │
///                        └──────────────────the interval is over───────────────┘
///
/// With policy `continuous` it stays serving.
package struct ClockSchedule: Sendable {
  /// The number of samples in one period: a time daemon filters several samples.
  package static let samplesInPeriod = 16
  /// The longest search for these samples.
  package static let searchLimit = Milliseconds(300_000)

  private enum State: Sendable {
    case off
    case serving(since: Instant, samples: Int)
    case resting(until: Instant)
  }

  package private(set) var policy = ClockPolicy.off
  private var state = State.off

  package init() {}

  /// Whether the receiver is needed now.
  package var needsReceiver: Bool { if case .serving = state { true } else { false } }

  package var deadline: Instant? {
    switch (state, policy) {
    case (.resting(let until), _): until
    case (.serving(let since, _), .every): since + Self.searchLimit
    default: nil
    }
  }

  package mutating func set(_ policy: ClockPolicy, at now: Instant) {
    guard policy != self.policy else { return }
    self.policy = policy
    state = policy == .off ? .off : .serving(since: now, samples: 0)
  }

  /// Handles a sample that was sent to the time daemons.
  ///
  /// - Parameter counts: whether it comes from the best available source: while there are pulses, samples from messages
  ///   do not count.
  package mutating func sampled(counts: Bool, at now: Instant) {
    guard counts, case .serving(let since, let samples) = state else { return }
    state = .serving(since: since, samples: samples + 1)
    rest(after: since, samples + 1, at: now)
  }

  package mutating func wake(at now: Instant) {
    switch state {
    case .resting(let until) where now >= until: state = .serving(since: now, samples: 0)
    case .serving(let since, let samples): rest(after: since, samples, at: now)
    case .off, .resting: break
    }
  }

  private mutating func rest(after since: Instant, _ samples: Int, at now: Instant) {
    guard case .every(let minutes) = policy else { return }
    guard samples >= Self.samplesInPeriod || now >= since + Self.searchLimit else { return }
    // From the start of the period, so that the receiver wakes at the policy's interval.
    state = .resting(until: max(now, since + Milliseconds(UInt64(minutes) * 60_000)))
  }
}
