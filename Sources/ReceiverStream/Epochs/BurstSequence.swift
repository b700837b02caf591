// SPDX-License-Identifier: Apache-2.0

/// The order in which a receiver writes the sentences of a burst. A burst may lack any of them, so that each shows its place in it.
struct BurstSequence: Sendable {
  /// A number of a sentence, from its address; 0 for none.
  typealias Mark = UInt32
  private static var capacity: Int { 16 }

  private var marks = InlineArray<16, Mark>(repeating: 0)
  private var count: Int8 = 0
  /// The place of the burst's last sentence; -1 before the first one.
  private var place: Int8 = -1
  /// The place of the burst's last message with a time; -1 before the first one.
  private var timedPlace: Int8 = -1
  /// The place of the first sentence since the last message with a time that precedes the one before it; -1 for none.
  private var wrapped: Int8 = -1

  var isEmpty: Bool { count == 0 }
  /// The first sentence of a burst; 0 for none.
  var first: Mark { marks[0] }

  @inline(__always)
  private func place(of mark: Mark) -> Int8? {
    for index in 0..<Int(count) where marks[index] == mark { return Int8(truncatingIfNeeded: index) }
    return nil
  }

  /// Whether a sentence precedes the burst's last message with a time, and is therefore in the next burst. Sentences after that message may
  /// be repeated, such as GSV of a talker for several signals.
  func isEarlier(_ mark: Mark) -> Bool { place(of: mark).map { $0 < timedPlace } ?? false }

  /// Whether a sentence precedes another one in a burst.
  func isAscending(_ earlier: Mark, _ later: Mark) -> Bool {
    guard let earlier = place(of: earlier), let later = place(of: later) else { return false }
    return earlier < later
  }

  /// Adds a sentence if it is of the same kind as the last one, or usually follows it.
  @inline(__always)
  mutating func goOn(_ mark: Mark) -> Bool {
    if place >= 0, marks[Int(place)] == mark { return true }
    guard place &+ 1 < count, marks[Int(place) + 1] == mark else { return false }
    place &+= 1
    return true
  }

  /// Adds a sentence. One that is not known follows the last one from now on.
  mutating func add(_ mark: Mark) {
    if goOn(mark) { return }
    if let found = place(of: mark) {
      if found < timedPlace, wrapped < 0 { wrapped = found }
      place = found
      return
    }
    guard count < Self.capacity else { return }
    place &+= 1
    var index = Int(count)
    while index > Int(place) {
      marks[index] = marks[index - 1]
      index -= 1
    }
    marks[index] = mark
    count &+= 1
  }

  /// Adds a message with a time. Returns false if it shows another order, because it belongs to the same burst as the message before
  /// it: then the order is not known from the first sentence on that contradicts it.
  mutating func add(_ mark: Mark, isNew: Bool) -> Bool {
    add(mark)
    defer { (wrapped, timedPlace) = (-1, place) }
    guard !isNew, wrapped >= 0 else { return true }
    for index in Int(wrapped)..<Int(count) { marks[index] = 0 }
    count = wrapped
    place = count &- 1
    add(mark)
    return false
  }

  /// Handles the time of a new epoch.
  ///
  /// - Parameter isInBurst: whether sentences before the message with the time have begun its burst.
  mutating func beginEpoch(isInBurst: Bool) {
    wrapped = -1
    if !isInBurst { restart() }
  }

  func contains(_ mark: Mark) -> Bool { place(of: mark) != nil }

  /// Begins a burst.
  mutating func restart() { (place, timedPlace) = (-1, -1) }

  /// Makes a sentence the first one of a burst. Returns false if it is not known.
  @discardableResult
  mutating func begin(with mark: Mark) -> Bool {
    guard let found = place(of: mark) else { return false }
    rotate(Int(found))
    return true
  }

  /// Makes the sentence after another one the first of a burst. Returns false if that is not known.
  mutating func begin(after mark: Mark) -> Bool {
    guard let found = place(of: mark) else { return false }
    rotate((Int(found) + 1) % Int(count))
    return true
  }

  private mutating func rotate(_ distance: Int) {
    let (old, length) = (marks, Int(count))
    for index in 0..<length { marks[index] = old[(index + distance) % length] }
    if place >= 0 { place = Int8(truncatingIfNeeded: (Int(place) + length - distance) % length) }
    if timedPlace >= 0 { timedPlace = Int8(truncatingIfNeeded: (Int(timedPlace) + length - distance) % length) }
  }
}
