// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The phase of the policy, for people.
public enum PowerStatus: String, Sendable {
  /// There is no receiver.
  case absent
  /// Epochs arrive from a receiver that is being identified.
  case identifying
  /// The host is suspended, or about to suspend.
  case suspended
  /// The receiver runs and its line is read.
  case awake
  /// The receiver runs with reduced power.
  case saving
  /// The receiver collects fixes in its memory.
  case batching
  /// The receiver was woken and has not answered yet.
  case waking
  /// The receiver sleeps because there is no demand.
  case asleep
  /// The receiver is needed, and sleeps until its timer ends.
  case asleepUntilTimer
  /// The receiver sleeps until the next position check.
  case asleepBetweenChecks
  /// The receiver sleeps because a search has found no position.
  case asleepWithoutSky
  /// The receiver runs, as it has no sleep by a command, and its line is not read.
  case unread
}

extension PowerControl {
  /// Whether the receiver is needed, and rests between two searches for satellites: it sleeps, or its line is not read.
  public var restsWithoutSky: Bool {
    if case .asleep(let asleep) = phase, case .noSky = asleep.reason { true } else { false }
  }

  public var status: PowerStatus {
    switch phase {
    case .absent: return .absent
    case .suspended: return .suspended
    case .waking(let waking): return waking.timerEnd.map { $0 > now } == true ? .asleepUntilTimer : .waking
    case .asleep(let asleep):
      if case .unread = wanted.mode { return .unread }
      return switch asleep.reason {
      case .idle: .asleep
      case .betweenChecks: .asleepBetweenChecks
      case .noSky: .asleepWithoutSky
      }
    case .awake:
      if wanted.batching != nil { return .batching }
      if case .continuous = wanted.mode { return .awake }
      return .saving
    }
  }
}

/// The phase of the policy. The diagram is in docs/reference/power.md.
enum Phase: Sendable {
  /// No receiver.
  case absent
  /// The host is suspended, or about to suspend.
  case suspended(since: Instant)
  case awake(Awake)
  case asleep(Asleep)
  case waking(Waking)

  /// The receiver runs and its line is read.
  struct Awake: Sendable {
    var since: Instant
    /// The first fix in this phase.
    var firstFix: Instant?
    /// The time since which epochs arrive without a fix.
    var fixless: Instant?
    /// The best reception in this search.
    var signal = SignalObservation(satellites: 0, strongSatellites: 0)
    /// The receiver had time to receive a signal and reported none.
    var isSkyEmpty = false
    /// The start is expected to be a hot one.
    var isHot: Bool
  }

  /// The receiver sleeps, or its line is not read.
  struct Asleep: Sendable {
    var since: Instant
    /// The time of the wake-up; nil: at the next demand.
    var until: Instant?
    var reason: Reason
    /// The last epoch that arrived although the receiver should sleep, and the number of repeated sleep requests.
    var lastUnexpectedEpoch: Instant?
    var repeats = 0

    enum Reason: Sendable { case idle, betweenChecks, noSky }
  }

  /// The receiver has been woken and has not answered yet.
  struct Waking: Sendable {
    /// The time of the last attempt.
    var since: Instant
    /// The end of a sleep that the receiver's timer alone ends; nil if a wake-up ends it.
    var timerEnd: Instant?
    var attempts = 1
    var resets = 0
    /// Wake-ups and resets have failed: the next attempt comes after this many seconds.
    var retrySeconds: Double?
    var isHot: Bool
  }
}

/// A time in which fixes are sought and none comes.
enum FixOutage: Sendable {
  case none
  case unreported(since: Instant)
  /// `since` is nil while no fix is sought.
  case reported(since: Instant?)

  var since: Instant? {
    switch self {
    case .none: nil
    case .unreported(let since): since
    case .reported(let since): since
    }
  }

  mutating func begin(at instant: Instant) {
    switch self {
    case .none: self = .unreported(since: instant)
    case .reported(since: nil): self = .reported(since: instant)
    case .unreported, .reported: break
    }
  }

  /// Marks the outage as reported; returns whether it was not.
  mutating func report() -> Bool {
    guard case .unreported(let since) = self else { return false }
    self = .reported(since: since)
    return true
  }

  /// Ends the search. A later search of the same outage is not reported again.
  mutating func endSearch() {
    switch self {
    case .none, .unreported: self = .none
    case .reported: self = .reported(since: nil)
    }
  }
}

/// A batch that the receiver collects.
struct BatchRun: Sendable {
  var batch: WantedState.Batch
  var periodSeconds: Int
  /// The start of the time whose fixes the receiver holds.
  var heldSince: Instant
  /// Seconds of collecting that the clock did not count, because the host was suspended.
  var uncountedSeconds = 0.0
  var reading = Reading.idle(notBefore: nil)
  /// Reads in a row that broke off.
  var cuts = 0
  var progress = Progress.unread
  var ending = Ending.no

  enum Reading: Sendable {
    /// `notBefore`: the time of the next attempt after a read that broke off.
    case idle(notBefore: Instant?)
    case running(since: Instant)
  }

  /// How far the batch was read since it began.
  enum Progress: Sendable {
    case unread
    /// Nothing has been decided since the read.
    case justRead
    case read
  }

  /// Whether a client still needs the batch.
  enum Ending: Sendable {
    case no
    /// No client does: it is read a last time after a while.
    case lingering(since: Instant)
    case wasRead
  }

  var readingSince: Instant? { if case .running(let since) = reading { since } else { nil } }
  var nextRead: Instant { if case .idle(let instant?) = reading { instant } else { .zero } }

  /// The time at which the batch can be full.
  func fullAt(marginSeconds: Double) -> Instant {
    heldSince + Milliseconds(seconds: max(Double(batch.epochs * periodSeconds) - marginSeconds - uncountedSeconds, 1))
  }
}
