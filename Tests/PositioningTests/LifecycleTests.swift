import MonotonicTime
import Positioning
import ReceiverStream
import Testing

/// A program between foreground and background, permission that comes and goes, restarts and clocks that step, while
/// everything runs.
@Suite("Comings and goings")
struct LifecycleTests {
  private static let family = BeaconUUID(high: 5, low: 5)
  private static let shop = Region.Shape.beacon(BeaconIdentity(uuid: family))

  private func home(_ radius: Double = 100) -> Region {
    Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: radius)))
  }

  private func sighting(_ scene: Scene) -> BeaconSighting {
    BeaconSighting(
      uuid: Self.family, major: 1, minor: 1, strengthDecibelMilliwatts: -60, strengthAtOneMetreDecibelMilliwatts: -59,
      heard: scene.now)
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

  @Test("RG-14 a fix beyond the border from before a time in which nobody looked proves no stay there")
  func strayBeforeAndAfter() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startMonitoring(home()))
    scene.fixes(10) { _ in 0 }
    scene.fixes(1) { _ in 200 }
    scene.engine.setApplication(.background, at: scene.instant)
    scene.wait(3600)
    scene.engine.setApplication(.foreground, at: scene.instant)
    _ = scene.heard()
    scene.fixes(1) { _ in 200 }
    scene.fixes(60) { _ in 0 }
    #expect(scene.heard() == [])
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

  @Test("VI-2 a blurred first fix after a relaunch does not end the visit")
  func blurredAfterRelaunch() {
    var scene = visiting()
    scene.fixes(1) { _ in 0 }
    scene = visiting()
    scene.fixes(2, accuracy: 900) { _ in 400 }
    scene.fixes(400) { _ in 3 }
    #expect(scene.heard() == [])
  }

  @Test("VI-2 a stray first fix after a relaunch does not end the visit")
  func strayAfterRelaunch() {
    var scene = visiting()
    scene.fixes(3) { _ in 150 }
    scene.fixes(400) { _ in 3 }
    #expect(scene.heard() == [])
  }

  @Test("VI-2 VI-3 a place that was left while nobody looked was left when the first fix showed it")
  func leftUnseen() {
    var scene = visiting()
    scene.fixes(100) { _ in 5000 }
    var visits: [Visit] = []
    for case .didVisit(let visit) in scene.events() { visits.append(visit) }
    #expect(visits.map(\.arrival) == [Scene.utc(0)] && visits.map(\.departure) == [Scene.utc(1001)])
  }

  @Test("VI-3 no visit ends before it began, also where the receiver's time steps back")
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

  // MARK: Monitors and beacons

  @Test("MO-4 BE-9 a beacon that was heard while an event waited was not silent")
  func heardWhileWaiting() {
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

  @Test("MO-2 what stands in the way is said once, also if Bluetooth comes back meanwhile")
  func hinderedOnce() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(Self.shop, identifier: "shop", to: "places", at: scene.now)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc)?.state == .unmonitored)
    scene.engine.beaconsAreHeardAgain(at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc) == nil)
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.engine.receive(sighting(scene))
    #expect(states(&scene) == [.satisfied])
  }
}
