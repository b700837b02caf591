// SPDX-License-Identifier: Apache-2.0
import Glibc
import ReceiverSimulator

/// Distributions for the simulated days, with one or two draws each, so that the same seed makes the same day.
extension SeededRandomNumberGenerator {
  /// An exponentially distributed number.
  mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

  /// A normally distributed number of mean 0.
  mutating func normal(deviation: Double) -> Double {
    deviation * (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
  }
}
