// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import WireBytes

/// Pairs the pulses and epochs of one receiver with seconds of UTC.
///
/// Its inputs are epochs, pulses and notices; it returns samples. It does not read a clock: every input contains the
/// readings of the computer's clocks. A pulse becomes a sample if there is one pulse per second, the receiver has a fix
/// with an accurate time, and the epochs before leave one second of UTC possible (`WholeSecondFinder`). Without pulses the
/// arrival of epochs provides samples: the shortest delay is used, which pulses have measured earlier, or which is
/// unknown. A receiver states the time of an epoch, but never the time of a byte. It sends an epoch before it computes
/// the next one, so the time between its epochs limits the delay. The stated precision of messages is half of that
/// limit.
package struct ClockReference: Sendable {
  /// The time of an epoch.
  package struct Epoch: Equatable, Sendable {
    package var utc: UTCTime
    /// The time at which its first byte arrived.
    package var firstByte: Instant
    /// Whether the receiver has a fix and has resolved date and seconds.
    package var isResolved: Bool
    /// One standard deviation of the receiver's time, seconds; nil if it does not report it.
    package var accuracySeconds: Double?
    /// GPS − UTC, seconds; nil if the receiver does not report it.
    package var leapSeconds: Int?

    package init(
      utc: UTCTime, firstByte: Instant, isResolved: Bool, accuracySeconds: Double? = nil, leapSeconds: Int? = nil
    ) {
      self.utc = utc
      self.firstByte = firstByte
      self.isResolved = isResolved
      self.accuracySeconds = accuracySeconds
      self.leapSeconds = leapSeconds
    }
  }

  /// The reason why a pulse is not a sample.
  package enum Refusal: String, CaseIterable, Sendable {
    /// Its stamp is older than half a second: the process was stalled, or the system's clock was set.
    case stale
    /// The first pulses, until their rate is known.
    case settling
    /// It is not a whole number of seconds after the previous one.
    case jitter
    /// There are no epochs with a fix.
    case noTime
    /// The receiver reports a time that is too inaccurate, or that its pulse is not locked to the satellites.
    case inaccurate
    /// No second of UTC is near.
    case phase
    /// A leap second may be near.
    case leapSecond
  }

  /// The largest error of the receiver's time for a pulse, seconds.
  static let accuracyLimitSeconds = 0.001
  /// The longest time from a pulse to its reading, nanoseconds.
  private static let longestReading = second / 2
  /// The best precision that is stated for messages: the delay wanders with the number of satellites.
  static let bestPrecisionOfMessages: Int8 = -7
  /// The best precision that is stated for pulses: the kernel stamps them in an interrupt.
  static let bestPrecisionOfPulses: Int8 = -20

  private var finder: WholeSecondFinder?
  private var train = PulseTrain()
  private var notice: LeapSecondNotice?
  private var pulseNotice: EpochReceipts.PulseNotice?
  private var accuracySeconds: Double?
  private var leapSeconds: Int?
  private var lastOfMessages: UTCTime?
  private var pulseOffsets = OffsetHistory()
  private var messageOffsets = OffsetHistory()

  /// The shortest delay from an epoch's time to its first byte, seconds, as measured with pulses; nil before that.
  package private(set) var delaySeconds: Double?
  /// The newest sample from pulses, and from messages.
  package private(set) var newestPulse: TimeSample?
  package private(set) var newestMessages: TimeSample?
  /// The number of samples from pulses, and of rejected pulses.
  package private(set) var pulses = 0
  package private(set) var refusals: [Refusal: Int] = [:]

  package init() {}

  /// The jitter of each source's offsets, seconds; nil before three samples.
  package func jitterSeconds(of source: TimeSample.Source) -> Double? {
    source == .pulse ? pulseOffsets.jitterSeconds : messageOffsets.jitterSeconds
  }

  /// The time of the last epoch, for messages that refer to it.
  package var utc: UTCTime? { finder?.utc }

  // MARK: Inputs

  package mutating func receive(_ event: EpochReceipts.Event) {
    switch event {
    case .leapSecond(let notice): self.notice = notice
    case .pulse(let notice): pulseNotice = notice
    }
  }

  /// Handles an epoch. Returns a sample from messages, at most one for each second.
  package mutating func receive(_ epoch: Epoch, at now: ClockReading) -> TimeSample? {
    guard epoch.isResolved, !epoch.utc.isAtLeapSecond else {
      finder = nil
      return nil
    }
    if finder == nil {
      finder = WholeSecondFinder(epoch.utc, firstByte: epoch.firstByte)
    } else {
      finder?.receive(epoch.utc, firstByte: epoch.firstByte)
    }
    (accuracySeconds, leapSeconds) = (epoch.accuracySeconds, epoch.leapSeconds)
    guard let finder, finder.isTrusted(at: now.raw) else { return nil }
    if let last = lastOfMessages, abs(epoch.utc.nanosecondsSince1970 &- last.nanosecondsSince1970) < second * 9 / 10 {
      return nil
    }
    lastOfMessages = epoch.utc
    // The system's time at the epoch's time.
    let difference = finder.earliestDifference &+ Int64(clamping: (delaySeconds ?? 0) * 1e9)
    let raw = Instant(nanoseconds: UInt64(bitPattern: epoch.utc.nanosecondsSince1970 &- difference))
    var sample = TimeSample(
      source: .messages, real: epoch.utc, system: now.system(at: raw), leap: leap(at: epoch.utc),
      precision: precision(of: Double(finder.longestDelay) / 2e9))
    messageOffsets.append(sample.offsetSeconds)
    if delaySeconds != nil {
      sample.precision = precision(messageOffsets, best: Self.bestPrecisionOfMessages)
    }
    newestMessages = sample
    return sample
  }

  /// Handles a pulse. Returns its sample; nil if it is implausible.
  package mutating func receive(_ pulse: Pulse) -> TimeSample? {
    switch judge(pulse) {
    case .failure(let refusal):
      refusals[refusal.reason, default: 0] += 1
      return nil
    case .success(let (whole, raw)):
      pulses += 1
      let real = UTCTime(nanosecondsSince1970: whole.nanosecondsSince1970 &- earlyNanoseconds(at: whole))
      var sample = TimeSample(source: .pulse, real: real, system: pulse.edge, leap: leap(at: whole), precision: 0)
      pulseOffsets.append(sample.offsetSeconds)
      sample.precision = precision(pulseOffsets, best: Self.bestPrecisionOfPulses)
      if let finder {
        let difference = whole.nanosecondsSince1970 &- Int64(bitPattern: raw.nanoseconds)
        delaySeconds = Double(max(0, difference &- finder.earliestDifference)) / 1e9
      }
      newestPulse = sample
      return sample
    }
  }

  private struct Refused: Error { var reason: Refusal }

  private mutating func judge(_ pulse: Pulse) -> Result<(UTCTime, Instant), Refused> {
    let age = pulse.reading.system.nanosecondsSince1970 &- pulse.edge.nanosecondsSince1970
    guard age >= 0, age <= Self.longestReading else { return .failure(Refused(reason: .stale)) }
    let raw = Instant(nanoseconds: pulse.reading.raw.nanoseconds &- UInt64(age))
    switch train.receive(at: raw) {
    case .settled: break
    case .settling: return .failure(Refused(reason: .settling))
    case .implausible: return .failure(Refused(reason: .jitter))
    }
    guard let finder, finder.isTrusted(at: raw) else { return .failure(Refused(reason: .noTime)) }
    if let accuracySeconds, accuracySeconds > Self.accuracyLimitSeconds {
      return .failure(Refused(reason: .inaccurate))
    }
    if pulseNotice?.isLocked == false { return .failure(Refused(reason: .inaccurate)) }
    guard let whole = finder.wholeSecond(at: raw) else { return .failure(Refused(reason: .phase)) }
    guard !whole.isAtLeapSecond else {
      self.finder = nil
      return .failure(Refused(reason: .leapSecond))
    }
    return .success((whole, raw))
  }

  // MARK: Details

  private func leap(at time: UTCTime) -> TimeSample.Leap { notice?.leap(at: time) ?? .none }

  private func precision(_ history: OffsetHistory, best: Int8) -> Int8 {
    max(best, precision(of: history.jitterSeconds ?? 0))
  }

  /// Returns the base-2 logarithm of an error in seconds, rounded up; 0 at most.
  private func precision(of seconds: Double) -> Int8 {
    var precision = Self.bestPrecisionOfPulses
    var error = 1.0
    for _ in 0..<(-Int(precision)) { error /= 2 }
    while error < seconds, precision < 0 {
      error *= 2
      precision += 1
    }
    return precision
  }

  /// Returns the amount by which the pulse of a second is early, nanoseconds: the sawtooth error of the receiver's
  /// clock. A corrected pulse is the measured one plus qErr.
  private func earlyNanoseconds(at whole: UTCTime) -> Int64 {
    guard let pulseNotice, let error = pulseNotice.errorPicoseconds else { return 0 }
    let week: Int64 = 604_800
    let gps = whole.nanosecondsSince1970 / second - Day.gpsEpoch.since1970 * 86_400
    let leap = pulseNotice.isUTC ? 0 : Int64(leapSeconds ?? LeapSeconds.on(whole.day))
    guard (gps + leap) % week == pulseNotice.secondOfWeek % week else { return 0 }
    return Int64(clamping: (Double(error) / 1000).rounded())
  }
}

