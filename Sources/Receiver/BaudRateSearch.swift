import MonotonicTime

/// Finds the rate of a serial line by listening: not one byte is sent.
///
///     at a rate ── a frame ──▶ found
///         │
///         ├── enough bytes and no frame ──▶ next rate   (a wrong rate makes garbage of every byte)
///         └── silence for longer than an epoch ──▶ next rate
///
/// The search goes round for ever: a receiver may be plugged in, or begin to speak, at any time. It is a value without a
/// clock: bytes, frames and the time go in, the rate to set comes out.
public struct BaudRateSearch: Sendable {
  /// The rates that are tried, in this order after the one that is set: the defaults of the u-blox generations (9600,
  /// 38400) and of NMEA (4800) early, then what people set (u-blox interface descriptions, CFG-PRT and CFG-UART1).
  public static let rates: [UInt32] = [9600, 38400, 115_200, 4800, 57600, 19200, 230_400, 460_800, 921_600]

  /// What to do.
  public enum Action: Equatable, Sendable {
    case none
    /// Set the line to this rate and forget what was received.
    case setRate(UInt32)
    /// The rate is right.
    case found(UInt32)
  }

  /// Bytes without a frame after which a rate is given up: longer than any sentence, so that one begun in its middle is
  /// not taken for garbage.
  static var patienceBytes: Int { 400 }
  /// Time without a frame after which a rate is given up, once bytes came: a burst of an epoch is over by then.
  static var patience: Milliseconds { Milliseconds(1300) }

  /// The rate that is listened at.
  public private(set) var rate: UInt32
  /// Whether a frame was received at `rate`.
  public private(set) var isFound = false
  /// When the rate is given up if nothing comes; nil when it is found.
  public var deadline: Instant? { isFound ? nil : since + Self.patience }

  private var since: Instant
  private var bytes = 0
  private let order: [UInt32]
  private var index = 0

  /// Starts listening at `rate`, the one the line is set to.
  public init(at rate: UInt32, now: Instant) {
    self.rate = rate
    since = now
    order = [rate] + Self.rates.filter { $0 != rate }
  }

  /// Bytes came, and with them as many whole frames.
  public mutating func receive(bytes count: Int, frames: Int, at now: Instant) -> Action {
    guard !isFound else { return .none }
    if frames > 0 {
      isFound = true
      return .found(rate)
    }
    bytes += count
    return bytes >= Self.patienceBytes ? next(now) : .none
  }

  /// The deadline has come.
  public mutating func wake(at now: Instant) -> Action {
    guard let deadline, now >= deadline else { return .none }
    return next(now)
  }

  private mutating func next(_ now: Instant) -> Action {
    index = (index + 1) % order.count
    rate = order[index]
    since = now
    bytes = 0
    return .setRate(rate)
  }
}
