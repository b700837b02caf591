// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Decides when a probe is complete.
struct ProbeCompletion {
  /// An epoch of the slowest usual rate, in which a receiver sends each of its protocols.
  static let epoch = Milliseconds(1500)

  /// Whether the receiver is identified, or the identification has failed.
  var isIdentified = false
  private let polls: Bool
  private var firstFrameAt: Instant?
  private var isEpochOver = false

  /// - Parameter polls: whether the receiver is polled for its identity.
  init(polls: Bool) { self.polls = polls }

  /// When to check again without an event; nil while only a reply can complete the probe.
  var deadline: Instant? { isEpochOver ? nil : firstFrameAt.map { $0 + Self.epoch } }

  /// Takes what was received so far. Returns whether the probe is over.
  ///
  /// - Parameters:
  ///   - counters: the frames received so far.
  ///   - hasReplied: whether a receiver replied in a protocol without such frames.
  ///   - now: the time.
  mutating func update(_ counters: StreamCounters, hasReplied: Bool = false, at now: Instant) -> Bool {
    guard counters.frames > 0 || hasReplied else { return false }
    if firstFrameAt == nil { firstFrameAt = now }
    // UBX and NMEA together are the usual protocols; others are not waited for.
    if isIdentified, counters.ubxFrames > 0, counters.nmeaFrames > 0 { return true }
    if let deadline, now >= deadline { isEpochOver = true }
    return isEpochOver && (isIdentified || !polls)
  }
}
