// SPDX-License-Identifier: Apache-2.0

// The only file of the module that imports the C library, for functions that the standard library lacks.
import func Glibc.atan
import func Glibc.atan2
import func Glibc.cos
import func Glibc.pow
import func Glibc.sin
import func Glibc.tan

/// Trigonometry in degrees, and other functions that the standard library lacks.
enum Trigonometry {
  static func sine(degrees: Double) -> Double { sin(degrees * .pi / 180) }
  static func cosine(degrees: Double) -> Double { cos(degrees * .pi / 180) }
  static func tangent(degrees: Double) -> Double { tan(degrees * .pi / 180) }
  static func arcTangent(_ value: Double) -> Double { atan(value) }
  static func arcTangent(y: Double, x: Double) -> Double { atan2(y, x) }
  static func sine(_ radians: Double) -> Double { sin(radians) }
  static func cosine(_ radians: Double) -> Double { cos(radians) }
  static func powerOfTen(_ exponent: Double) -> Double { pow(10, exponent) }

  /// The angle in 0 ≤ angle < 360.
  static func wrapped(degrees: Double) -> Double {
    let remainder = degrees.truncatingRemainder(dividingBy: 360)
    return remainder < 0 ? (remainder + 360 == 360 ? 0 : remainder + 360) : remainder
  }
}
