// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The share of a line's capacity that received bytes use. On a full line the receiver drops replies with everything else
/// that does not fit, and the others wait behind all that is queued.
public struct LineLoad: Sendable {
  /// The time that is measured: a multiple of the usual epochs.
  public static let window = Milliseconds(2000)
  /// The share from which on a line is full: epochs differ in their length.
  private static let fullShare = 0.95
  /// A start bit, eight data bits, a stop bit.
  private static let bitsPerByte = 10.0

  /// A share above this one is not possible at the rate: it is USB behind a terminal's settings.
  private static let impossibleShare = 1.2

  /// The bytes per second in the last window; nil before the end of the first.
  public private(set) var bytesPerSecond: Double?
  private var began: Instant?
  private var bytes = 0
  private var lastByte = Instant.zero
  /// Whether the first bytes can be the rest of a burst, which does not count.
  private var beginsWithRest = false
  /// The start of the last burst of messages, and the bytes before it.
  private var burst: (began: Instant, bytesBefore: Int)?

  /// The pause from which on bytes belong to another epoch.
  private static let pause = Milliseconds(100)

  public init() {}

  /// Returns the capacity of a line, in bytes per second.
  public static func capacity(_ rate: UInt32) -> Double { Double(rate) / bitsPerByte }

  /// Whether a line of this rate was full during the whole last window.
  public func isFull(at rate: UInt32?) -> Bool {
    guard let rate, let bytesPerSecond else { return false }
    return bytesPerSecond >= Self.fullShare * Self.capacity(rate) && Self.isPossible(bytesPerSecond, at: rate)
  }

  /// Whether replies certainly have no room on a line of this rate. The measured bytes contain the replies of that time,
  /// and a line that is just full has some room at times.
  public static func isHopeless(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond > 1.4 * capacity(rate)
  }

  /// Whether a line of this rate has room for these bytes and for replies.
  public static func carries(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond < 0.9 * capacity(rate)
  }

  /// Whether this many bytes per second are possible at this rate.
  package static func isPossible(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond <= impossibleShare * capacity(rate)
  }

  /// Counts received bytes.
  public mutating func receive(bytes count: Int, at now: Instant) {
    if now >= lastByte + Self.pause {
      if beginsWithRest { (began, bytes) = (now, 0) }
      burst = (now, bytes)
      beginsWithRest = false
    }
    if began == nil { began = now }
    lastByte = now
    measure(at: now)
    bytes += count
  }

  /// Measures anew: the line has another rate, or other messages.
  public mutating func restart() { self = LineLoad() }

  /// Measures whole bursts anew, for a comparison: a window that begins within a burst counts too few bytes, or too many. A line without
  /// pauses is measured from its first byte.
  public mutating func restartAtBurst() {
    let lastByte = lastByte
    self = LineLoad()
    (self.lastByte, beginsWithRest) = (lastByte, true)
  }

  /// Ends the window if it is over. The window ends before the last burst: otherwise its bytes count, and the time after it
  /// does not.
  public mutating func measure(at now: Instant) {
    guard let began, now >= began + Self.window else { return }
    var end = (at: now, bytes: bytes)
    if let burst, burst.began > began { end = (burst.began, burst.bytesBefore) }
    bytesPerSecond = Double(end.bytes) / end.at.seconds(since: began)
    self.began = end.at
    bytes -= end.bytes
    burst = nil
  }
}

/// A line as it was found before a change.
public struct MeasuredLine: Sendable, Equatable {
  /// The rate, in baud.
  public var rate: UInt32
  /// The rate after the end of the session, in baud, which differs from `rate` on a line that the session raised.
  public var restoredRate: UInt32
  public var bytesPerSecond: Double

  public init(rate: UInt32, restoredRate: UInt32? = nil, bytesPerSecond: Double) {
    self.rate = rate
    self.restoredRate = restoredRate ?? rate
    self.bytesPerSecond = bytesPerSecond
  }
}
