// SPDX-License-Identifier: Apache-2.0

/// The group of sentences that list the satellites in view of one talker. A list is not reported if its end is missing, or if its parts
/// may belong to different epochs.
struct SatelliteGroup: Sendable {
  private var sender: UInt32 = 0
  /// The sender of the first sentence of the list.
  private var firstSender: UInt32 = 0
  private var number: UInt8 = 0
  private var isOpen = false
  /// Whether the receiver ended a group early, and has never sent a whole one: it announces more sentences than it sends.
  private var endsEarly = false
  private var hasEnd = false
  /// Whether the group began in an earlier burst.
  private var isSpread = false
  /// How often a group continued in another burst, up to 2. Lost sentences can make a group look spread once, unless it has three
  /// sentences in three bursts.
  private var spreads: UInt8 = 0
  private var enough: UInt8 = 2
  private var isSingle = true
  /// The position of the signal in a sender; the bits below it are the talker or system.
  static var signalShift: UInt32 { 17 }
  private static var systems: UInt32 { 1 << signalShift - 1 }

  /// Whether sentences of the group are missing, or may be of another epoch.
  var isIncomplete: Bool { isOpen && !endsEarly || isSpread && spreads < enough }

  /// Adds a sentence. Returns whether it continues the group, or the list, of an earlier burst.
  ///
  /// - Parameters:
  ///   - number: its number in the group, from 1.
  ///   - sentences: the number of sentences in the group.
  ///   - sender: the talker, or system, and the signal above `signalShift`.
  ///   - isFirst: whether it is the first of its burst.
  ///   - isAfterPause: whether a pause of unknown meaning precedes it. A list begins with the same sender in each burst: with
  ///     another one, the sentence continues the list before the pause.
  @inline(__always)
  mutating func add(_ number: Int32, of sentences: Int32, sender: UInt32, isFirst: Bool, isAfterPause: Bool) -> Bool {
    // The next sentence of the group, in the same burst.
    guard isOpen, !isFirst, sender == self.sender, number == Int32(self.number) &+ 1 else {
      return begin(number, of: sentences, sender: sender, isFirst: isFirst, isAfterPause: isAfterPause)
    }
    (isSingle, enough) = (false, 2)
    advance(to: number, of: sentences)
    return false
  }

  @inline(__always)
  private mutating func advance(to number: Int32, of sentences: Int32) {
    self.number = UInt8(truncatingIfNeeded: number)
    isOpen = number < sentences
    guard !isOpen else { return }
    (hasEnd, endsEarly) = (true, false)
    if !isSpread, sentences > 1 { spreads = 0 }
  }

  @inline(never)
  private mutating func begin(
    _ number: Int32, of sentences: Int32, sender: UInt32, isFirst: Bool, isAfterPause: Bool
  ) -> Bool {
    let continues = isOpen && (sender ^ self.sender) & Self.systems == 0 && number == Int32(self.number) &+ 1
    if !continues || isFirst {
      if isOpen, !continues, number == 1, !hasEnd { endsEarly = true }
      isSpread = continues
      if !continues { isSingle = true }
      if continues, spreads < 2 { spreads += 1 }
    } else {
      isSingle = false
    }
    let continuesList = isFirst && isAfterPause && !continues && sender != firstSender && firstSender != 0
    if isFirst, !continues, !continuesList { firstSender = sender }
    enough = sentences > 2 && isSingle ? 1 : 2
    self.sender = sender
    advance(to: number, of: sentences)
    return continues && isFirst || continuesList
  }
}

/// The used satellites of a receiver that does not send GSA in each burst.
struct EarlierUse: Sendable {
  /// The number of epochs for which they are valid, as the mode of GSA is.
  static var most: UInt8 { 10 }

  var used = SatelliteSet()
  var unmatched = UnmatchedSatellites()
  /// The number of epochs since.
  var age: UInt8 = 0

  /// Takes the used satellites of a burst with GSA.
  mutating func add(_ burst: borrowing UntimedValues) {
    guard burst.fixMode != nil || burst.usedCount > 0 else { return }
    used = burst.used
    unmatched = burst.unmatched
    age = 0
  }
}
