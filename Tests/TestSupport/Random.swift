/// SplitMix64 (S. Vigna): a random generator that a seed determines, so that a failing test can be run again.
public struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number within `range`. Small ranges are what tests draw from; their bias is of no account.
  public mutating func int(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  public mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var word: UInt64 = 0
    for index in 0..<count {
      if index % 8 == 0 { word = next() }
      bytes.append(UInt8(truncatingIfNeeded: word))
      word >>= 8
    }
    return bytes
  }

  /// True once in `times` draws.
  public mutating func oneIn(_ times: Int) -> Bool { next() % UInt64(times) == 0 }

  public mutating func element<Element>(of elements: [Element]) -> Element {
    elements[int(0...elements.count - 1)]
  }
}
