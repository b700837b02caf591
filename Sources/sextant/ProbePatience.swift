import MonotonicTime
import ReceiverStream

/// When a probe has heard enough.
struct ProbePatience {
  /// A receiver speaks all that it speaks within an epoch of the slowest usual rate.
  static let epoch = Milliseconds(1500)

  /// Whether the receiver said who it is, or that was given up.
  var isIdentified = false
  private let asks: Bool
  private var heardAt: Instant?
  private var isEpochOver = false

  /// - Parameter asks: whether the receiver is asked who it is.
  init(asks: Bool) { self.asks = asks }

  /// When to look again, if nothing comes; nil where only the receiver's answer is waited for.
  var deadline: Instant? { isEpochOver ? nil : heardAt.map { $0 + Self.epoch } }

  /// Whether the probe is over.
  ///
  /// - Parameters:
  ///   - counters: what was heard so far.
  ///   - now: the time.
  mutating func isOver(_ counters: StreamCounters, at now: Instant) -> Bool {
    guard counters.frames > 0 else { return false }
    if heardAt == nil { heardAt = now }
    // More than UBX and NMEA is not waited for.
    if isIdentified, counters.ubxFrames > 0, counters.nmeaFrames > 0 { return true }
    if let deadline, now >= deadline { isEpochOver = true }
    return isEpochOver && (isIdentified || !asks)
  }
}
