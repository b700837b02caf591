// SPDX-License-Identifier: Apache-2.0
import NMEA

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
/// 4. A message without a time precedes the last one with a time in the receiver's bursts (`BurstPlaces`), or follows NAV-EOE: it is in the
///    next burst. The stream's beginning is a burst's, except after a part of a sentence or a group. Instruments with their own rate have no
///    place: one that begins the stream counts only directly after the last message with a time.
/// 5. Otherwise the burst ends before the message with the new time, as with most receivers.
///
/// The beginning of the bursts is known after two epochs that agree, and so is their end. Each is discarded after two epochs that do not: a
/// line loses sentences, and a receiver sends some only at times. A sentence without a time after the usual last one is one of these. It
/// belongs to the epoch before it, unless it is known to precede the last message with a time.
// Not copyable, because the compiler copies a value for each call that only reads it.
struct BurstOrder: ~Copyable, Sendable {
  /// The position of a message in the order: its id, and its number in a run of the same id.
  typealias Key = UInt64

  /// A boundary between two bursts.
  private struct Boundary: Sendable {
    /// The last message of a burst; 0 for none.
    var last: Key = 0
    /// The pause in milliseconds; 0 if none was observed.
    var pause: UInt32 = 0
    /// Whether the first message has no time.
    var beginsUntimed = false
  }

