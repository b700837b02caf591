// SPDX-License-Identifier: Apache-2.0
import NMEA

/// The times of the last position sentences of each talker and kind. Two of them may share a place: then neither is known.
struct SentenceSeries: Sendable {
  private var keys = InlineArray<8, UInt32>(repeating: 0)
  /// Milliseconds since midnight.
  private var times = InlineArray<8, UInt32>(repeating: 0)

  /// Stores the time of a sentence. Returns the time of the sentence before it; nil if it is not known.
  @inline(__always)
  mutating func replace(_ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ time: Int64) -> EpochTag? {
    let key = UInt32(talker.code) << 8 | kind.rawValue + 1
    let place = Int(truncatingIfNeeded: (UInt32(talker.code) &+ kind.rawValue &* 2) & 7)
    let earlier: EpochTag? = keys[place] == key ? .timeOfDay(Int64(times[place]) * 1_000_000) : nil
    (keys[place], times[place]) = (key, UInt32(truncatingIfNeeded: time / 1_000_000))
    return earlier
  }
}

/// The sources of positions on a line with several: a receiver, a chart plotter, a transponder with its own receiver.
///
/// A fix is from one source: from the receiver, or if it has no position, from the first other one with positions. Another source
/// supplies the sentences that this one lacks. A source that never had a fix does not affect the fix of another source. A source is used
/// again once the sources that precede it stop sending.
struct PositionSources: Sendable {
  /// The number of ignored sentences in succession after which the sources with positions count as gone.
  private static var mostIgnored: UInt8 { 20 }
  /// A bit for each source that had a position. Different talkers may share one.
  private var withPosition: UInt64 = 0
  /// A talker of the preferred source.
  private(set) var preferred = Talker.combined
  /// Whether the last position sentence of the preferred source had a position.
  private var preferredHasPosition = false
  private var ignored: UInt8 = 0
  /// Whether the last position sentence supplements the preferred source, whose positions it does not replace.
  private(set) var isSupplement = false

  /// Accepts a position sentence on a line with only a receiver. Returns false on another line.
  ///
  /// - Parameter hasPosition: whether it states a fix and has a position.
  @inline(__always)
  mutating func acceptAlone(_ talker: Talker, hasPosition: Bool) -> Bool {
    guard withPosition <= 1, Self.isReceiver(talker) else { return false }
    if hasPosition { withPosition = 1 }
    use(hasPosition)
    return true
  }

  /// Handles a position sentence on a line with other sources. Returns whether to ignore it.
  ///
  /// - Parameters:
  ///   - hasPosition: whether it states a fix and has a position.
  ///   - isCovered: whether the preferred source has sent its content in this epoch or the one before.
  mutating func ignores(_ talker: Talker, hasPosition: Bool, isCovered: Bool) -> Bool {
    let source = Self.bit(talker)
    if hasPosition {
      if withPosition == 0 || Self.isReceiver(talker) { preferred = talker }
      withPosition |= source
    }
    if withPosition == 0 || Self.isSame(talker, preferred) {
      use(hasPosition)
      return false
    }
    isSupplement = hasPosition && preferredHasPosition
    if withPosition & source != 0, !isSupplement || !isCovered {
      ignored = 0
      return false
    }
    ignored += 1
    if ignored > Self.mostIgnored { self = PositionSources() }
    return ignored > 0
  }

  /// Handles a sentence of the preferred source.
  @inline(__always)
  private mutating func use(_ hasPosition: Bool) {
    preferredHasPosition = hasPosition
    isSupplement = false
    ignored = 0
  }

  /// Handles a proprietary sentence with a position, which only receivers send.
  mutating func addProprietary() { isSupplement = false }

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
  static func isReceiver(_ talker: Talker) -> Bool {
    talker == .combined || talker == .gps || Satellite.system(talker) != nil
  }
}

/// The source of the satellites. Sentences have less detail than UBX, and are ignored until UBX sends no more satellites.
struct SatelliteSource: Sendable {
  /// The number of epochs with ignored sentences and without satellites of UBX after which sentences are used.
  private static var mostIgnored: UInt8 { 10 }
  /// The number of such epochs, up to `mostIgnored` + 1. Epochs without sentences do not count: a receiver with 20 epochs in a second may
  /// send both once in a second.
  private var ignored = SatelliteSource.mostIgnored + 1
  private var ignoresInEpoch = false

  var isUBX: Bool { ignored <= Self.mostIgnored }

  /// Handles satellites of UBX.
  mutating func useUBX() {
    ignored = 0
    ignoresInEpoch = false
  }

  /// Handles a sentence about satellites in view. Returns whether to use it.
  @inline(__always)
  mutating func acceptSentence() -> Bool {
    guard isUBX else { return true }
    ignoresInEpoch = true
    return false
  }

  /// Handles the start of an epoch.
  mutating func startEpoch() {
    if ignoresInEpoch { ignored += 1 }
    ignoresInEpoch = false
  }
}
