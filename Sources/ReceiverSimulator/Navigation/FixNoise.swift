// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The error of fixes: a random walk that is pulled back (a Gauss-Markov process), so that it changes over minutes
/// like that of real receivers.
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

  mutating func unit() -> Double { random.unit() }
}