  // In a sequence without padding: microcontrollers have little memory.
  private var known = Boundary()
  /// The number of epochs that agreed with the beginning of `known`, and with its end, less those that did not, from 0 to 3.
  private var confirmations: Int8 = 0
  private var endConfirmations: Int8 = 0
  /// The number of shared values that agreed with the order, less those that did not, from 0 to 3.
  private var confidence: Int8 = 0
  /// The longest pause since the last message with a time.
  private var paused = Boundary()
  /// Whether a message without a time followed the last one with a time.
  private var hasUntimed = false
  /// Whether HDOP has decided. Then the speed is not used: where VTG and GSA are at two ends of a burst, only GSA has values that others lack.
  private var hdopDecides = false
  private var hasBegun = false
  /// The last message, and the last one with a time.
  private var previous: Key = 0
  private var lastTimed: Key = 0
  /// The stream's first message, if it has no time, until a burst begins with another one; 0 for none.
  private var start: Key = 0
  /// The message before the first one of the next burst, if that has no time, after the last one with a time; 0 for none.
  private var beforeRestart: Key = 0
  /// HDOP, of GSA and GGA, and the speed, of VTG and RMC.
  private var hdop = SharedValue()
  private var hasFrame = false
  /// Whether bytes precede the first frame that may be a part of a UBX frame.
  private var hasHead = false
  private var speed = SharedValue()
  /// The number of messages before the last one with its id, in a run of them.
  private var runLength: UInt16 = 0
  /// The places of the sentences without a time.
  private var places = BurstPlaces()
  /// Whether the line paused before this burst.
  private var isPausing = false

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
    pause > 0 && separates(pause) || isRestart(id, after: pause, isInstrument: isInstrument)
  }

  /// Whether a message without a time begins the next burst, or is before its first one, if the pause does not show it.
  @inline(__always)
  private func isRestart(_ id: UInt64, after pause: UInt32, isInstrument: Bool) -> Bool {
    guard isInstrument else { return places.isEarlier(Self.mark(id)) }
    // On a line that pauses between bursts, a heading without a pause is in the burst before it.
    if isPausing, pause == 0 { return false }
    return isKnown ? known.beginsUntimed && isEnd : previous == lastTimed && id == start
  }

  /// Adds a message without a time and without a pause before it that is in the burst of the message before. Returns false, and adds
  /// nothing, if it may begin the next one.
  @inline(__always)
  mutating func goOn(untimed id: UInt64) -> Bool {
    let mark = Self.mark(id)
    if places.isEarlier(mark) { return false }
    places.add(untimed: mark, isAhead: false)
    previous = next(id)
    hasUntimed = true
    return true
  }

  /// Handles the stream's first frame. After a part of a sentence the stream did not begin with a burst, and after other bytes it did not if
  /// the first burst has a UBX message with a time.
  @inline(__always)
  mutating func noteFirst(isCut: Bool, hasHead: Bool) {
    if hasFrame { return }
    hasFrame = true
    (hasBegun, self.hasHead) = (isCut, hasHead)
  }

  /// Adds a message without a time.
  ///
  /// - Parameters:
  ///   - isInstrument: whether it may also be sent at its own rate, anywhere in a burst.
  ///   - isOfEpoch: whether it is of the open epoch by its own time.
  ///   - continuesGroup: whether it is a later page of a group.
  mutating func add(
    untimed id: UInt64, after pause: UInt32, isInstrument: Bool = false, isOfEpoch: Bool = false,
    continuesGroup: Bool = false
  ) {
    let key = next(id)
    if !hasBegun {
      start = continuesGroup ? 0 : key
    } else if key == start, lastTimed == 0 {
      // Bursts without a time came first.
      discardStart()
    }
    noteBegin(after: pause)
    let isRestart = !isOfEpoch && isRestart(id, after: pause, isInstrument: isInstrument)
    if isRestart, beforeRestart == 0 { beforeRestart = previous }
    hasUntimed = true
    note(pause, isUntimed: true)
    if !isInstrument, lastTimed != 0 || start != 0 {
      places.add(untimed: Self.mark(id), isAhead: isRestart || lastTimed == 0)
    }
    previous = key
  }

  /// Adds a message with a time.
  ///
  /// - Parameter isNew: whether the time differs from the time of the preceding messages.
  mutating func add(timed id: UInt64, isNew: Bool, after pause: UInt32) {
    hdop.advance(isNew: isNew)
    speed.advance(isNew: isNew)
    if isNew {
      if lastTimed != 0 {
        note(pause, isUntimed: false)
        learn(boundary())
      }
      // With one kind of message, each message ends its epoch. A growing run length would hide that.
      previous = 0
      runLength = 0
    }
    noteBegin(after: pause)
    if hasHead { noteHead(isOfBurst: !isNew || lastTimed == 0, isSentence: Self.isSentence(id)) }
    previous = next(id)
    lastTimed = previous
    places.add(timed: Self.mark(id), isNew: isNew)
    hasUntimed = false
    if paused.pause > 0 { paused = Boundary() }
    beforeRestart = 0
  }

  /// Adds the HDOP of GSA.
  @inline(__always)
  mutating func add(untimedHDOP value: Double, isAhead: Bool) {
    hdop.add(untimed: value, isAhead: isAhead, places.beforeLast, places.lastKind)
  }

  /// Adds the speed of VTG in knots; nil if it is absent.
  mutating func add(untimedSpeed value: Double?, isAhead: Bool) {
    speed.add(untimed: value, isAhead: isAhead, places.beforeLast, places.lastKind)
  }

  /// Adds the HDOP of a message with a time.
  mutating func add(timedHDOP value: Double) {
    let finding = hdop.add(timed: value)
    if !hdopDecides, finding != .none { (hdopDecides, confidence) = (true, 0) }
    check(finding, hdop)
  }

  /// Adds the speed of RMC in knots; nil if it is absent.
  mutating func add(timedSpeed value: Double?) {
    let finding = speed.add(timed: value)
    if !hdopDecides { check(finding, speed) }
  }

  /// Handles whether a shared value agrees with the order. If values contradict it, the burst begins with the message that has the value, or
  /// with the first message with the next time. Pauses are better evidence.
  private mutating func check(_ finding: SharedValue.Finding, _ value: SharedValue) {
    switch finding {
    case .none: return
    case .agrees: confidence = min(confidence + 1, 3)
    case .isOfEarlier, .isOfLater:
      if confidence > 0 {
        confidence -= 1
        return
      }
      guard known.pause == 0 else { return }
      let moved = finding == .isOfLater ? places.between & ~value.kindsBefore | value.kind : places.between
      if finding == .isOfLater { places.moveAhead(moved) } else { places.moveBehind(moved) }
      (start, confirmations) = (0, 0)
      // Its message was placed by the order before this change.
      if moved & hdop.kind != 0 { hdop.discard() }
    }
  }

  /// Records that the last message ends its burst by definition, as NAV-EOE does. A line that pauses between bursts shows their ends.
  mutating func endBurst() {
    if !isPausing { places.pause() }
  }

  mutating func noteOutput() { places.noteOutput() }
  mutating func startBurstAtOutput() { places.startBurstAtOutput() }

  /// Whether the line pauses between the bursts.
  var knowsPauses: Bool { known.pause > 0 || isPausing || paused.pause > 0 }

  /// Records that the known end was followed by more messages of the same epoch.
  mutating func discardEnd() { endConfirmations = 0 }

  /// After a pause before the first message with a time, the messages before it were the end of a burst.
  @inline(__always)
  private mutating func noteBegin(after pause: UInt32) {
    if hasBegun, pause > 0, lastTimed == 0 { discardStart() }
    hasBegun = true
  }

  /// Looks for a UBX message with a time in the first burst.
  @inline(never)
  private mutating func noteHead(isOfBurst: Bool, isSentence: Bool) {
    if isOfBurst, isSentence { return }
    if isOfBurst { discardStart() }
    hasHead = false
  }

  /// The stream did not begin with a burst.
  mutating func discardStart() {
    start = 0
    places.discardStart()
  }

  private func boundary() -> Boundary {
    guard hasUntimed else { return Boundary(last: previous, pause: paused.pause) }
    if paused.pause > 0 { return paused }
    return beforeRestart != 0 ? Boundary(last: beforeRestart, beginsUntimed: true) : Boundary(last: previous)
  }

  private mutating func learn(_ found: Boundary) {
    if found.last == known.last {
      endConfirmations = min(endConfirmations + 1, 3)
    } else if endConfirmations > 1 {
      endConfirmations -= 1
    } else {
      (known.last, endConfirmations) = (found.last, 1)
    }
    isPausing = found.pause > 0
    if found.beginsUntimed == known.beginsUntimed {
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
    if !found.beginsUntimed { start = 0 }
  }

  @inline(__always)
  private mutating func note(_ pause: UInt32, isUntimed: Bool) {
    guard pause > 0 else { return }
    if separates(pause) { places.pause() }
    if UInt64(pause) > 2 * UInt64(paused.pause) {
      paused = Boundary(last: previous, pause: pause, beginsUntimed: isUntimed)
    }
  }

  @inline(__always)
  private mutating func next(_ id: UInt64) -> Key {
    runLength = id == previous & 0xFFFF_FFFF_FFFF ? runLength &+ 1 : 0
    return id | UInt64(runLength) << 48
  }

  /// The kind of a sentence: the characters of its formatter, and of its talker for GSV and other equipment. A receiver's talker changes with
  /// the satellites in use. The kind of a UBX message is its class and id, which no formatter of letters has.
  @inline(__always)
  private static func mark(_ id: UInt64) -> BurstPlaces.Mark {
    if !isSentence(id) { return UInt16(truncatingIfNeeded: id) }
    func character(_ place: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: id >> place & 0x1F) }
    let talker = 0x8000 | character(32) << 5 | character(24)
    if UInt32(truncatingIfNeeded: id & 0xFF_FFFF) == GSV.formatter.code { return talker }
    let formatter = character(16) << 10 | character(8) << 5 | character(0)
    let isReceiver = PositionSources.isReceiver(Talker(code: UInt16(truncatingIfNeeded: id >> 24)))
    return isReceiver ? formatter : formatter ^ talker
  }

  /// Whether an id is a sentence's.
  @inline(__always)
  private static func isSentence(_ id: UInt64) -> Bool { id >> 41 & 1 == 1 }

  /// The bit that marks the last page of a group.
  static var pageBit: UInt64 { 1 << 42 }
}

