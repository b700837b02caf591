import MonotonicTime

/// How much of what a line can carry is on it, by the bytes that came. On one that is full, answers are dropped with all else
/// that does not fit, and what is not waits behind all that is queued.
public struct LineLoad: Sendable {
  /// Whole epochs of all usual rates are as long as this, or parts of it.
  public static let window = Milliseconds(2000)
  /// A line that carries more than this share of what it can is full: epochs differ in their length.
  private static let fullShare = 0.95
  /// A start bit, eight data bits, a stop bit.
  private static let bitsPerByte = 10.0

  /// One that brings more than this share has not the rate that it is set to: it is USB behind a terminal's settings.
  private static let impossibleShare = 1.2

  /// The bytes of the last window, a second; nil until one is over.
  public private(set) var bytesPerSecond: Double?
  private var began: Instant?
  private var bytes = 0

  public init() {}

  /// The bytes a second that a line of this rate carries.
  public static func capacity(_ rate: UInt32) -> Double { Double(rate) / bitsPerByte }

  /// Whether a line of this rate was full for the whole of the last window.
  public func isFull(at rate: UInt32?) -> Bool {
    guard let rate, let bytesPerSecond else { return false }
    return bytesPerSecond >= Self.fullShare * Self.capacity(rate) && Self.isPossible(bytesPerSecond, at: rate)
  }

  /// Whether so many bytes a second are so many more than a line of this rate carries that answers have no room for certain: what
  /// was measured has the answers of that time in it, and a line that is just full has some room at times.
  public static func isHopeless(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond > 1.4 * capacity(rate)
  }

  /// Whether a line of this rate can carry so many bytes a second, and answers beside them.
  public static func carries(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond < 0.9 * capacity(rate)
  }

  /// Whether a line of this rate can have brought so many bytes a second.
  package static func isPossible(_ bytesPerSecond: Double, at rate: UInt32) -> Bool {
    bytesPerSecond <= impossibleShare * capacity(rate)
  }

  /// Bytes came.
  public mutating func receive(bytes count: Int, at now: Instant) {
    measure(at: now)
    if began == nil { began = now }
    bytes += count
  }

  /// What is measured begins anew: the line has another rate, or other messages.
  public mutating func restart() { self = LineLoad() }

  /// Ends the window when it is over.
  public mutating func measure(at now: Instant) {
    guard let began, now >= began + Self.window else { return }
    bytesPerSecond = Double(bytes) / now.seconds(since: began)
    self.began = now
    bytes = 0
  }
}

/// A line as it was found before something is changed on it.
public struct MeasuredLine: Sendable, Equatable {
  /// Baud.
  public var rate: UInt32
  public var bytesPerSecond: Double

  public init(rate: UInt32, bytesPerSecond: Double) {
    self.rate = rate
    self.bytesPerSecond = bytesPerSecond
  }
}
