// SPDX-License-Identifier: Apache-2.0

import func Glibc.cos
import func Glibc.exp
import func Glibc.log
import func Glibc.sin

/// The error of fixes: a random walk that is pulled back (a Gauss-Markov process), so that it changes over minutes
/// like a real receiver's error.
struct FixNoise: Sendable {
  private var random: SeededRandomNumberGenerator
  private var north = 0.0
  private var east = 0.0
  private var up = 0.0

  /// The time constant in seconds of the random walk.
  private static let correlationSeconds = 60.0

  init(seed: UInt64) { random = SeededRandomNumberGenerator(seed: seed) }

  /// Standard deviation of one horizontal axis, metres.
  static func deviation(under sky: SkyView, highPrecision: Bool) -> Double {
    switch sky {
    case .open: highPrecision ? 0.7 : 1.0
    case .urban: 5
    case .indoor, .none: 14
    }
  }

  /// The error of an epoch `seconds` after the last one, for a deviation of one axis; metres.
  mutating func next(after seconds: Double, deviation: Double) -> (north: Double, east: Double, up: Double) {
    let kept = exp(-seconds / Self.correlationSeconds)
    let fresh = deviation * max(0, 1 - kept * kept).squareRoot()
    north = north * kept + fresh * random.normal()
    east = east * kept + fresh * random.normal()
    up = up * kept + 1.5 * fresh * random.normal()
    return (north, east, up)
  }

  /// Resets the error: fixes after a start are independent of those before.
  mutating func restart(deviation: Double) {
    north = deviation * random.normal()
    east = deviation * random.normal()
    up = 1.5 * deviation * random.normal()
  }

  /// The error of one axis of the velocity, metres per second.
  mutating func velocity(under sky: SkyView) -> Double { random.normal() * Self.velocityDeviation(under: sky) }

  static func velocityDeviation(under sky: SkyView) -> Double {
    switch sky {
    case .open: 0.05
    case .urban: 0.2
    case .indoor, .none: 0.4
    }
  }
}

/// The random number generator of simulations and tests: SplitMix64 (S. Vigna). A seed determines the sequence, so
/// that a run can be repeated on every machine.
public struct SeededRandomNumberGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64
  private var spare: Double?

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number in 0..<limit. The bias is negligible for small limits.
  public mutating func next(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// A number in the range; see `next(below:)`.
  public mutating func int(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + next(below: range.upperBound - range.lowerBound + 1)
  }

  /// True once in `times` draws.
  public mutating func oneIn(_ times: Int) -> Bool { next(below: times) == 0 }

  public mutating func element<Element>(of elements: [Element]) -> Element { elements[next(below: elements.count)] }

  /// A number in 0..<1.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number in the range.
  public mutating func number(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * unit()
  }

  /// A number of the normal distribution of mean 0 and deviation 1 (G. Box, M. Muller).
  public mutating func normal() -> Double {
    if let spare {
      self.spare = nil
      return spare
    }
    let radius = (-2 * log(max(unit(), 1e-300))).squareRoot()
    let angle = 2 * Double.pi * unit()
    spare = radius * sin(angle)
    return radius * cos(angle)
  }
}
