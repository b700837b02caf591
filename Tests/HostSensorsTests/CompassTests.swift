// SPDX-License-Identifier: Apache-2.0
import LocationService
import MonotonicTime
import Testing

@Suite("The compass")
struct CompassTests {
  private let own = SIMD3(30.0, -55, 12)

  private func reading(_ pose: Pose, hasAccelerometer: Bool = true) -> CompassReading? {
    var compass = Compass()
    return compass.receive(
      field: pose.field, acceleration: hasAccelerometer ? pose.acceleration : nil, at: .zero)
  }

  @Test("A level device shows its heading", arguments: Array(stride(from: 0.0, to: 360, by: 15)))
  func level(heading: Double) throws {
    let degrees = try #require(reading(Pose(heading: heading))).magneticDegrees
    #expect(turn(degrees, heading) < 1e-9)
    #expect((0..<360).contains(degrees))
    #expect(
      try turn(#require(reading(Pose(heading: heading), hasAccelerometer: false)).magneticDegrees, heading) < 1e-9)
  }

  @Test(
    "A tilted device shows the same heading, with an accelerometer",
    arguments: [(30.0, 0.0), (-45, 0), (0, 40), (20, -60), (50, 170), (-10, 90)])
  func tilt(pitch: Double, roll: Double) throws {
    for heading in stride(from: 0.0, to: 360, by: 40) {
      let pose = Pose(heading: heading, pitch: pitch, roll: roll)
      #expect(try turn(#require(reading(pose)).magneticDegrees, heading) < 1e-9)
    }
  }

  @Test("An upright device shows the direction of its back")
  func upright() throws {
    #expect(try turn(#require(reading(Pose(heading: 70, pitch: 90))).magneticDegrees, 70) < 1e-9)
    #expect(try turn(#require(reading(Pose(heading: 70, pitch: 65))).magneticDegrees, 70) < 1e-9)
    #expect(try turn(#require(reading(Pose(heading: 70, pitch: -80))).magneticDegrees, 70) < 1e-9)
  }

  @Test("A vertical field gives no heading")
  func pole() {
    var compass = Compass()
    #expect(compass.receive(field: SIMD3(0, 0.1, -60), acceleration: nil, at: .zero) == nil)
    #expect(compass.receive(field: SIMD3(), acceleration: nil, at: instant(100)) == nil)
  }

  @Test("HD-16 without a calibration a heading is a guess, and not valid where the field is not the earth's")
  func uncalibrated() throws {
    #expect(try #require(reading(Pose())).accuracyDegrees == 45)
    var compass = Compass()
    #expect(compass.receive(field: SIMD3(300, 20, -44), acceleration: nil, at: .zero)?.accuracyDegrees == -1)
  }

  /// Turns a device with its own field about all its axes, with ten measurements per second.
  private func turnAround(_ compass: inout Compass, from seconds: Double = 0, noise: Double = 0) -> CompassReading? {
    var last: CompassReading?
    var shake = 0.0
    for step in 0..<600 {
      let pose = Pose(
        heading: Double(step) * 7, pitch: Double(step % 120) * 3 - 180, roll: Double(step) * 1.3)
      shake = -shake.sign2 * noise
      last = compass.receive(
        field: pose.field + own + SIMD3(shake, -shake, shake), acceleration: pose.acceleration,
        at: instant(seconds + Double(step) / 10))
    }
    return last
  }

  private func events(_ compass: inout Compass) -> [Compass.Event] {
    var events: [Compass.Event] = []
    while let event = compass.nextEvent() { events.append(event) }
    return events
  }

  @Test("A device that is turned around learns its own field, reports it, and shows correct headings")
  func calibration() throws {
    var compass = Compass()
    _ = turnAround(&compass, noise: 0.5)
    let found = try #require(compass.calibration)
    #expect(((found.offsetMicrotesla - own) * (found.offsetMicrotesla - own)).sum().squareRoot() < 0.5)
    #expect(abs(found.strengthMicrotesla - 48.75) < 0.5 && found.isSpatial)
    let events = events(&compass)
    #expect(events.first == .calibrationWanted)
    #expect(events.contains(.calibrated))
    for (index, heading) in [10.0, 100, 190, 280].enumerated() {
      let pose = Pose(heading: heading, pitch: 20, roll: 10)
      var reading: CompassReading?
      for step in 0..<40 {
        reading = compass.receive(
          field: pose.field + own, acceleration: pose.acceleration, at: instant(100 + Double(index * 40 + step) / 10))
      }
      #expect(try turn(#require(reading).magneticDegrees, heading) < 2)
      #expect((2...5).contains(try #require(reading).accuracyDegrees))
    }
  }

  @Test("A vehicle that turns about one axis finds its own horizontal field")
  func planar() throws {
    var compass = Compass()
    for step in 0..<72 {
      let field = Pose(heading: Double(step) * 5).field + own
      _ = compass.receive(field: field, acceleration: nil, at: instant(Double(step) / 10))
    }
    let found = try #require(compass.calibration)
    #expect(!found.isSpatial && abs(found.strengthMicrotesla - northMicrotesla) < 0.2)
    var reading: CompassReading?
    for step in 0..<40 {
      reading = compass.receive(
        field: Pose(heading: 123).field + own, acceleration: nil, at: instant(20 + Double(step) / 10))
    }
    #expect(try turn(#require(reading).magneticDegrees, 123) < 0.5)
    // There is no accelerometer.
    #expect(try #require(reading).accuracyDegrees > 10)
  }

  @Test("Half a turn gives no calibration")
  func halfTurn() {
    var compass = Compass()
    for step in 0..<36 {
      _ = compass.receive(
        field: Pose(heading: Double(step) * 5).field + own, acceleration: nil, at: instant(Double(step)))
    }
    #expect(compass.calibration == nil)
  }

  @Test("A stored calibration serves the next run at once; a magnet beside the device is noticed, and its removal")
  func disturbance() {
    var compass = Compass()
    _ = turnAround(&compass)
    compass.finish()
    let kept = events(&compass).compactMap { event in if case .keep(let found) = event { found } else { nil } }
    var next = Compass(calibration: kept.last)
    #expect(next.receive(field: Pose().field + own, acceleration: nil, at: .zero)?.accuracyDegrees ?? -1 >= 0)
    for second in 1..<10 {
      _ = next.receive(field: Pose().field + own + SIMD3(0, 0, -90), acceleration: nil, at: instant(Double(second)))
    }
    #expect(events(&next) == [.calibrationWanted])
    for second in 10..<20 {
      _ = next.receive(field: Pose().field + own, acceleration: nil, at: instant(Double(second)))
    }
    #expect(events(&next) == [.calibrated])
  }

  @Test("A calibration is stored once a minute at most, and at the end")
  func keeping() {
    var compass = Compass()
    _ = turnAround(&compass)
    compass.finish()
    compass.finish()
    let kept = events(&compass).count { if case .keep = $0 { true } else { false } }
    #expect((1...2).contains(kept))
  }

  @Test("Shaking is smoothed, and an acceleration other than gravity does not change the vertical")
  func smoothing() throws {
    var compass = Compass()
    _ = compass.receive(field: Pose(heading: 90).field, acceleration: Pose().acceleration, at: .zero)
    let knocked = compass.receive(
      field: Pose(heading: 90).field, acceleration: SIMD3(15, 0, 9.81), at: instant(0.1))
    #expect(try turn(#require(knocked).magneticDegrees, 90) < 1e-9)
    let swung = compass.receive(field: Pose(heading: 100).field, acceleration: Pose().acceleration, at: instant(0.2))
    #expect((91...96).contains(try #require(swung).magneticDegrees))
  }

  @Test(
    "The period is as short as a client can use, and no shorter than the sensor's",
    arguments: [(-1.0, nil, 100), (1, nil, 100), (5, nil, 200), (20, nil, 500), (1, 1.0 / 0.75, 1334), (20, 0.01, 500)]
      as [(Double, Double?, UInt64)])
  func rate(filter: Double, sensor: Double?, milliseconds: UInt64) {
    #expect(
      CompassRate.period(filterDegrees: filter, sensorPeriodSeconds: sensor) == Milliseconds(milliseconds))
  }
}

extension Double {
  fileprivate var sign2: Double { self < 0 ? -1 : 1 }
}