/// A value that a message without a time shares with one that has it. If the value changes between two epochs, the message belongs to the
/// epoch with its value.
struct SharedValue: Sendable {
  /// Evidence of the burst of the message without a time.
  enum Finding { case none, agrees, isOfEarlier, isOfLater }
  /// The position of the last message without a time.
  private enum Place: UInt8 { case unused, afterTimed, betweenEpochs }

  /// The value of the last message without a time.
  private var untimed: Float = 0
  /// The value of the last epoch that has it; not a number for none.
  private var timed = Float.nan
  private var place = Place.unused
  private var isAhead = false
  /// The kinds since the last message with a time before that message, and its own kind.
  private(set) var kindsBefore: BurstPlaces.Kinds = 0
  private(set) var kind: BurstPlaces.Kinds = 0

  /// Adds the value of a message without a time.
  ///
  /// - Parameters:
  ///   - isAhead: whether the message was used for the next epoch.
  ///   - kindsBefore: the kinds before it since the last message with a time.
  ///   - kind: its own kind.
  @inline(__always)
  mutating func add(
    untimed value: Double?, isAhead: Bool, _ kindsBefore: BurstPlaces.Kinds, _ kind: BurstPlaces.Kinds
  ) {
    guard let value else { return }
    untimed = Float(value)
    place = .afterTimed
    self.isAhead = isAhead
    (self.kindsBefore, self.kind) = (kindsBefore, kind)
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
    return isOfLater == isAhead ? .agrees : isOfLater ? .isOfLater : .isOfEarlier
  }
}
