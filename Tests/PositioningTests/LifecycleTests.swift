// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

/// Changes of foreground and permission, restarts and clocks that step, while everything runs.
@Suite("Changes of foreground, permission and receiver")
struct LifecycleTests {
  private static let family = BeaconUUID(high: 5, low: 5)
  private static let shop = Region.Shape.beacon(BeaconIdentity(uuid: family))

  private func home(_ radius: Double = 100) -> Region {
    Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: radius)))
  }

  private func sighting(_ scene: Scene) -> BeaconSighting {
    BeaconSighting(
      uuid: Self.family, major: 1, minor: 1, strengthDecibelMilliwatts: -60, strengthAtOneMetreDecibelMilliwatts: -59,
      received: scene.now)
  }

  private func elements(_ scene: inout Scene) -> [LiveUpdate] {
    defer { scene.engine.outputs = [] }
    return scene.engine.outputs.compactMap { if case .live(_, let update) = $0 { update } else { nil } }
  }

  private func states(_ scene: inout Scene) -> [Monitor.State] {
    var states: [Monitor.State] = []
    while let event = scene.engine.takeEvent(of: "places") { states.append(event.state) }
    return states
  }

  // MARK: Foreground and background

  @Test("PA-2 a time without delivery does not count as stationary")
  func unseenPause() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startUpdatingLocation)
    scene.fixes(60) { _ in 0 }
    scene.engine.setApplication(.background, at: scene.instant)
    scene.wait(7200)
    scene.engine.setApplication(.foreground, at: scene.instant)
    _ = scene.delivered()
    scene.fixes(3) { $0 }
    #expect(scene.delivered() == ["at 1", "at 2", "at 3"])
  }

  @Test("SU-17 after a reported outage the first fix is delivered, also after a stay in the background")
  func outageBehind() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.setDistanceFilter(metres: 100))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.wait(60)
    #expect(scene.delivered() == ["at 0", "failed 0"])
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.fixes(2) { _ in 5 }
    #expect(scene.delivered() == ["at 5"])
  }

  @Test("BG-3 SU-17 a client without delivery in the background gets no outage either")
  func outageWithoutIndicator() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.setShowsBackgroundIndicator(true))
    scene.call(.startUpdatingLocation)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.call(.setShowsBackgroundIndicator(false))
    scene.wait(100)
    #expect(scene.delivered() == [])
    scene.call(.setShowsBackgroundIndicator(true))
    scene.wait(31)
    #expect(scene.delivered() == ["failed 0"])
  }

  @Test("LV-3 SS-2 a stream that falls silent with its background activity reports the reason")
  func activityEnds() {
    var scene = Scene(.authorizedWhenInUse)
    scene.engine.beginBackgroundActivity(1, at: scene.instant)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.fixes(2) { $0 * 20 }
    #expect(elements(&scene).count == 2)
    scene.engine.endBackgroundActivity(1, at: scene.instant)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .insufficientlyInUse)])
  }

  @Test("RG-14 a fix beyond the border before a break is not a stay there")
  func outlierBeforeAndAfter() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startMonitoring(home()))
    scene.fixes(10) { _ in 0 }
    scene.fixes(1) { _ in 200 }
    scene.engine.setApplication(.background, at: scene.instant)
    scene.wait(3600)
    scene.engine.setApplication(.foreground, at: scene.instant)
    _ = scene.delivered()
    scene.fixes(1) { _ in 200 }
    scene.fixes(60) { _ in 0 }
    #expect(scene.delivered() == [])
  }

  @Test("GE-1 HD-15 a client without permission gets neither a calibration request nor a failure of the compass")
  func unpermittedHeading() {
    var scene = Scene()
    scene.call(.startHeading)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    _ = scene.delivered()
    scene.engine.calibrationWanted()
    scene.engine.headingFailed()
    #expect(scene.delivered() == [])
    scene.engine.setServicesEnabled(true, at: scene.instant)
    _ = scene.delivered()
    scene.engine.calibrationWanted()
    scene.engine.headingFailed()
    #expect(scene.delivered() == ["calibrate?", "failed 3"])
  }

  @Test("BG-3 PA-8 movement in the background is not reported to a client without delivery")
  func movedBehind() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startUpdatingLocation)
    scene.fixes(100, every: 10) { _ in 0 }
    #expect(scene.delivered().last == "paused")
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.movementNoticed(at: scene.instant)
    #expect(scene.delivered() == [])
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.fixes(2) { 500 + $0 }
    #expect(scene.delivered() == ["resumed", "at 501", "at 502"])
  }

  @Test("DF-13 fixes of a receiver's memory are delivered also after its time has stepped back")
  func memoryAfterStep() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    func batch(_ scene: inout Scene, ahead shift: Double) {
      let start = scene.seconds
      scene.wait(20)
      scene.engine.batchBegins(until: Scene.instant(scene.seconds + 10))
      for second in stride(from: start + 1, to: scene.seconds, by: 1) {
        scene.engine.receive(
          Scene.location(second - start, at: second + shift), measured: Scene.instant(second), at: scene.now)
      }
      scene.engine.batchEnded(at: scene.now)
    }
    batch(&scene, ahead: 7200)
    #expect(scene.delivered().count == 19)
    scene.fixes(1) { _ in 20 }
    #expect(scene.delivered() == ["at 20"])
    batch(&scene, ahead: 0)
    #expect(scene.delivered().count == 19)
  }

  // MARK: Before there is a delegate

  @Test("BG-5 RG-18 a border that was crossed before there was a delegate is reported to it")
  func crossedBefore() {
    var restored = PositioningEngine.Restored()
    restored.regions = [Regions.Record(home(), state: .outside)]
    var scene = Scene(restored: restored, managers: 0)
    scene.fixes(60) { _ in 0 }
    scene.engine.add(ClientID(0))
    scene.fixes(60) { _ in 0 }
    scene.call(.setDelegate([.takesErrors]))
    scene.fixes(60) { _ in 0 }
    #expect(scene.delivered() == ["status authorizedAlways", "entered home", "home is inside"])
  }

  @Test("BG-5 VI-1 VI-2 an arrival before there was a delegate is reported to it")
  func arrivedBefore() {
    var restored = PositioningEngine.Restored()
    restored.visits = Visits.Record(isRunning: true, current: nil)
    var scene = Scene(restored: restored, managers: 0)
    scene.fixes(60, every: 10) { _ in 0 }
    scene.engine.add(ClientID(0))
    scene.call(.setDelegate([.takesErrors]))
    scene.fixes(60, every: 10) { _ in 0 }
    #expect(scene.delivered() == ["status authorizedAlways", "arrived"])
  }

  // MARK: Visits

  private func visiting() -> Scene {
    var restored = PositioningEngine.Restored()
    restored.visits = Visits.Record(
      isRunning: true,
      current: Visit(
        arrival: Scene.utc(0), departure: nil, coordinate: Scene.origin, horizontalAccuracyMetres: 50))
    return Scene(restored: restored)
  }

  @Test("VI-2 a poor first fix after a relaunch does not end the visit")
  func blurredAfterRelaunch() {
    var scene = visiting()
    scene.fixes(1) { _ in 0 }
    scene = visiting()
    scene.fixes(2, accuracy: 900) { _ in 400 }
    scene.fixes(400) { _ in 3 }
    #expect(scene.delivered() == [])
  }

  @Test("VI-2 an outlier as first fix after a relaunch does not end the visit")
  func outlierAfterRelaunch() {
    var scene = visiting()
    scene.fixes(3) { _ in 150 }
    scene.fixes(400) { _ in 3 }
    #expect(scene.delivered() == [])
  }

  @Test("VI-2 VI-3 a departure during a break is dated by the first fix that shows it")
  func departedUnseen() {
    var scene = visiting()
    scene.fixes(100) { _ in 5000 }
    var visits: [Visit] = []
    for case .didVisit(let visit) in scene.events() { visits.append(visit) }
    #expect(visits.map(\.arrival) == [Scene.utc(0)] && visits.map(\.departure) == [Scene.utc(1001)])
  }

  @Test("VI-3 no visit ends before it began, even if the receiver's time steps back")
  func timeStepsBack() {
    var scene = Scene()
    scene.call(.startVisits)
    scene.fixes(10) { 5000 + $0 * 20 }
    func fixes(_ north: Double, _ count: Int) {
      for _ in 0..<count {
        scene.wait(1)
        scene.engine.receive(Scene.location(north, at: scene.seconds - 7200), at: scene.now)
      }
    }
    scene.fixes(310) { _ in 0 }
    fixes(0, 30)
    fixes(1000, 100)
    var visits: [Visit] = []
    for case .didVisit(let visit) in scene.events() { visits.append(visit) }
    #expect(visits.count == 2)
    for visit in visits {
      if let arrival = visit.arrival, let departure = visit.departure { #expect(arrival <= departure) }
    }
  }

  @Test("VI-3 the place of a visit at the date line is a longitude", arguments: [1.0, -1.0])
  func dateLine(_ side: Double) {
    var scene = Scene()
    scene.call(.startVisits)
    for second in 1...400 {
      scene.wait(1)
      let place = Coordinate(latitudeDegrees: 0, longitudeDegrees: (second % 4 == 0 ? 179.9999 : -179.9999) * side)
      scene.engine.receive(
        Location(place, horizontalAccuracyMetres: 5, timestamp: Scene.utc(scene.seconds)), at: scene.now)
    }
    var longitudes: [Double] = []
    for case .didVisit(let visit) in scene.events() { longitudes.append(visit.coordinate.longitudeDegrees) }
    #expect(longitudes.count == 1)
    #expect(longitudes.allSatisfy { abs($0) <= 180 && abs($0) > 179.99985 }, "\(longitudes)")
  }

  @Test("VI-1 a visit from before the stop is not delivered after it")
  func stoppedVisits() {
    var scene = Scene()
    scene.call(.startVisits)
    scene.fixes(31, every: 10) { _ in 0 }
    scene.call(.stopVisits)
    #expect(scene.delivered() == [])
  }

  // MARK: Monitors and beacons

  @Test("MO-4 BE-9 a beacon with a sighting while an event waited was not silent")
  func receivedWhileWaiting() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(Self.shop, identifier: "shop", to: "places", at: scene.now)
    for _ in 0..<60 {
      scene.engine.receive(sighting(scene))
      scene.wait(1)
    }
    #expect(states(&scene) == [.satisfied])
    for _ in 0..<10 {
      scene.wait(1)
      scene.engine.receive(sighting(scene))
    }
    #expect(states(&scene) == [])
    scene.wait(31)
    #expect(states(&scene) == [.unsatisfied])
  }

  @Test("MO-2 an obstacle is reported once, also if Bluetooth returns meanwhile")
  func hinderedOnce() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(Self.shop, identifier: "shop", to: "places", at: scene.now)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc)?.state == .unmonitored)
    scene.engine.beaconScanResumed(at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc) == nil)
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.engine.receive(sighting(scene))
    #expect(states(&scene) == [.satisfied])
  }

  // MARK: All of it

  @Test("Random life cycles: no delivery without permission, and paired events alternate", arguments: 0..<40)
  func random(seed: Int) {
    var history = LifeHistory(seed: seed)
    for _ in 0..<150 { history.step() }
    #expect(history.broken.prefix(3) == [])
    #expect(history.reported.count > 4, "nothing happened")
  }
}
