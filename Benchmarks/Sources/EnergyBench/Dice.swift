import Glibc

/// SplitMix64 (S. Vigna): a day is the same for the same seed.
struct Dice: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// From 0 to below 1.
  mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

  mutating func number(_ range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * unit()
  }

  mutating func int(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  mutating func oneIn(_ times: Int) -> Bool { next() % UInt64(times) == 0 }

  mutating func element<Element>(of elements: [Element]) -> Element { elements[int(0...elements.count - 1)] }

  /// Exponentially distributed.
  mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

  /// Normally distributed.
  mutating func normal(deviation: Double) -> Double {
    deviation * (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
  }
}
