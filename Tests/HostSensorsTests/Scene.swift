// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocationService
import MonotonicTime

/// The earth's field in Munich, microtesla: 21 to the north, 44 downwards.
let northMicrotesla = 21.0
let downMicrotesla = 44.0

/// The attitude of a device: its heading, then its top is raised, then it is tilted to its right.
struct Pose {
  var heading = 0.0
  var pitch = 0.0
  var roll = 0.0

  /// Returns a vector of east, north and up along the device's axes.
  func device(_ world: SIMD3<Double>) -> SIMD3<Double> {
    let (h, p, r) = (heading * .pi / 180, pitch * .pi / 180, roll * .pi / 180)
    // The device's right, top and front: turned about the vertical, raised, tilted about its long axis.
    let right = SIMD3(cos(h), -sin(h), 0)
    let ahead = SIMD3(sin(h), cos(h), 0)
    let vertical = SIMD3(0.0, 0, 1)
    let top = ahead * cos(p) + vertical * sin(p)
    let front = vertical * cos(p) - ahead * sin(p)
    let x = right * cos(r) - front * sin(r)
    let z = front * cos(r) + right * sin(r)
    return SIMD3((x * world).sum(), (top * world).sum(), (z * world).sum())
  }

  var field: SIMD3<Double> { device(SIMD3(0, northMicrotesla, -downMicrotesla)) }
  /// The measurement of a stationary accelerometer.
  var acceleration: SIMD3<Double> { device(SIMD3(0, 0, 9.81)) }
}

func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

/// Returns the degrees between two directions.
func turn(_ a: Double, _ b: Double) -> Double {
  let difference = abs(a - b).truncatingRemainder(dividingBy: 360)
  return min(difference, 360 - difference)
}
