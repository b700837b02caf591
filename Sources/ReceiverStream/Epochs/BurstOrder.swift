// SPDX-License-Identifier: Apache-2.0

/// Learns the order of a receiver's burst: its first and its last message.
///
/// A receiver writes the messages of an epoch in a fixed order. Messages without a time between the last message of one time and
/// the first of the next belong to the burst on their side of the pause between the bursts. Evidence of the position of
/// that pause, best first:
///
/// 1. No message without a time lies between the two times.
/// 2. The line paused there. The pause is the first one that is at least half as long as the longest: a late message
///    causes a shorter pause, and instruments with their own rate send after it.
/// 3. A message without a time has a value that messages of the epochs before and after it also have, and that differs between these
///    (`SharedValue`). This corrects the boundary that 4 or 5 have found.
/// 4. The stream began with a message that appears again after the last message of a time: the stream began with a burst, and the next
///    one begins there. After a part of a sentence or a group the stream did not begin with a burst. Instruments with their own rate
///    count only directly after that message.
/// 5. Otherwise the burst ends before the message with the new time, as with most receivers.
///
/// The beginning of the bursts is known after two epochs that agree, and so is their end. Each is discarded after two epochs that do not: a
/// line loses sentences, and a receiver sends some only at times. A sentence without a time after the usual last one is one of these. It
/// belongs to the epoch before it, unless it is the usual first or second one of a burst, or 3 has shown that it belongs to the next epoch.
// Not copyable, because the compiler copies a value for each call that only reads it.
struct BurstOrder: ~Copyable, Sendable {
  /// The position of a message in the order: its id, and its number in a run of the same id.
  typealias Key = UInt64

  /// A boundary between two bursts.
  private struct Boundary: Sendable {
    /// The last message of a burst, and the first of the next one; 0 for none.
    var last: Key = 0
    var first: Key = 0
    /// Whether the first message has no time.
    var beginsUntimed = false
    /// The pause in milliseconds; 0 if none was observed.
    var pause: UInt32 = 0
  }

  private var known = Boundary()
  /// The number of epochs that agreed with the beginning of `known`, and with its end, less those that did not, from 0 to 3.
  private var confirmations: Int8 = 0
  private var endConfirmations: Int8 = 0
  /// The longest pause since the last message with a time.
  private var paused = Boundary()
  /// The last message, and the last one with a time.
  private var previous: Key = 0
  private var runLength: UInt64 = 0
  private var lastTimed: Key = 0
  /// The first message without a time after the last one with a time; 0 for none.
  private var firstUntimed: Key = 0
  /// The first message without a time between the last two epochs; 0 for none.
  private var firstBetween: Key = 0
  /// HDOP, of GSA and GGA, and the speed, of VTG and RMC.
  private var hdop = SharedValue()
  private var speed = SharedValue()
  /// The number of shared values that agreed with the order, less those that did not, from 0 to 3.
  private var confidence: Int8 = 0
  /// Whether HDOP has decided. Then the speed is not used: where VTG and GSA are at two ends of a burst, only GSA has values that others lack.
  private var hdopDecides = false
  /// The first message of the bursts, if it has no time: of the known order, or until the order is known that of the stream or of a later
  /// burst, until other evidence contradicts it; 0 for none.
  private var start: Key = 0
  /// The id of the message without a time that followed `start` in the last burst; 0 for none. If `start` is lost, the burst begins with it.
  private var second: UInt64 = 0
  private var hasBegun = false
  private var hasFrame = false
  /// Whether `start` counts only directly after a message with a time until the order is known: values have shown it.
  private var isStartWeak = false
  /// The message before the first one of the next burst, if that has no time, after the last one with a time; 0 for none.
  private var beforeRestart: Key = 0
  /// Whether the last message without a time follows the usual last one of a burst, and is not the usual first one.
  private var isExtra = false
  /// Whether such messages belong to the next burst.
  private var extrasAreAhead = false

  private static var enough: Int8 { 2 }
  /// Whether the beginning of the bursts is known.
  var isKnown: Bool { confirmations >= Self.enough }

  /// Whether the last message usually ends a burst.
  var isEnd: Bool { endConfirmations >= Self.enough && isKnown && known.last == previous }

  /// A pause, in milliseconds, that always separates bursts: a receiver that was silent at the start has made the
  /// learned pause too long.
  private static var surePause: UInt32 { 500 }

  /// Whether a pause of this length in milliseconds separates bursts. Pauses within a burst are shorter than half of
  /// it.
  func separates(_ pause: UInt32) -> Bool {
    pause > 0 && (!isKnown || pause >= Self.surePause || UInt64(pause) * 2 >= UInt64(known.pause))
  }

  /// Whether a message without a time belongs to the next burst, although the burst with the last time may not be over.
  ///
  /// - Parameters:
  ///   - pause: the pause before it in milliseconds; 0 for none.
  ///   - isInstrument: whether it may also be sent at its own rate, such as a heading.
  @inline(__always)
  func isAhead(_ id: UInt64, after pause: UInt32, isInstrument: Bool) -> Bool {
    pause > 0 && separates(pause) || isRestart(id, isInstrument: isInstrument)
  }

