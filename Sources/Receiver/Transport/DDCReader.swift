import MonotonicTime
import WireBytes

/// Reads a receiver on an I2C bus, which cannot speak by itself: decides when to ask how much there is, and how much to
/// read (u-blox interface descriptions, "DDC port": registers 0xFD and 0xFE hold the count, 0xFF the stream).
///
///     waiting ─ time ─▶ count ─ n > 0 ─▶ stream until n are read ─▶ count …
///        ▲                └─ 0 twice in a burst, or 0 between bursts ─┘
///        └───────────────────────────────────────────────────────────┘
///
/// It learns when the next epoch begins, and asks shortly before it: less than twenty transfers in a second with an epoch
/// of 60 ms, where asking each 10 ms takes a hundred. After something was said to the receiver it asks often, for the
/// answer. It has no clock and no bus.
public struct DDCReader: Sendable {
  /// The device's address where nobody changed it (CFG-I2C-ADDRESS holds it shifted, 0x84).
  public static let usualAddress: UInt8 = 0x42
  /// The register that the count is read from, high byte first; the next read goes on at the stream.
  public static let countRegister: UInt8 = 0xFD
  /// The register of the stream. The pointer stays there.
  public static let streamRegister: UInt8 = 0xFF

  /// What to do on the bus.
  public enum Step: Equatable, Sendable {
    /// Write `countRegister` and read two bytes, then call `counted`.
    case readCount
    /// Write `streamRegister` and read so many bytes, then call `received`.
    case readStream(Int)
    /// Nothing before this time.
    case wait(until: Instant)
  }

  /// Between two questions in a burst, and about the time of the next.
  static let often = Milliseconds(10)
  /// Between two questions as long as no rhythm is known.
  static let seldom = Milliseconds(50)
  /// The same when nothing came for `idleAfter`. A receiver that is not read for 1.5 s stops writing.
  static let idle = Milliseconds(250)
  static let idleAfter = Milliseconds(5000)
  /// The longest time without a question, for the same reason.
  static let longest = Milliseconds(1000)
  /// For how long an answer is expected after something was said.
  static let answerTime = Milliseconds(250)
  /// A count above is no count: all ones is what a bus without a device reads.
  static let largestCount = 16_384

  /// The longest read, bytes; `shorten` halves it where the adapter does less.
  public private(set) var longestRead = 1024

  private var left = 0
  private var askAt: Instant
  private var rhythm = Rhythm()
  private var isInBurst = false
  private var emptyCounts = 0
  private var answerUntil: Instant?
  private var lastBytes: Instant

  public init(at now: Instant) {
    askAt = now
    lastBytes = now
  }

  /// When `next` has something else than to wait.
  public var deadline: Instant { left > 0 ? .zero : askAt }

  /// What to do now.
  public func next(at now: Instant) -> Step {
    if left > 0 { return .readStream(min(left, longestRead)) }
    return now >= askAt ? .readCount : .wait(until: askAt)
  }

  /// The receiver has so many bytes.
  public mutating func counted(_ count: Int, at now: Instant) {
    guard count > 0, count <= Self.largestCount else { return countedNone(at: now) }
    if !isInBurst {
      isInBurst = true
      rhythm.begin(at: now, isAnswer: isAnswering(at: now))
    }
    emptyCounts = 0
    left = count
    lastBytes = now
    askAt = now + Self.often
  }

  /// So many bytes were read.
  public mutating func received(_ count: Int, at now: Instant) {
    left = max(0, left - count)
    askAt = now + Self.often
  }

  /// The receiver did not answer: it is busy, asleep or gone.
  public mutating func failed(at now: Instant) {
    left = 0
    countedNone(at: now)
  }

  /// The adapter does not do reads of `longestRead`. Whether a shorter one is worth a try.
  public mutating func shorten() -> Bool {
    guard longestRead > 16 else { return false }
    longestRead /= 2
    return true
  }

  /// Something was said to the receiver.
  public mutating func said(at now: Instant) {
    answerUntil = now + Self.answerTime
    askAt = min(askAt, now + Self.often)
  }

  private mutating func countedNone(at now: Instant) {
    emptyCounts += 1
    // Some firmware says 0 and still has up to 16 bytes: the second 0 is believed.
    if isInBurst, emptyCounts < 2 {
      askAt = now + Self.often
      return
    }
    isInBurst = false
    if isAnswering(at: now) {
      askAt = now + Self.often
      return
    }
    if let expected = rhythm.next(after: now) {
      askAt = min(expected, now + Self.longest)
    } else {
      askAt = now + (now >= lastBytes + Self.idleAfter ? Self.idle : Self.seldom)
    }
  }

  private func isAnswering(at now: Instant) -> Bool { answerUntil.map { now < $0 } ?? false }
}

/// When bursts begin: learned from those before.
private struct Rhythm: Sendable {
  /// From one burst to the next; nil until two distances agree.
  private var period: UInt64?
  private var lastDistance: UInt64?
  private var lastStart: Instant?
  /// When the next is expected.
  private var expected: Instant?
  /// How many bursts running were there at the first look.
  private var foundThere = 0
  /// So many are no matter of ten milliseconds: bursts come oftener than was learned.
  private static let mostFoundThere = 4
  /// How long after `expected` it may still come before the rhythm is taken to be another.
  private static let patience = Milliseconds(100)

  /// A burst was found. What answers the host is no beat.
  mutating func begin(at now: Instant, isAnswer: Bool) {
    if isAnswer { return }
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
    // A burst that is there at the first look may have begun before it: the next look is a little earlier.
    let wasThere = expected.map { now < $0 + DDCReader.often } ?? true
    foundThere = wasThere ? foundThere + 1 : 0
    if foundThere > Self.mostFoundThere { return forget() }
    let step = wasThere ? min(DDCReader.often.count, period / 4) : 0
    expected = now + Milliseconds(period - step)
  }

  /// When to ask after nothing was found at `now`; nil when no rhythm is known.
  mutating func next(after now: Instant) -> Instant? {
    guard let expected else { return nil }
    if now < expected { return expected }
    if now < expected + Self.patience { return now + DDCReader.often }
    forget()
    return nil
  }

  private mutating func forget() {
    period = nil
    lastDistance = nil
    expected = nil
    foundThere = 0
  }

  private func isAbout(_ a: UInt64, _ b: UInt64) -> Bool {
    let difference = a > b ? a - b : b - a
    return difference <= max(60, b / 8)
  }
}
