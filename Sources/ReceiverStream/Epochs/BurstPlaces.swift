// SPDX-License-Identifier: Apache-2.0

/// Records which sentences without a time precede which sentences with a time in a receiver's bursts.
///
/// Each pair that was in one burst is recorded separately, so a lost sentence does not move another one. A pause and two messages with one
/// time prove a place, and so does NAV-EOE. An assumed place counts only if none is recorded.
struct BurstPlaces: Sendable {
  /// A number for a kind of sentences, such as GSA; 0 for none.
  typealias Mark = UInt16
  /// Kinds of sentences without a time, by their index.
  typealias Kinds = UInt16

  private var untimed = InlineArray<12, Mark>(repeating: 0)
  /// Kinds of messages with a time. The last place is used again for each further one: a burst's last message needs a place most.
  private var timed = InlineArray<8, Mark>(repeating: 0)
  /// The kinds before each kind with a time, and the kinds that are recorded as before or behind it.
  private var preceding = InlineArray<8, Kinds>(repeating: 0)
  private var known = InlineArray<8, Kinds>(repeating: 0)
  /// The kinds with a time before each of them, as bits.
  private var timedPreceding = InlineArray<8, UInt8>(repeating: 0)
  /// The kinds with several places in a burst.
  private var repeated: Kinds = 0
  /// The kinds before the burst's last message with a time, and those of them whose burst is assumed.
  private var ofBurst: Kinds = 0
  private var assumed: Kinds = 0
  /// The kinds since the last message with a time: of its burst, of the next one, and between two pauses.
  private var behind: Kinds = 0
  private var ahead: Kinds = 0
  private var uncertain: Kinds = 0
  /// Those of the burst before the last time of output.
  private var beforeOutput: Kinds = 0
  /// The kinds between the last two epochs.
  private(set) var between: Kinds = 0
  /// The kinds with a time of the burst, as bits, and of the burst before.
  private var timedOfBurst: UInt8 = 0
  private var timedOfEarlier: UInt8 = 0
  /// The index of the last kind without a time; -1 for one that is not in the list.
  private var last: Int8 = -1
  /// The index of the last kind with a time in the burst, and in the burst before; -1 for none.
  private var lastTimed: Int8 = -1
  private var lastOfEarlier: Int8 = -1
  /// Whether a pause between bursts followed the last message with a time, or it was the end of its burst.
  private var isPaused = false

  /// The kinds since the last message with a time.
  private var run: Kinds { behind | ahead | uncertain }
  /// The last kind without a time, and those before it since the last message with a time.
  var lastKind: Kinds { last < 0 ? 0 : 1 << Kinds(last) }
  var beforeLast: Kinds { run & ~lastKind }

  /// Whether a sentence precedes the last message with a time in a burst, and is therefore in the next one.
  @inline(__always)
  func isEarlier(_ mark: Mark) -> Bool {
    if isPaused { return true }
    if lastTimed < 0 { return false }
    let kinds = preceding[Int(lastTimed)] & ~repeated
    if kinds == 0 { return false }
    let index = index(of: mark)
    return index >= 0 && kinds >> Kinds(index) & 1 == 1
  }

  /// The index of a kind without a time, or of the first free place; -1 if the list is full.
  @inline(__always)
  private func index(of mark: Mark) -> Int8 {
    last >= 0 && untimed[Int(last)] == mark ? last : Self.index(of: mark, in: untimed)
  }

  private static func index<let count: Int>(of mark: Mark, in marks: InlineArray<count, Mark>) -> Int8 {
    for index in 0..<count where marks[index] == mark || marks[index] == 0 { return Int8(truncatingIfNeeded: index) }
    return -1
  }

  /// Adds a sentence without a time, of the burst of the last message with a time or of the next one.
  @inline(__always)
  mutating func add(untimed mark: Mark, isAhead: Bool) {
    last = index(of: mark)
    if last >= 0 { untimed[Int(last)] = mark }
    if isAhead || isPaused || ahead != 0 { ahead |= lastKind } else { behind |= lastKind }
  }

  /// Adds a time of output that may be the next position's.
  mutating func noteOutput() { beforeOutput = behind }

  /// Handles that it is: it began a burst.
  mutating func startBurstAtOutput() {
    ahead |= behind & ~beforeOutput
    behind &= beforeOutput
    isPaused = true
  }

