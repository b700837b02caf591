// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Heading")
struct HeadingTests {
  private func started() -> Scene {
    var scene = Scene()
    scene.call(.startHeading)
    return scene
  }

  private func turn(_ scene: inout Scene, to degrees: Double) {
    scene.engine.receive(HeadingSample(magneticDegrees: degrees, accuracyDegrees: 2, timestamp: scene.now.utc))
  }

  @Test("HD-1 without a compass a start has no effect")
  func unavailable() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false))
    scene.call(.startHeading)
    turn(&scene, to: 1)
    scene.engine.headingFailed()
    #expect(scene.delivered() == [])
  }

  @Test("SU-15 HD-1 an event from before the stop is not delivered after it")
  func stopped() {
    var scene = started()
    turn(&scene, to: 20)
    scene.call(.stopHeading)
    #expect(scene.delivered() == [])
  }

  @Test("HD-1 a compass that comes later, as a receiver with a heading, serves earlier starts")
  func comesLater() {
    let none = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var scene = Scene(hostCapabilities: none, managers: 2)
    scene.call(.startHeading)
    scene.call(.startHeading, by: 1)
    scene.call(.stopHeading, by: 1)
    scene.engine.setHostCapabilities(Scene.everything)
    turn(&scene, to: 1)
    #expect(scene.delivered() == ["heading 1"])
  }

  @Test("HD-2 one initial event, then each change of the filter's size")
  func filter() {
    var scene = started()
    scene.call(.setHeadingFilter(degrees: 10))
    for degrees in [100.0, 105, 109, 110, 101, 100] { turn(&scene, to: degrees) }
    #expect(scene.delivered() == ["heading 100", "heading 110", "heading 100"])
  }

  @Test("HD-3 a change is measured the short way round, from the last delivered one")
  func wrap() {
    var scene = started()
    scene.call(.setHeadingFilter(degrees: 3))
    for degrees in [359.0, 1, 2, 3, 4, 5] { turn(&scene, to: degrees) }
    #expect(scene.delivered() == ["heading 359", "heading 2", "heading 5"])
  }

  @Test("HD-4 the filter is 1° by default; none delivers every sample")
  func defaults() {
    var scene = started()
    for degrees in [10.0, 10.5, 11] { turn(&scene, to: degrees) }
    #expect(scene.delivered() == ["heading 10", "heading 11"])
    scene.call(.setHeadingFilter(degrees: -1))
    for _ in 0..<3 { turn(&scene, to: 11) }
    #expect(scene.delivered().count == 3)
  }

  @Test("HD-5 a second start has no effect, stop and start make a new initial event")
  func starts() {
    var scene = started()
    turn(&scene, to: 10)
    scene.call(.startHeading)
    turn(&scene, to: 10)
    #expect(scene.delivered() == ["heading 10"])
    scene.call(.stopHeading)
    turn(&scene, to: 50)
    scene.call(.startHeading)
    turn(&scene, to: 10)
    #expect(scene.delivered() == ["heading 10"])
  }

  @Test("HD-6 the heading is nil before the first start, then the last one")
  func property() {
    var scene = Scene()
    turn(&scene, to: 3)
    #expect(scene.engine.heading(of: ClientID(0)) == nil)
    scene.call(.startHeading)
    turn(&scene, to: 3)
    scene.call(.stopHeading)
    #expect(scene.engine.heading(of: ClientID(0))?.magneticDegrees == 3)
  }

  @Test("HD-7 true north comes with running location updates, else magnetic alone")
  func trueNorth() {
    var scene = started()
    scene.fix(0)
    turn(&scene, to: 100)
    #expect(scene.delivered() == ["heading 100"])
    scene.call(.startUpdatingLocation)
    turn(&scene, to: 100)
    // The declination at 48° N 11° E in 2026 is 4.4° east.
    #expect(scene.delivered() == ["at 0", "heading 100 true 104"])
    scene.call(.stopUpdatingLocation)
    turn(&scene, to: 100)
    #expect(scene.delivered() == ["heading 100"])
  }

  @Test(
    "HD-7 AU-19 with reduced accuracy the declination is the same at each place of a cell", arguments: [true, false])
  func declinationOfCell(wasFull: Bool) {
    func declination(metres: Double, ofReceiver: Bool) -> Double? {
      var restored = PositioningEngine.Restored()
      restored.authorization = .init(status: .authorizedAlways, accuracy: wasFull ? .full : .reduced)
      var scene = Scene(restored: restored)
      scene.call(.startHeading)
      scene.call(.startUpdatingLocation)
      scene.fix(metres)
      turn(&scene, to: 50)
      scene.engine.authorizationChanged(to: .init(status: .authorizedAlways, accuracy: .reduced), at: scene.instant)
      _ = scene.events()
      scene.engine.receive(
        HeadingSample(
          magneticDegrees: ofReceiver ? nil : 100, trueDegrees: ofReceiver ? 100 : nil, accuracyDegrees: 2,
          timestamp: scene.now.utc))
      for case .didUpdateHeading(let heading) in scene.events() {
        return ofReceiver ? heading.magneticDegrees : heading.trueDegrees
      }
      return nil
    }
    for ofReceiver in [false, true] {
      let first = declination(metres: 100, ofReceiver: ofReceiver)
      #expect(first != nil && first == declination(metres: 2100, ofReceiver: ofReceiver))
    }
  }

  @Test("HD-8 with the first location the next event has true north")
  func known() {
    var scene = started()
    scene.call(.startUpdatingLocation)
    turn(&scene, to: 100)
    scene.fix(0)
    turn(&scene, to: 100)
    #expect(scene.delivered() == ["heading 100", "at 0", "heading 100 true 104"])
  }

  @Test(
    "HD-9 HD-12 the heading is of the device's top, or of the orientation that is set",
    arguments: [
      (DeviceOrientation.portrait, 10), (.portraitUpsideDown, 190), (.landscapeLeft, 100), (.landscapeRight, 280),
    ])
  func orientation(orientation: DeviceOrientation, degrees: Int) {
    var scene = started()
    scene.call(.setHeadingOrientation(orientation))
    turn(&scene, to: 10)
    #expect(scene.delivered() == ["heading \(degrees)"])
  }

  @Test(
    "HD-10 unknown, face up and face down keep the reference",
    arguments: [
      DeviceOrientation.unknown, .faceUp, .faceDown,
    ])
  func noReference(orientation: DeviceOrientation) {
    var scene = started()
    scene.call(.setHeadingOrientation(.landscapeLeft))
    scene.call(.setHeadingOrientation(orientation))
    turn(&scene, to: 10)
    #expect(scene.delivered() == ["heading 100"])
    #expect(scene.engine.headingOrientation(of: ClientID(0)) == orientation)
  }

  @Test("HD-11 a change of orientation affects later events only")
  func later() {
    var scene = started()
    turn(&scene, to: 10)
    scene.call(.setHeadingOrientation(.landscapeLeft))
    #expect(scene.engine.heading(of: ClientID(0))?.magneticDegrees == 10)
    turn(&scene, to: 10)
    #expect(scene.delivered() == ["heading 10", "heading 100"])
  }

  @Test("HD-13 a failure is reported once until there is a heading again")
  func failure() {
    var scene = started()
    scene.engine.headingFailed()
    scene.engine.headingFailed()
    turn(&scene, to: 10)
    scene.engine.headingFailed()
    #expect(scene.delivered() == ["failed 3", "heading 10", "failed 3"])
  }

  @Test("HD-14 the delegate is asked for the calibration display, which stays until calibrated or dismissed")
  func calibration() {
    var scene = started()
    scene.engine.calibrationWanted()
    scene.engine.calibrationWanted()
    #expect(scene.delivered() == ["calibrate?"])
    scene.call(.showsCalibration(true))
    #expect(scene.engine.outputs == [.showCalibration(ClientID(0))])
    scene.engine.outputs = []
    scene.engine.calibrated()
    #expect(scene.engine.outputs == [.hideCalibration(ClientID(0))])
    scene.engine.outputs = []
    scene.engine.calibrationWanted()
    scene.call(.showsCalibration(true))
    scene.call(.dismissCalibration)
    #expect(scene.engine.outputs.last == .hideCalibration(ClientID(0)))
    scene.engine.outputs = []
    scene.engine.calibrationWanted()
    #expect(scene.delivered() == [])
    scene.engine.calibrated()
    scene.engine.calibrationWanted()
    scene.call(.showsCalibration(false))
    #expect(scene.delivered() == ["calibrate?"])
    #expect(scene.engine.outputs == [])
  }

  @Test("HD-15 a suspended app has no heading until it runs again")
  func suspended() {
    var scene = started()
    scene.engine.setApplication(.suspended, at: scene.instant)
    turn(&scene, to: 10)
    #expect(scene.delivered() == [])
    scene.engine.setApplication(.foreground, at: scene.instant)
    turn(&scene, to: 20)
    #expect(scene.delivered() == ["heading 20"])
  }

  @Test("HD-16 an invalid heading has a negative accuracy")
  func invalid() {
    var scene = started()
    scene.engine.receive(HeadingSample(magneticDegrees: 5, accuracyDegrees: -1, timestamp: scene.now.utc))
    #expect(scene.engine.heading(of: ClientID(0))?.accuracyDegrees == -1)
  }

  @Test(
    "HD-7 true north from its own source is not delivered without location updates; with a location magnetic north is derived from it"
  )
  func trueOnly() {
    var scene = started()
    let sample = HeadingSample(trueDegrees: 2, accuracyDegrees: 0.3, timestamp: scene.now.utc)
    scene.engine.receive(sample)
    #expect(scene.delivered() == [])
    scene.fix(0)
    scene.engine.receive(sample)
    #expect(scene.delivered() == ["heading 358"])
  }

  @Test("The compass demand is the finest client's; none without clients")
  func demand() {
    var scene = started()
    scene.call(.setHeadingFilter(degrees: 20))
    #expect(scene.engine.demands.map(\.headingFilterDegrees) == [20])
    scene.call(.stopHeading)
    #expect(scene.engine.demands.isEmpty)
  }

  @Test("A receiver with true north gives magnetic north by the declination")
  func receiver() {
    var scene = started()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    _ = scene.delivered()
    scene.engine.receive(HeadingSample(trueDegrees: 2, accuracyDegrees: 0.3, timestamp: scene.now.utc))
    #expect(scene.delivered() == ["heading 358 true 2"])
  }
}
