import Glibc

/// Which way a device points, from the magnetic field and from where up is, both along its axes.
enum Attitude {
  /// Above this share of the vertical the top points too steeply up or down to tell a direction: 60°. The back's direction
  /// is told then, which is the same one for a device that was raised before the eyes.
  private static let steep = 0.866

  struct Direction {
    /// 0 ≤ heading < 360, from magnetic north.
    var magneticDegrees: Double
    /// The field's part along the ground.
    var horizontalMicrotesla: Double
  }

  /// - Parameters:
  ///   - field: the earth's, without the device's own.
  ///   - up: any length but 0.
  /// - Returns: nil where the field stands upright, as at the magnetic poles.
  static func direction(field: SIMD3<Double>, up: SIMD3<Double>) -> Direction? {
    let up = up / up.length
    let east = field.cross(up)
    let horizontal = east.length
    // 1° from the vertical; a share, so that a driver with another unit shows a direction as well.
    guard horizontal > 0.02 * field.length else { return nil }
    let north = up.cross(east)
    let pointer = abs(up.y) > steep ? SIMD3(0, 0, up.y > 0 ? -1.0 : 1.0) : SIMD3(0, 1, 0)
    let degrees = atan2(pointer.dot(east), pointer.dot(north)) * 180 / .pi
    return Direction(magneticDegrees: degrees < 0 ? degrees + 360 : degrees, horizontalMicrotesla: horizontal)
  }

  /// Degrees that an error across the field turns the heading by.
  static func degrees(error: Double, horizontal: Double) -> Double { atan2(error, horizontal) * 180 / .pi }
}
