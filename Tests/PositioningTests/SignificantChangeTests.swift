// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Significant change and visits")
struct SignificantChangeTests {
  private func started() -> Scene {
    var scene = Scene()
    scene.call(.startSignificantChanges)
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.fix(0)
    return scene
  }

  @Test("SC-1 the cached fix comes first, then a current one")
  func first() {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(-5000, at: 0)
    var scene = Scene(restored: restored)
    scene.call(.startSignificantChanges)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == ["at -5000", "at 1"])
  }

  @Test("SU-15 SC-5 an event from before the stop is not delivered after it, unless the standard service continues")
  func stopped() {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(-5000, at: 0)
    var scene = Scene(restored: restored)
    scene.call(.startSignificantChanges)
    scene.call(.stopSignificantChanges)
    #expect(scene.delivered() == [])
    scene.call(.startSignificantChanges)
    _ = scene.delivered()
    scene.call(.startUpdatingLocation)
    _ = scene.delivered()
    scene.fixes(1) { $0 }
    scene.call(.stopSignificantChanges)
    #expect(scene.delivered() == ["at 1"])
  }

  @Test("SC-2 then only moves of half a kilometre from the last one count")
  func distance() {
    var scene = started()
    scene.fixes(10, every: 400) { $0 / 400 * 100 }
    #expect(scene.delivered() == ["at 0", "at 500", "at 1000"])
  }

  @Test("SC-3 at most every five minutes; an earlier change is delivered then")
  func rate() {
    var scene = started()
    scene.fixes(60) { $0 * 30 }
    #expect(scene.delivered() == ["at 0"])
    scene.wait(239)
    #expect(scene.delivered() == [])
    scene.wait(1)
    #expect(scene.delivered() == ["at 1800"])
  }

  @Test("SC-4 filter and accuracy are ignored")
  func ignored() {
    var scene = started()
    scene.call(.setDistanceFilter(metres: 100_000))
    scene.call(.setDesiredAccuracy(metres: 3000))
    scene.fixes(1, every: 400) { _ in 510 }
    #expect(scene.delivered() == ["at 0", "at 510"])
  }

  @Test("SC-5 a second start has no effect, stop and start have")
  func starts() {
    var scene = started()
    scene.call(.startSignificantChanges)
    scene.fixes(1) { _ in 1 }
    #expect(scene.delivered() == ["at 0"])
    scene.call(.stopSignificantChanges)
    scene.call(.startSignificantChanges)
    scene.fixes(1) { _ in 2 }
    #expect(scene.delivered() == ["at 1", "at 2"])
  }

  @Test("SC-6 it continues while the app is suspended")
  func suspended() {
    var scene = started()
    _ = scene.delivered()
    scene.engine.setApplication(.suspended, at: scene.instant)
    scene.wait(300)
    scene.fix(700)
    #expect(scene.delivered() == ["at 700"])
  }

  @Test("SC-6 C7 fixes that wait for a suspended app are not changes that it has received; each is delivered once")
  func suspendedWithUpdates() {
    for isChangeFirst in [true, false] {
      var scene = Scene()
      scene.call(.setAllowsBackgroundUpdates(false))
      scene.call(.startSignificantChanges)
      scene.call(.startUpdatingLocation)
      scene.engine.sourceBecame(.idle, at: scene.instant)
      scene.fix(0)
      _ = scene.delivered()
      scene.engine.setApplication(.suspended, at: scene.instant)
      scene.fixes(2, every: 60) { $0 * 10 }
      #expect(scene.delivered() == [])
      if isChangeFirst {
        scene.wait(180)
        #expect(scene.delivered() == ["at 1200"])
      }
      scene.engine.setApplication(.foreground, at: scene.instant)
      #expect(scene.delivered() == [isChangeFirst ? "at 600" : "at 600 1200"])
      scene.wait(300)
      #expect(scene.delivered() == [])
    }
  }

  @Test("SC-1 RQ-1 the outcome of a request is not delivered by significant changes too")
  func request() {
    for seconds in [10.0, 100, 400] {
      var scene = started()
      _ = scene.delivered()
      scene.call(.setDesiredAccuracy(metres: 100))
      scene.wait(seconds)
      scene.call(.requestLocation)
      scene.fix(700)
      #expect(scene.delivered() == ["at 700"])
      scene.wait(400)
      #expect(scene.delivered() == [])
    }
  }

  @Test("RQ-11 an outcome that is recalled is delivered by significant changes if it is a change")
  func recalledRequest() {
    var scene = started()
    _ = scene.delivered()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.wait(400)
    scene.call(.requestLocation)
    scene.fix(700)
    scene.call(.stopUpdatingLocation)
    #expect(scene.delivered() == ["at 700"])
  }

  @Test("SC-8 SC-9 after a relaunch the newest fix is there before the start, and comes with it")
  func relaunch() {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(800, at: 900)
    var scene = Scene(restored: restored)
    #expect(scene.engine.location(of: ClientID(0)) == Scene.location(800, at: 900))
    #expect(scene.delivered() == [])
    scene.call(.startSignificantChanges)
    #expect(scene.delivered() == ["at 800"])
  }

  @Test("SC-11 without a source a start has no effect, and gives advice")
  func unavailable() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false))
    scene.call(.startSignificantChanges)
    #expect(scene.delivered() == [])
    #expect(scene.advice() == [.notAvailable("significant-change monitoring")])
    #expect(scene.engine.demand(of: ClientID(0)).isEmpty)
  }

  @Test("SC-12 errors go to didFailWithError")
  func errors() {
    var scene = Scene()
    scene.call(.startSignificantChanges)
    scene.wait(31)
    #expect(scene.delivered() == ["failed 0"])
    scene = Scene(.denied)
    scene.call(.startSignificantChanges)
    #expect(scene.delivered() == ["failed 1"])
  }

  @Test("SC-13 automatic pausing does not affect it")
  func pausing() {
    var scene = started()
    scene.call(.startUpdatingLocation)
    scene.fixes(200, every: 10) { _ in 0 }
    #expect(scene.delivered().contains("paused"))
    #expect(scene.engine.demand(of: ClientID(0)).significantChange)
    scene.fixes(1) { _ in 600 }
    #expect(scene.delivered().contains("at 600"))
  }

  @Test("A poor fix is not a change")
  func blurred() {
    var scene = started()
    _ = scene.delivered()
    scene.wait(400)
    scene.fix(900, accuracy: 2000)
    #expect(scene.delivered() == [])
  }

  // MARK: Visits

  /// Ten minutes at a place, a walk of ten, twenty at another.
  private func day(_ scene: inout Scene) {
    scene.fixes(60, every: 10) { _ in 0 }
    scene.fixes(60, every: 10) { $0 * 1.5 }
    scene.fixes(120, every: 10) { _ in 900 }
  }

  @Test("VI-1 a start or stop on one manager applies to all")
  func all() {
    var scene = Scene(managers: 2)
    scene.call(.startVisits, by: 0)
    scene.engine.add(ClientID(7))
    scene.call(.setDelegate([.takesErrors]), by: 7)
    _ = scene.delivered(7)
    scene.fixes(31, every: 10) { _ in 0 }
    for number in [0, 1, 7] { #expect(scene.delivered(number) == ["arrived"]) }
    scene.call(.stopVisits, by: 1)
    day(&scene)
    #expect(scene.delivered(0) == [])
  }

  @Test("VI-2 it survives a relaunch, and so does the visit")
  func relaunchVisits() {
    var scene = Scene()
    scene.call(.startVisits)
    scene.fixes(31, every: 10) { _ in 0 }
    var restored = PositioningEngine.Restored()
    restored.visits = scene.engine.visits.record
    scene = Scene(restored: restored)
    scene.fixes(10, every: 10) { _ in 5 }
    scene.fixes(10, every: 10) { _ in 500 }
    #expect(scene.delivered() == ["departed"])
  }

  @Test("VI-3 an arrival has no departure, a departure has both; an earlier begin is unknown")
  func dates() {
    var scene = Scene()
    scene.call(.startVisits)
    day(&scene)
    var visits: [Visit] = []
    for case .event(_, .didVisit(let visit), _) in scene.engine.outputs { visits.append(visit) }
    #expect(visits.count == 3)
    #expect(visits.first?.arrival == nil && visits.first?.departure == nil)
    #expect(visits.dropFirst().first?.arrival == nil && visits.dropFirst().first?.departure != nil)
    #expect(visits.last?.arrival != nil && visits.last?.departure == nil)
    #expect(
      visits.last.map {
        abs(Scene.metresNorth(Location($0.coordinate, horizontalAccuracyMetres: 1, timestamp: Scene.utc(0))) - 900) < 50
      } == true)
  }

  @Test("VI-3 with a fix every two minutes a stay of six minutes is reported at any phase, and none below four")
  func shortStays() {
    for phase in stride(from: 0.0, to: 118, by: 7) {
      for (seconds, words) in [(360.0, ["arrived", "departed"]), (230, [])] {
        var scene = Scene()
        scene.call(.startVisits)
        scene.fixes(15, every: 118.5) { time in
          let (arrival, departure) = (237 + phase, 237 + phase + seconds)
          return time < arrival ? (time - arrival) * 100 : time > departure ? (time - departure) * 100 : 0
        }
        #expect(scene.delivered() == words, "\(seconds) s, \(phase) s after a fix")
      }
    }
  }

  @Test("VI-4 in the background it needs Always")
  func always() {
    var scene = Scene(.authorizedWhenInUse, .background)
    scene.call(.startVisits)
    day(&scene)
    #expect(scene.delivered() == [])
    scene = Scene(.authorizedAlways, .background)
    scene.call(.startVisits)
    day(&scene)
    #expect(scene.delivered() == ["arrived", "departed", "arrived"])
  }

  @Test("VI-5 filter and accuracy are ignored")
  func unfiltered() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 1e6))
    scene.call(.startVisits)
    day(&scene)
    #expect(scene.delivered() == ["arrived", "departed", "arrived"])
  }
}