  /// Whether a message without a time begins the next burst, or is before its first one, regardless of a pause.
  @inline(__always)
  private func isRestart(_ id: UInt64, isInstrument: Bool) -> Bool {
    guard start != 0 else { return false }
    let id = Self.id(id)
    let isStart = id == Self.id(start)
    guard isKnown else {
      return isStart
        && (previous == lastTimed || !isStartWeak && !isInstrument && lastTimed != 0 && id != Self.id(previous))
    }
    return !isInstrument && (isStart || id == second) || isEnd && (isInstrument || extrasAreAhead)
  }

  /// Adds a message without a time and without a pause before it that is in the burst of the message before. Returns false, and adds
  /// nothing, if it may begin the next one.
  @inline(__always)
  mutating func goOn(untimed id: UInt64) -> Bool {
    guard start == 0 else { return false }
    previous = next(id)
    if firstUntimed == 0 { firstUntimed = previous }
    return true
  }

  /// The longest sentence of receivers, bytes.
  private static var longestSentence: UInt64 { 100 }

  /// Handles the place of the stream's first frame. After a part of a sentence the stream did not begin with a burst; more bytes are another
  /// text, such as the notes at the beginning of a recording.
  @inline(__always)
  mutating func noteFirst(at offset: UInt64) {
    if hasFrame { return }
    hasFrame = true
    hasBegun = offset > 0 && offset < Self.longestSentence
  }

  /// Adds a message without a time.
  ///
  /// - Parameters:
  ///   - isInstrument: whether it may also be sent at its own rate, anywhere in a burst.
  ///   - continuesGroup: whether it is a later page of a group.
  mutating func add(untimed id: UInt64, after pause: UInt32, isInstrument: Bool = false, continuesGroup: Bool = false) {
    let key = next(id)
    if !hasBegun {
      start = continuesGroup ? 0 : key
    } else if key == start, lastTimed == 0 {
      // Bursts without a time came first.
      start = 0
    }
    noteBegin(after: pause)
    if firstUntimed == 0 { firstUntimed = key }
    noteRestart(id, isInstrument: isInstrument)
    note(pause, before: key, isUntimed: true)
    previous = key
  }

  /// Records whether a message without a time is the first of the next burst, the second, or follows the usual end.
  private mutating func noteRestart(_ id: UInt64, isInstrument: Bool) {
    guard start != 0, lastTimed != 0 else { return }
    let (own, first) = (Self.id(id), Self.id(start))
    if own != first, beforeRestart != 0, Self.id(previous) == first { second = own }
    if beforeRestart == 0, isRestart(id, isInstrument: isInstrument) { beforeRestart = previous }
    if own == first || own == second { isExtra = false } else if isEnd { isExtra = true }
  }

  /// Adds a message with a time.
  ///
  /// - Parameter isNew: whether the time differs from the time of the preceding messages.
  mutating func add(timed id: UInt64, isNew: Bool, after pause: UInt32) {
    hdop.advance(isNew: isNew)
    speed.advance(isNew: isNew)
    if isNew {
      firstBetween = firstUntimed
      if lastTimed != 0 {
        if beforeRestart != 0, Self.id(previous) == Self.id(start) { second = 0 }
        note(pause, before: id, isUntimed: false)
        learn(boundary(before: id))
      }
      // With one kind of message, each message ends its epoch. A growing run length would hide that.
      previous = 0
      runLength = 0
    }
    noteBegin(after: pause)
    previous = next(id)
    lastTimed = previous
    firstUntimed = 0
    if paused.pause > 0 { paused = Boundary() }
    (beforeRestart, isExtra) = (0, false)
  }

  /// Adds the HDOP of GSA.
  @inline(__always)
  mutating func add(untimedHDOP value: Double, isAhead: Bool) {
    hdop.add(untimed: value, isAhead: isAhead, isExtra: isExtra)
  }

  /// Adds the speed of VTG in knots; nil if it is absent.
  mutating func add(untimedSpeed value: Double?, isAhead: Bool) {
    speed.add(untimed: value, isAhead: isAhead, isExtra: isExtra)
  }

  /// Adds the HDOP of a message with a time.
  mutating func add(timedHDOP value: Double) {
    let finding = hdop.add(timed: value)
    if !hdopDecides, finding != .none { (hdopDecides, confidence) = (true, 0) }
    check(finding)
  }

  /// Adds the speed of RMC in knots; nil if it is absent.
  mutating func add(timedSpeed value: Double?) {
    let finding = speed.add(timed: value)
    if !hdopDecides { check(finding) }
  }

  /// Handles whether a shared value agrees with the order. If values contradict it, the burst begins directly after the last message with
  /// a time instead of the first message with the next one, or the reverse. Pauses are better evidence. A message after the usual end shows
  /// only the burst of such messages.
  private mutating func check(_ finding: SharedValue.Finding) {
    switch finding {
    case .none: return
    case .agrees: confidence = min(confidence + 1, 3)
    case .isExtraOfEarlier, .isExtraOfLater: extrasAreAhead = finding == .isExtraOfLater
    case .isOfEarlier, .isOfLater:
      if confidence > 0 {
        confidence -= 1
        return
      }
      guard known.pause == 0 else { return }
      start = finding == .isOfLater ? firstBetween : 0
      isStartWeak = true
      confirmations = 0
      // Its message was placed by the order before this change.
      hdop.discard()
    }
  }