/// Detects pulses at one per second. Edges between them, such as noise, are ignored; pulses of another rate never
/// settle.
///
///     none ──edge──▶ settling ──three intervals of whole seconds──▶ settled
///       ▲               ▲                                             │
///       │               └──────────edges at other times───────────────┤
///       └──────────────────no edge for ten seconds────────────────────┘
struct PulseTrain: Sendable {
  enum Verdict: Equatable, Sendable { case settled, settling, implausible }

  static let intervalsToSettle = 3
  /// The accepted error of an interval, nanoseconds: an adapter on USB reports its lines each millisecond.
  static let jitter: Int64 = 2_000_000
  private static let longestGap: Int64 = 10

  private var reference: Instant?
  private var intervals = 0
  /// Increases by two at an implausible edge and decreases by one at a good one, so that a rate of 2 Hz is not accepted
  /// as 1 Hz.
  private var misses = 0

  init() {}

  mutating func receive(at raw: Instant) -> Verdict {
    guard let reference else { return restart(at: raw) }
    let interval = nanoseconds(from: reference, to: raw)
    let whole = (interval + second / 2) / second
    guard whole <= Self.longestGap else { return restart(at: raw) }
    let error = abs(interval - whole * second)
    if whole >= 1, error <= Self.jitter + interval / 1_000_000 * WholeSecondFinder.drift {
      self.reference = raw
      intervals += 1
      misses = max(0, misses - 1)
      return intervals >= Self.intervalsToSettle ? .settled : .settling
    }
    misses += 2
    if misses > 2 { _ = restart(at: raw) }
    return .implausible
  }

  private mutating func restart(at raw: Instant) -> Verdict {
    (reference, intervals, misses) = (raw, 0, 0)
    return .settling
  }
}

/// The on-time edge of a pulse with both edges stamped: a receiver's pulse is shorter than the pause after it (u-blox:
/// 100 ms by default, CFG-TP-LEN_LOCK_TP1), so it is the edge that begins the shorter phase.
package struct PulseShape: Sendable {
  package enum Edge: Equatable, Sendable { case rising, falling }

  private var lastEdge: (edge: Edge, nanoseconds: Int64)?
  private var high: Int64?
  private var low: Int64?

  package init() {}

  /// Handles an edge. Returns whether it is the on-time edge: the rising one until the phases are known.
  package mutating func take(_ edge: Edge, atNanoseconds time: Int64) -> Bool {
    if let last = lastEdge, last.edge != edge {
      let length = time &- last.nanoseconds
      if edge == .falling { high = length } else { low = length }
    }
    lastEdge = (edge, time)
    guard let high, let low else { return edge == .rising }
    return edge == (high <= low ? .rising : .falling)
  }
}