  /// Adds a pause between two bursts, or the message that ends one.
  mutating func pause() {
    if isPaused { uncertain |= ahead } else { behind |= ahead }
    (ahead, isPaused) = (0, true)
  }

  /// Adds a message with a time.
  mutating func add(timed mark: Mark, isNew: Bool) {
    let index = indexToReuse(for: mark)
    if isNew {
      between = run
      let both = behind & ahead
      // A pause proves the burst.
      set(behind & ~both, precede: false, timedOfBurst, isProved: isPaused)
      ofBurst = ahead & ~both
      assumed = isPaused ? 0 : ofBurst
      (timedOfEarlier, lastOfEarlier) = (timedOfBurst, lastTimed)
      (timedOfBurst, lastTimed) = (0, -1)
      if lastOfEarlier >= 0 {
        // They precede the last message of a burst, but not the first one.
        repeated |= assumed & preceding[Int(lastOfEarlier)] & known[Int(index)] & ~preceding[Int(index)]
      }
    } else {
      set(run, precede: false, timedOfBurst, isProved: true)
      if timedOfBurst >> UInt8(index) & 1 == 0 { repeated |= run & ofBurst & ~assumed }
      ofBurst |= run
      assumed &= ~run
    }
    addTimed(index)
    (behind, ahead, uncertain, isPaused) = (0, 0, 0, false)
  }

  /// The index of a kind with a time. A full list forgets its last kind.
  private mutating func indexToReuse(for mark: Mark) -> Int8 {
    let found = Self.index(of: mark, in: timed)
    if found >= 0 {
      timed[Int(found)] = mark
      return found
    }
    let index = timed.count - 1
    timed[index] = mark
    (preceding[index], known[index], timedPreceding[index]) = (0, 0, 0)
    let others = ~(1 << UInt8(index)) as UInt8
    for other in 0..<index { timedPreceding[other] &= others }
    timedOfBurst &= others
    timedOfEarlier &= others
    return Int8(truncatingIfNeeded: index)
  }

  private mutating func addTimed(_ index: Int8) {
    lastTimed = index
    let own: UInt8 = 1 << UInt8(index)
    // A second one is of a burst that was written twice.
    if timedOfBurst & own != 0 { return }
    for other in timed.indices where timedOfBurst >> UInt8(other) & 1 == 1 && timedPreceding[other] & own != 0 {
      // The receiver has another order, as some modems do without a fix.
      (preceding, known) = (.init(repeating: 0), .init(repeating: 0))
      (timedPreceding, repeated) = (.init(repeating: 0), 0)
    }
    timedPreceding[Int(index)] |= timedOfBurst
    timedOfBurst |= own
    set(ofBurst & ~assumed, precede: true, own, isProved: true)
    set(assumed, precede: true, own, isProved: false)
  }

  /// Records whether kinds precede kinds with a time.
  private mutating func set(_ kinds: Kinds, precede: Bool, _ timed: UInt8, isProved: Bool) {
    if kinds == 0 { return }
    for index in known.indices where timed >> UInt8(index) & 1 == 1 {
      let kinds = isProved ? kinds : kinds & ~known[index]
      known[index] |= kinds
      if precede { preceding[index] |= kinds } else { preceding[index] &= ~kinds }
    }
  }

  /// Moves kinds between the last two epochs to the later one.
  mutating func moveAhead(_ kinds: Kinds) {
    ofBurst |= kinds
    assumed &= ~kinds
    set(kinds, precede: true, timedOfBurst, isProved: true)
    if lastOfEarlier >= 0 { set(kinds, precede: true, 1 << UInt8(lastOfEarlier), isProved: true) }
  }

  /// Moves kinds between the last two epochs to the earlier one.
  mutating func moveBehind(_ kinds: Kinds) {
    ofBurst &= ~kinds
    set(kinds, precede: false, timedOfBurst | timedOfEarlier, isProved: true)
  }

  /// Discards the sentences before the first message with a time.
  mutating func discardStart() {
    for index in known.indices {
      preceding[index] &= ~assumed
      known[index] &= ~assumed
    }
    ofBurst &= ~assumed
    (assumed, behind, ahead, uncertain, isPaused) = (0, 0, 0, 0, false)
  }
}
