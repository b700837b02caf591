import Glibc
import HostSensors
import MonotonicTime

/// The earth's field in Munich, microtesla: 21 along the ground to the north, 44 downwards.
let northMicrotesla = 21.0
let downMicrotesla = 44.0

/// A device that is held in a way: its heading, then raised by its top, then leant to its right.
struct Pose {
  var heading = 0.0
  var pitch = 0.0
  var roll = 0.0

  /// A vector that is given to the east, north and up, along the device's axes.
  func device(_ world: SIMD3<Double>) -> SIMD3<Double> {
    let (h, p, r) = (heading * .pi / 180, pitch * .pi / 180, roll * .pi / 180)
    // The device's right, top and front: turned about the vertical, raised, leant about its long axis.
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
  /// What an accelerometer at rest measures.
  var acceleration: SIMD3<Double> { device(SIMD3(0, 0, 9.81)) }
}

func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

/// Degrees between two directions.
func turn(_ a: Double, _ b: Double) -> Double {
  let rest = abs(a - b).truncatingRemainder(dividingBy: 360)
  return min(rest, 360 - rest)
}
