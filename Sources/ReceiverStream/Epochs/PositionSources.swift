// SPDX-License-Identifier: Apache-2.0
import NMEA

/// The times of the last position sentences of each talker and kind. Two of them may share a place: then neither is known.
struct SentenceSeries: Sendable {
  private var keys = InlineArray<8, UInt32>(repeating: 0)
  /// Milliseconds since midnight.
  private var times = InlineArray<8, UInt32>(repeating: 0)

  /// Stores the time of a sentence. Returns that of the one before; nil if it is not known.
  @inline(__always)
  mutating func replace(_ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ time: Int64) -> EpochTag? {
    let key = UInt32(talker.code) << 8 | kind.rawValue + 1
    let place = Int(truncatingIfNeeded: (UInt32(talker.code) &+ kind.rawValue &* 2) & 7)
    let earlier: EpochTag? = keys[place] == key ? .timeOfDay(Int64(times[place]) * 1_000_000) : nil
    (keys[place], times[place]) = (key, UInt32(truncatingIfNeeded: time / 1_000_000))
    return earlier
  }
}

/// The sources of positions on a line with several: a receiver, a chart plotter, an autopilot.
///
/// A source that never had a fix does not affect the fix of another source. It is used again once the sources with
/// positions stop sending.
struct PositionSources: Sendable {
  /// The number of ignored sentences in succession after which the sources with positions count as gone.
  private static var mostIgnored: Int { 20 }
  /// A bit for each source that had a position. Different talkers may share one.
  private var withPosition: UInt64 = 0
  private var ignored = 0

  /// Handles a position sentence. Returns whether to ignore it.
  ///
  /// - Parameter hasPosition: whether it states a fix and has a position.
  @inline(__always)
  mutating func ignores(_ talker: Talker, hasPosition: Bool) -> Bool {
    // A line with only a receiver.
    if withPosition <= 1, Self.isReceiver(talker) {
      if hasPosition { withPosition = 1 }
      ignored = 0
      return false
    }
    return ignoresOne(talker, hasPosition)
  }

  @inline(never)
  private mutating func ignoresOne(_ talker: Talker, _ hasPosition: Bool) -> Bool {
    let source = Self.bit(talker)
    if hasPosition { withPosition |= source }
    if withPosition == 0 || withPosition & source != 0 {
      ignored = 0
      return false
    }
    ignored += 1
    if ignored > Self.mostIgnored { self = PositionSources() }
    return ignored > 0
  }

  /// Whether a sentence is from a source without a position on a line where another one has positions.
  @inline(__always)
  func isOther(_ talker: Talker) -> Bool { withPosition != 0 && withPosition & Self.bit(talker) == 0 }

  static func isSame(_ one: Talker, _ other: Talker) -> Bool { bit(one) == bit(other) }

  /// The bit of a source. A receiver of several satellite systems has a talker for each, and one for all, depending on
  /// the satellites in use.
  private static func bit(_ talker: Talker) -> UInt64 {
    if isReceiver(talker) { return 1 }
    return 2 &<< UInt64((talker.code >> 8 &* 31 &+ talker.code) % 63)
  }

  @inline(__always)
  private static func isReceiver(_ talker: Talker) -> Bool {
    talker == .combined || talker == .gps || Satellite.system(talker) != nil
  }
}
