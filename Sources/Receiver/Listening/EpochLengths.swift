// SPDX-License-Identifier: Apache-2.0

/// The lengths of recent epochs, in bytes. A receiver that reports satellites in every fifth epoch has two lengths.
struct EpochLengths: Sendable {
  /// The difference, in bytes, up to which two epochs have the same messages.
  private static var alike: Int { 24 }

  private var lengths = InlineArray<16, Int>(repeating: 0)
  private var count = 0
  private var at = 0

  /// The last length; nil before the first epoch.
  var last: Int? { count == 0 ? nil : lengths[(at + 15) % 16] }
  /// The shortest length; nil before the first epoch.
  private(set) var shortest: Int?
  /// The longest length.
  private(set) var longest = 0

  mutating func append(_ length: Int) {
    lengths[at] = length
    at = (at + 1) % 16
    count = min(count + 1, 16)
    span()
  }

  /// Adds bytes to the last epoch, which was not over.
  mutating func lengthenLast(by bytes: Int) {
    guard count > 0 else { return }
    lengths[(at + 15) % 16] += bytes
    span()
  }

  /// Whether an epoch had about this length.
  func has(_ length: Int) -> Bool {
    for index in 0..<count where abs(lengths[index] - length) <= Self.alike { return true }
    return false
  }

  /// Returns the shortest possible length of an epoch with so many bytes so far; nil if it can be over at any of them.
  func next(after bytes: Int) -> Int? {
    var found: Int?
    for index in 0..<count {
      let length = lengths[index]
      if length > bytes {
        found = min(found ?? length, length)
      } else if bytes - length < Self.alike {
        return nil
      }
    }
    return found
  }

  private mutating func span() {
    var (least, most) = (lengths[0], lengths[0])
    for index in 1..<max(count, 1) { (least, most) = (min(least, lengths[index]), max(most, lengths[index])) }
    (shortest, longest) = (least, most)
  }
}
