// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream
import Testing

@Suite("Fixes become locations")
struct LocationTests {
  private var fix: Fix {
    var fix = Fix()
    fix.kind = .threeD
    fix.latitudeDegrees = 48
    fix.longitudeDegrees = 11
    fix.horizontalAccuracyMetres = 3
    fix.verticalAccuracyMetres = 5
    fix.heightAboveSeaLevelMetres = 520
    fix.geoidSeparationMetres = 46
    fix.courseDegrees = 360
    fix.speedMetresPerSecond = 1.5
    fix.time = Scene.utc(5)
    return fix
  }

  @Test("A location has the values of its fix")
  func content() throws {
    let source = Location.Source(isSimulatedBySoftware: false, isProducedByAccessory: true)
    let location = try #require(Location(fix, received: Scene.utc(9), source: source))
    #expect(location.coordinate == Coordinate(latitudeDegrees: 48, longitudeDegrees: 11))
    #expect(location.horizontalAccuracyMetres == 3 && location.verticalAccuracyMetres == 5)
    #expect(location.altitudeMetres == 520 && location.ellipsoidalAltitudeMetres == 566)
    #expect(location.courseDegrees == 0 && location.courseAccuracyDegrees == -1)
    #expect(location.speedMetresPerSecond == 1.5 && location.speedAccuracyMetresPerSecond == -1)
    #expect(location.timestamp == Scene.utc(5) && location.source == source)
  }

  @Test("Values that a fix lacks are marked as invalid")
  func unknown() throws {
    var flat = fix
    flat.kind = .twoD
    flat.heightAboveSeaLevelMetres = nil
    flat.courseDegrees = nil
    flat.speedMetresPerSecond = nil
    flat.time = nil
    let location = try #require(Location(flat, received: Scene.utc(9)))
    #expect(
      location.verticalAccuracyMetres == -1 && location.courseDegrees == -1 && location.speedMetresPerSecond == -1)
    #expect(location.timestamp == Scene.utc(9) && location.source == nil)
  }

  @Test("A fix without a position, or outside its receiver's limits, gives no location")
  func none() {
    var timeOnly = fix
    timeOnly.kind = .timeOnly
    #expect(Location(timeOnly, received: Scene.utc(0)) == nil)
    var doubtful = fix
    doubtful.isWithinLimits = false
    #expect(Location(doubtful, received: Scene.utc(0)) == nil)
    var absurd = fix
    absurd.latitudeDegrees = 91
    #expect(Location(absurd, received: Scene.utc(0)) == nil)
  }

  @Test("The engine takes fixes as they come from a receiver")
  func engine() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.engine.receive(fix, at: scene.now)
    #expect(scene.delivered() == ["at 0"])
  }
}