  /// Records that the known end was followed by more messages of the same epoch.
  mutating func discardEnd() { endConfirmations = 0 }

  /// After a pause before the first message with a time, the messages before it were the end of a burst.
  @inline(__always)
  private mutating func noteBegin(after pause: UInt32) {
    if hasBegun, pause > 0, lastTimed == 0 { start = 0 }
    hasBegun = true
  }

  private func boundary(before first: Key) -> Boundary {
    guard firstUntimed != 0 else { return Boundary(last: previous, first: first, pause: paused.pause) }
    if paused.pause > 0 { return paused }
    if beforeRestart != 0 { return Boundary(last: beforeRestart, first: start, beginsUntimed: true) }
    return Boundary(last: previous, first: first)
  }

  private mutating func learn(_ found: Boundary) {
    if found.last == known.last {
      endConfirmations = min(endConfirmations + 1, 3)
    } else if endConfirmations > 1 {
      endConfirmations -= 1
    } else {
      (known.last, endConfirmations) = (found.last, 1)
    }
    if found.beginsUntimed == known.beginsUntimed, Self.id(found.first) == Self.id(known.first) {
      confirmations = min(confirmations + 1, 3)
      // The estimate grows slowly with a longer pause: the receiver may have been silent once. Bytes that were read
      // late have no pause.
      if found.pause > 0 {
        known.pause = known.pause == 0 ? found.pause : min(found.pause, known.pause &+ known.pause / 8 &+ 1)
      }
    } else if confirmations > 1 {
      // This burst may have lost its first message.
      confirmations -= 1
      return
    } else {
      known = found
      (confirmations, endConfirmations) = (1, 1)
    }
    if isKnown {
      start = known.beginsUntimed ? known.first : 0
    } else if Self.id(found.first) != Self.id(start) {
      start = 0
    }
  }

  @inline(__always)
  private mutating func note(_ pause: UInt32, before key: Key, isUntimed: Bool) {
    guard pause > 0, UInt64(pause) > 2 * UInt64(paused.pause) else { return }
    paused = Boundary(last: previous, first: key, beginsUntimed: isUntimed, pause: pause)
  }

  @inline(__always)
  private mutating func next(_ id: UInt64) -> Key {
    runLength = id == previous & 0xFFFF_FFFF_FFFF ? runLength + 1 : 0
    return id | runLength << 48
  }

  /// The id of a message, the same for each page of a group.
  private static func id(_ key: Key) -> UInt64 { key & 0xFFFF_FFFF_FFFF & ~pageBit }

  /// The bit that marks the last page of a group.
  static var pageBit: UInt64 { 1 << 42 }
}

/// A value that a message without a time shares with one that has it. If the value changes between two epochs, the message belongs to the
/// epoch with its value.
struct SharedValue: Sendable {
  /// Evidence of the burst of the message without a time.
  enum Finding { case none, agrees, isOfEarlier, isOfLater, isExtraOfEarlier, isExtraOfLater }
  /// The position of the last message without a time.
  private enum Place: UInt8 { case unused, afterTimed, betweenEpochs }

  /// The value of the last message without a time.
  private var untimed: Float = 0
  /// The value of the last epoch that has it; not a number for none.
  private var timed = Float.nan
  private var place = Place.unused
  private var isAhead = false
  private var isExtra = false

  /// Adds the value of a message without a time.
  ///
  /// - Parameters:
  ///   - isAhead: whether the message was used for the next epoch.
  ///   - isExtra: whether it follows the usual end of a burst.
  @inline(__always)
  mutating func add(untimed value: Double?, isAhead: Bool, isExtra: Bool) {
    guard let value else { return }
    untimed = Float(value)
    place = .afterTimed
    (self.isAhead, self.isExtra) = (isAhead, isExtra)
  }

  /// Handles a message with a time before its value is added.
  @inline(__always)
  mutating func advance(isNew: Bool) {
    if place == .afterTimed { place = isNew ? .betweenEpochs : .unused } else if isNew { place = .unused }
  }

  /// Discards the value of the last message without a time.
  mutating func discard() { place = .unused }

  /// Adds the value of a message with a time.
  mutating func add(timed value: Double?) -> Finding {
    guard let value else { return .none }
    let earlier = timed
    timed = Float(value)
    guard place == .betweenEpochs else { return .none }
    place = .unused
    // Comparisons with "not a number" are false.
    guard earlier < timed || earlier > timed, untimed == earlier || untimed == timed else { return .none }
    let isOfLater = untimed == timed
    if isExtra { return isOfLater ? .isExtraOfLater : .isExtraOfEarlier }
    return isOfLater == isAhead ? .agrees : isOfLater ? .isOfLater : .isOfEarlier
  }
}
