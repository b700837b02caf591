// SPDX-License-Identifier: Apache-2.0
import Positioning
import TestSupport
import Testing

@Suite("Reduced accuracy")
struct ReducedAccuracyTests {
  private let beacon = BeaconUUID(high: 1, low: 2)

  private func reduced(_ application: ApplicationState = .foreground, managers: Int = 1) -> Scene {
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    return Scene(.authorizedAlways, application, restored: restored, managers: managers)
  }

  /// Reduces the accuracy of a scene that started with full accuracy.
  private func reduce(_ scene: inout Scene) {
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways, accuracy: .reduced), at: scene.instant)
  }

  private func locations(_ scene: inout Scene, of number: Int = 0) -> [Location] {
    scene.events(number).flatMap { event -> [Location] in
      if case .didUpdateLocations(let locations) = event { locations } else { [] }
    }
  }

  private func elements(_ scene: inout Scene) -> [LiveUpdate] {
    defer { scene.engine.outputs = [] }
    return scene.engine.outputs.compactMap { if case .live(_, let update) = $0 { update } else { nil } }
  }

  @Test("RQ-3 AU-19 with reduced accuracy the first fix is the outcome, because none can be better")
  func requestOnce() {
    var scene = reduced()
    scene.call(.requestLocation)
    scene.fixes(1, accuracy: 9000) { $0 }
    #expect(scene.delivered() == [])
    scene.fixes(1, accuracy: 50) { $0 }
    #expect(locations(&scene).map(\.horizontalAccuracyMetres) == [5000])
  }

  @Test("AU-19 the moment of another cell does not show the position: the borders are displaced by up to 700 m")
  func borders() {
    /// Returns the place in metres north at which a walk over a border gets another cell, and the centres.
    func walk(_ seed: UInt64?) -> (metres: Double, centres: [Coordinate]) {
      var restored = PositioningEngine.Restored()
      restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
      var settings = PositioningSettings()
      if let seed {
        var random = SeededRandomNumberGenerator(seed: seed)
        settings.cells = CellGrid(using: &random)
      }
      var scene = Scene(restored: restored, settings: settings)
      scene.call(.startUpdatingLocation)
      var centres: [Coordinate] = []
      for metres in stride(from: -800.0, through: 800, by: 4) {
        scene.wait(1)
        scene.fix(metres)
        centres += locations(&scene).map(\.coordinate)
        if centres.count == 2 { return (metres, centres) }
      }
      return (.nan, centres)
    }
    let middle = walk(nil)
    #expect(abs(middle.metres) <= 4)
    let walks = (0..<20).map { walk($0) }
    #expect(walks.allSatisfy { $0.centres == middle.centres && abs($0.metres) < 700 })
    let places = walks.map(\.metres)
    #expect(places.max()! - places.min()! > 700)
  }

  @Test("AU-19 VI-3 a visit is reported at a coarse place, with its exact times")
  func visits() {
    var scene = reduced()
    scene.call(.startVisits)
    scene.fixes(400) { _ in 7 }
    scene.fixes(120) { _ in 1000 }
    var visits: [Visit] = []
    for case .didVisit(let visit) in scene.events() { visits.append(visit) }
    #expect(visits.count == 2)
    #expect(visits.allSatisfy { $0.horizontalAccuracyMetres >= 5000 }, "\(visits)")
    #expect(visits.allSatisfy { $0.coordinate != Scene.north(7) })
    #expect(Set(visits.map(\.coordinate)).count == 1)
  }

  @Test("AU-19 the departure from a place that was reported exactly is coarse")
  func departure() {
    var scene = Scene()
    scene.call(.startVisits)
    scene.fixes(400) { _ in 7 }
    _ = scene.events()
    reduce(&scene)
    scene.fixes(120) { _ in 1000 }
    let radii = scene.events().compactMap {
      if case .didVisit(let visit) = $0 { visit.horizontalAccuracyMetres } else { nil }
    }
    #expect(radii == [5000])
  }

  @Test("AU-19 BE-4 ranging ends with an error when accuracy is reduced, and resumes when it is full again")
  func ranging() {
    var scene = Scene()
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: beacon))))
    receive(&scene)
    scene.wait(1)
    #expect(scene.delivered() == ["ranged 1:near"])
    reduce(&scene)
    #expect(scene.delivered() == ["status authorizedAlways", "ranging failed 17"])
    receive(&scene)
    scene.wait(5)
    #expect(scene.delivered() == [])
    #expect(!scene.engine.demand(of: ClientID(0)).beacons)
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    receive(&scene)
    scene.wait(1)
    #expect(scene.delivered().prefix(2) == ["status authorizedAlways", "ranged 1:near"])
  }

  private func receive(_ scene: inout Scene) {
    scene.engine.receive(
      BeaconSighting(
        uuid: beacon, major: 1, minor: 1, strengthDecibelMilliwatts: -60, strengthAtOneMetreDecibelMilliwatts: -59,
        received: scene.now))
  }

  @Test("AU-19 `location` is coarse as soon as accuracy is reduced, whatever was delivered before")
  func property() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 10_000))
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.fix(7)
    reduce(&scene)
    let location = scene.engine.location(of: ClientID(0))
    #expect(location?.horizontalAccuracyMetres == 5000)
    #expect(location?.coordinate != Scene.north(7))
    // The filter does not withhold the coarse location from the client.
    _ = scene.events()
    scene.fixes(30) { $0 }
    #expect(locations(&scene).map(\.horizontalAccuracyMetres) == [5000])
  }

  @Test("AU-19 SC-3 a significant change that waits becomes coarse, or is dropped if its cell has not changed then")
  func waitingChange() {
    for (metres, count) in [(1400.0, 0), (14_000, 1)] {
      var scene = Scene()
      scene.call(.startSignificantChanges)
      scene.fix(0)
      scene.wait(60)
      scene.fix(metres)
      _ = scene.events()
      reduce(&scene)
      scene.wait(400)
      let reported = locations(&scene)
      #expect(reported.count == count, "\(metres)")
      #expect(reported.allSatisfy { $0.horizontalAccuracyMetres == 5000 })
    }
  }

  @Test("AU-19 DF-13 fixes that a deferral has kept at full accuracy become coarse")
  func kept() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.allowDeferredUpdates(metres: 1e9, seconds: 100))
    scene.fixes(5) { $0 }
    _ = scene.events()
    reduce(&scene)
    scene.wait(200)
    let reported = locations(&scene)
    #expect(reported.map(\.horizontalAccuracyMetres) == [5000])
  }

  @Test("AU-19 the best fix of a pending request becomes coarse")
  func request() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.fixes(1) { $0 }
    reduce(&scene)
    scene.wait(10)
    #expect(locations(&scene).map(\.horizontalAccuracyMetres) == [5000])
  }

  @Test("AU-19 C7 events that wait for a suspended app become coarse")
  func held() {
    var scene = Scene()
    scene.call(.setAllowsBackgroundUpdates(false))
    scene.call(.startUpdatingLocation)
    scene.engine.setApplication(.suspended, at: scene.instant)
    scene.fixes(5) { $0 }
    reduce(&scene)
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(locations(&scene).map(\.horizontalAccuracyMetres) == [5000])
  }

  @Test("SU-13 AU-19 a second start while running makes no event with reduced accuracy either")
  func secondStart() {
    var scene = reduced(managers: 2)
    scene.call(.startUpdatingLocation)
    scene.fixes(3) { _ in 0 }
    #expect(locations(&scene).count == 1)
    for _ in 0..<3 {
      scene.call(.startUpdatingLocation)
      scene.fixes(3) { _ in 0 }
    }
    #expect(locations(&scene).isEmpty)
    // Nor does the start of another manager, which has its own filter.
    scene.call(.startUpdatingLocation, by: 1)
    scene.fixes(3) { _ in 0 }
    #expect(locations(&scene).isEmpty)
    #expect(locations(&scene, of: 1).count == 2)
  }

  @Test(
    "SC-1 AU-19 significant changes begin with the cached and the current fix also beside updates that have delivered it"
  )
  func significantStart() {
    var scene = reduced(managers: 2)
    scene.call(.startUpdatingLocation)
    scene.fixes(3) { _ in 0 }
    scene.call(.startSignificantChanges, by: 1)
    scene.fixes(600) { _ in 0 }
    #expect(locations(&scene, of: 1).count == 2)
  }

  @Test("LV-2 AU-19 with reduced accuracy a walking stream is not stationary, and gets its cell once")
  func walker() {
    var scene = reduced()
    scene.engine.beginLiveUpdates(1, .fitness, at: scene.instant)
    scene.fixes(600) { $0 * 1.4 }
    let walk = elements(&scene)
    #expect(walk.map(\.isStationary) == [false])
    #expect(!scene.engine.sharedDemand.isPaused)
    scene.fixes(200) { _ in 840 }
    let others = elements(&scene)
    #expect(others.map(\.isStationary) == [true])
    #expect(others.first?.location?.horizontalAccuracyMetres == 5000)
    scene.fixes(2) { 900 + $0 }
    #expect(elements(&scene).map(\.isStationary) == [false])
  }

  @Test("LV-3 AU-19 a stream gets its place again when accuracy changes, also a stationary one")
  func changed() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(100) { _ in 0 }
    _ = elements(&scene)
    reduce(&scene)
    scene.fixes(5) { _ in 0 }
    let coarse = elements(&scene)
    #expect(coarse.map(\.diagnostic) == [.accuracyLimited] && coarse.map(\.isStationary) == [true])
    #expect(coarse.first?.location?.horizontalAccuracyMetres == 5000)
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fixes(5) { _ in 0 }
    #expect(elements(&scene).map(\.location?.horizontalAccuracyMetres) == [5])
  }
}
