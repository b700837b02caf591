// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The direction in which a device points, from the magnetic field and the vertical, both along its axes.
enum Attitude {
  /// The fraction of the vertical above which the top points too steeply up or down to define a direction: 60°. The
  /// direction of the back is then used, which is the same for a device that was raised to the eyes.
  private static let steep = 0.866

  struct Direction {
    /// 0 ≤ heading < 360, from magnetic north.
    var magneticDegrees: Double
    /// The horizontal part of the field.
    var horizontalMicrotesla: Double
  }

  /// - Parameters:
  ///   - field: the earth's field, without the device's own.
  ///   - up: the vertical, of any length but 0.
  /// - Returns: nil if the field is vertical, as at the magnetic poles.
  static func direction(field: SIMD3<Double>, up: SIMD3<Double>) -> Direction? {
    let up = up / up.length
    let east = field.cross(up)
    let horizontal = east.length
    // 1° from the vertical. A fraction also fits drivers with another unit.
    guard horizontal > 0.02 * field.length else { return nil }
    let north = up.cross(east)
    let pointer = abs(up.y) > steep ? SIMD3(0, 0, up.y > 0 ? -1.0 : 1.0) : SIMD3(0, 1, 0)
    let degrees = atan2(pointer.dot(east), pointer.dot(north)) * 180 / .pi
    return Direction(magneticDegrees: degrees < 0 ? degrees + 360 : degrees, horizontalMicrotesla: horizontal)
  }

  /// Returns the error of the heading for an error across the field, degrees.
  static func degrees(error: Double, horizontal: Double) -> Double { atan2(error, horizontal) * 180 / .pi }
}
