// SPDX-License-Identifier: Apache-2.0
import LocationService
import Testing

@Suite("Movement by an accelerometer")
struct MovementTests {
  private let gravity = SIMD3(0.1, -0.2, 9.8)

  private func movements(_ measurements: [SIMD3<Double>]) -> [Int] {
    var watch = MovementWatch()
    return measurements.indices.filter { watch.receive(measurements[$0]) }
  }

  @Test("A stationary device does not move, whatever the sensor's noise and its drift with the temperature")
  func stationary() {
    let noise = [SIMD3(0.05, 0, -0.04), SIMD3(-0.04, 0.05, 0), SIMD3(0, -0.05, 0.05)]
    let day = (0..<43_200).map { gravity + noise[$0 % 3] + SIMD3(0, 0, Double($0) * 0.00005) }
    #expect(movements(day) == [])
  }

  @Test("A slammed door is not movement; the engine and the road are")
  func vehicle() {
    let door = SIMD3(2.0, 0, 0)
    #expect(movements([gravity, gravity, gravity + door, gravity, gravity, gravity, gravity]) == [])
    #expect(movements([gravity, gravity, gravity + door, gravity, gravity - door, gravity]) == [4])
  }

  @Test("A device that is picked up is noticed at the second measurement; its new position is stationary again")
  func tilt() {
    let leaning = SIMD3(1.7, -0.2, 9.65)
    #expect(movements([gravity, gravity, leaning, leaning, leaning, leaning, leaning]) == [3])
  }
}
