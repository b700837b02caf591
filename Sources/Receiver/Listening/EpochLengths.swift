/// How many bytes the last epochs had. A receiver that tells its satellites in every fifth epoch alone has two lengths.
struct EpochLengths: Sendable {
  /// Bytes that an epoch may have more than another and be of the same messages.
  private static var alike: Int { 24 }

  private var lengths = InlineArray<16, Int>(repeating: 0)
  private var count = 0
  private var at = 0

  /// Of the last one; nil when there was none.
  var last: Int? { count == 0 ? nil : lengths[(at + 15) % 16] }
  /// Of the shortest; nil when there was none.
  private(set) var shortest: Int?
  /// Of the longest.
  private(set) var longest = 0

  mutating func append(_ length: Int) {
    lengths[at] = length
    at = (at + 1) % 16
    count = min(count + 1, 16)
    span()
  }

  /// The last one was not over.
  mutating func lengthenLast(by bytes: Int) {
    guard count > 0 else { return }
    lengths[(at + 15) % 16] += bytes
    span()
  }

  /// Whether an epoch had about as many bytes.
  func has(_ length: Int) -> Bool {
    for index in 0..<count where abs(lengths[index] - length) <= Self.alike { return true }
    return false
  }

  /// The length that an epoch of so many bytes so far may have at least; nil when it may be over with each of them.
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
