// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Schedules the reads of a receiver on an I2C bus: when to read the count of available bytes, and how many bytes to read
/// (u-blox interface descriptions, "DDC port": registers 0xFD and 0xFE hold the count, 0xFF the stream).
///
///     waiting ─ time ─▶ count ─ n > 0 ─▶ stream until n are read ─▶ count …
///        ▲                └─ 0 twice in a burst, or 0 between bursts ─┘
///        └───────────────────────────────────────────────────────────┘
///
/// It learns when epochs begin, and reads the count shortly before: less than twenty transfers in a second with an epoch of
/// 60 ms, instead of a hundred with a read each 10 ms. After a request it reads often, for the reply. It has no clock and
/// no bus.
public struct DDCReader: Sendable {
  /// The default address of the device (CFG-I2C-ADDRESS has it shifted, 0x84).
  public static let usualAddress: UInt8 = 0x42
  /// The register of the count, high byte first; the next read continues at the stream.
  public static let countRegister: UInt8 = 0xFD
  /// The register of the stream; the pointer stays there.
  public static let streamRegister: UInt8 = 0xFF

  /// An action on the bus.
  public enum Step: Equatable, Sendable {
    /// Write `countRegister` and read two bytes, then call `counted`.
    case readCount
    /// Write `streamRegister` and read this many bytes, then call `received`.
    case readStream(Int)
    /// Do nothing before this time.
    case wait(until: Instant)
  }

  /// The time between two counts in a burst, and around the expected one.
  static let often = Milliseconds(10)
  /// The time between two counts while no rhythm is known.
  static let seldom = Milliseconds(50)
  /// The same without bytes for `idleAfter`. A receiver that is not read for 1.5 s stops writing.
  static let idle = Milliseconds(250)
  static let idleAfter = Milliseconds(5000)
  /// The longest time without a count, for the same reason.
  static let longest = Milliseconds(1000)
  /// The time after a request in which a reply is expected.
  static let replyTime = Milliseconds(250)
  /// The largest valid count: a bus without a device reads all ones.
  static let largestCount = 16_384

  /// The longest read, in bytes; `shorten` halves it for adapters with a lower limit.
  public private(set) var longestRead = 1024

  private var available = 0
  private var readAt: Instant
  private var rhythm = Rhythm()
  private var isInBurst = false
  private var emptyCounts = 0
  private var replyUntil: Instant?
  private var lastBytes: Instant

  public init(at now: Instant) {
    readAt = now
    lastBytes = now
  }

  /// When `next` returns another step than to wait.
  public var deadline: Instant { available > 0 ? .zero : readAt }

  /// Returns the next step.
  public func next(at now: Instant) -> Step {
    if available > 0 { return .readStream(min(available, longestRead)) }
    return now >= readAt ? .readCount : .wait(until: readAt)
  }

  /// Handles a count.
  public mutating func counted(_ count: Int, at now: Instant) {
    guard count > 0, count <= Self.largestCount else { return countedNone(at: now) }
    if !isInBurst {
      isInBurst = true
      rhythm.begin(at: now, isReply: expectsReply(at: now))
    }
    emptyCounts = 0
    available = count
    lastBytes = now
    readAt = now + Self.often
  }

  /// Handles read bytes.
  public mutating func received(_ count: Int, at now: Instant) {
    available = max(0, available - count)
    readAt = now + Self.often
  }

  /// Handles a failed transfer: the receiver is busy, asleep or disconnected.
  public mutating func failed(at now: Instant) {
    available = 0
    countedNone(at: now)
  }

  /// Halves `longestRead`, which the adapter refuses. Returns whether the shorter read is worth a try.
  public mutating func shorten() -> Bool {
    guard longestRead > 16 else { return false }
    longestRead /= 2
    return true
  }

  /// Handles bytes that were sent to the receiver.
  public mutating func sent(at now: Instant) {
    replyUntil = now + Self.replyTime
    readAt = min(readAt, now + Self.often)
  }

  private mutating func countedNone(at now: Instant) {
    emptyCounts += 1
    // Some firmware reports 0 and still has up to 16 bytes: the second 0 counts.
    if isInBurst, emptyCounts < 2 {
      readAt = now + Self.often
      return
    }
    isInBurst = false
    if expectsReply(at: now) {
      readAt = now + Self.often
      return
    }
    if let expected = rhythm.next(after: now) {
      readAt = min(expected, now + Self.longest)
    } else {
      readAt = now + (now >= lastBytes + Self.idleAfter ? Self.idle : Self.seldom)
    }
  }

  private func expectsReply(at now: Instant) -> Bool { replyUntil.map { now < $0 } ?? false }
}

/// The learned rhythm of bursts.
private struct Rhythm: Sendable {
  /// The time from one burst to the next, in milliseconds; nil until two distances agree.
  private var period: UInt64?
  private var lastDistance: UInt64?
  private var lastStart: Instant?
  /// When the next burst is expected.
  private var expected: Instant?
  /// The number of bursts in a row that were there at the first count.
  private var earlyBursts = 0
  /// The number of early bursts after which the learned rhythm is wrong.
  private static let mostEarlyBursts = 4
  /// The time after `expected` in which a burst still fits the rhythm.
  private static let tolerance = Milliseconds(100)

  /// Handles the beginning of a burst. A reply to the host is not part of the rhythm.
  mutating func begin(at now: Instant, isReply: Bool) {
    if isReply { return }
    defer { lastStart = now }
    guard let lastStart else { return }
    let distance = now.milliseconds(since: lastStart)
    if let known = period {
      if isAbout(distance, known) { period = (3 * known + distance + 2) / 4 }
    } else if let lastDistance, isAbout(distance, lastDistance), distance >= 30, distance <= 10_000 {
      period = (distance + lastDistance) / 2
    }
    lastDistance = distance
    guard let period else { return }
    // A burst that is there at the first count may have begun before it: the next count is a little earlier.
    let wasThere = expected.map { now < $0 + DDCReader.often } ?? true
    earlyBursts = wasThere ? earlyBursts + 1 : 0
    if earlyBursts > Self.mostEarlyBursts { return clear() }
    let step = wasThere ? min(DDCReader.often.count, period / 4) : 0
    expected = now + Milliseconds(period - step)
  }

  /// Returns the time of the next count after an empty one; nil without a rhythm.
  mutating func next(after now: Instant) -> Instant? {
    guard let expected else { return nil }
    if now < expected { return expected }
    if now < expected + Self.tolerance { return now + DDCReader.often }
    clear()
    return nil
  }

  private mutating func clear() {
    period = nil
    lastDistance = nil
    expected = nil
    earlyBursts = 0
  }

  private func isAbout(_ a: UInt64, _ b: UInt64) -> Bool {
    let difference = a > b ? a - b : b - a
    return difference <= max(60, b / 8)
  }
}
