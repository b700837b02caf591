// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

@Suite("Standard updates")
struct LocationUpdatesTests {
  /// An app with a cached location, a kilometre south.
  private static var withCache: Scene {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(-1000, at: 0)
    return Scene(restored: restored)
  }

  @Test("SU-1 the cached fix comes at once, with its old time stamp")
  func cached() {
    var scene = Self.withCache
    scene.call(.startUpdatingLocation)
    guard case .event(_, .didUpdateLocations(let locations), _) = scene.engine.outputs.first else {
      Issue.record("no location")
      return
    }
    #expect(locations == [Scene.location(-1000, at: 0)])
  }

  @Test("SU-2 a fresh fix is always delivered, even inside the filter of the cached one")
  func fresh() {
    var scene = Self.withCache
    scene.call(.setDistanceFilter(metres: 500))
    scene.call(.startUpdatingLocation)
    scene.fixes(3) { _ in -1000 }
    #expect(scene.delivered() == ["at -1000", "at -1000"])
  }

  @Test("SU-2 a fix that was measured before the start is not fresh, even if it comes later")
  func beforeStart() {
    var scene = Scene()
    scene.wait(10)
    scene.call(.startUpdatingLocation)
    scene.wait(1)
    scene.engine.receive(
      Scene.location(1, at: scene.seconds - 5), measured: Scene.instant(scene.seconds - 5), at: scene.now)
    #expect(scene.delivered() == [])
    scene.fix(2)
    #expect(scene.delivered() == ["at 2"])
  }

  @Test("SU-3 without a cache the first event is the first fresh fix")
  func noCache() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    #expect(scene.delivered() == [])
    scene.fix(0)
    #expect(scene.delivered() == ["at 0"])
  }

  @Test("SU-4 the first fresh fix may be worse than desired; better ones follow")
  func worseFirst() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 10))
    scene.call(.setDistanceFilter(metres: 100))
    scene.call(.startUpdatingLocation)
    scene.fix(0, accuracy: 80)
    scene.fixes(1, accuracy: 30) { _ in 2 }
    #expect(scene.delivered() == ["at 0", "at 2"])
  }

  @Test("SU-5 the desired accuracy suppresses no fix", arguments: [-2.0, 10, 100, 3000])
  func desired(metres: Double) {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: metres))
    scene.call(.startUpdatingLocation)
    scene.fixes(3, accuracy: 500) { $0 * 10 }
    #expect(scene.delivered() == ["at 10", "at 20", "at 30"])
  }

  @Test("SU-6 the demand has the desired accuracy")
  func demandedAccuracy() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 3000))
    scene.call(.startUpdatingLocation)
    #expect(scene.engine.demand(of: ClientID(0)).updates?.accuracy == .metres(3000))
    for (metres, accuracy) in [(-2, .navigation), (-1, .best), (0, .best)] as [(Double, Demand.Accuracy)] {
      scene.call(.setDesiredAccuracy(metres: metres))
      #expect(scene.engine.demand(of: ClientID(0)).updates?.accuracy == accuracy)
    }
    scene.call(.setDistanceFilter(metres: 50))
    scene.call(.setActivity(.fitness))
    let updates = scene.engine.demand(of: ClientID(0)).updates
    #expect(updates?.distanceFilterMetres == 50 && updates?.activity == .fitness && updates?.delivery == .live)
  }

  @Test("SU-7 a fix is delivered at the filter's distance from the last delivered one")
  func filter() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 50))
    scene.call(.startUpdatingLocation)
    scene.fixes(10) { $0 * 20 }
    #expect(scene.delivered() == ["at 20", "at 80", "at 140", "at 200"])
  }

  @Test("SU-7 exactly the filter's distance passes, slightly less does not")
  func exactly() {
    let metres = Scene.location(0, at: 0).distanceMetres(from: Scene.location(40, at: 0))
    for (filter, count) in [(metres - 1e-5, 2), (metres + 1e-5, 1)] {
      var scene = Scene()
      scene.call(.setDistanceFilter(metres: filter))
      scene.call(.startUpdatingLocation)
      scene.fix(0)
      scene.fixes(1) { _ in 40 }
      #expect(scene.delivered().count == count)
    }
  }

  @Test("SU-8 small steps add up")
  func smallSteps() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 10))
    scene.call(.startUpdatingLocation)
    scene.fixes(30) { $0 - 1 }
    #expect(scene.delivered() == ["at 0", "at 10", "at 20"])
  }

  @Test("SU-9 a better accuracy passes the filter; noise of the estimate does not")
  func better() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 100))
    scene.call(.startUpdatingLocation)
    scene.fix(0, accuracy: 30)
    scene.fixes(1, accuracy: 29.95) { _ in 1 }
    scene.fixes(1, accuracy: 12) { _ in 2 }
    scene.fixes(1, accuracy: 20) { _ in 3 }
    #expect(scene.delivered() == ["at 0", "at 2"])
  }

  @Test("SU-9 an estimate that creeps on a standing client passes the filter in few steps")
  func creeping() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 50))
    scene.call(.startUpdatingLocation)
    var accuracy = 4.5
    for _ in 0..<60 {
      scene.fixes(1, accuracy: accuracy) { _ in 0 }
      accuracy = max(1.6, accuracy - 0.1)
    }
    // 4.5 m, then the first fixes with at most 3.15 m and 2.2 m.
    #expect(scene.delivered().count == 3)
  }

  @Test("SU-10 the location changes with delivery only")
  func unmoved() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 100))
    scene.call(.startUpdatingLocation)
    scene.fixes(5) { $0 * 10 }
    #expect(scene.delivered() == ["at 10"])
    #expect(scene.engine.location(of: ClientID(0)).map { Scene.metresNorth($0).rounded() } == 10)
  }

  @Test("SU-11 without a filter every sample is delivered")
  func everySample() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fixes(100) { _ in 0 }
    #expect(scene.delivered().count == 100)
  }

  @Test("SU-12 a change of altitude alone does not pass the filter")
  func altitude() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 10))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.wait(1)
    var higher = Scene.location(0, at: scene.seconds)
    higher.altitudeMetres = 300
    scene.engine.receive(higher, at: scene.now)
    #expect(scene.delivered() == ["at 0"])
  }

  @Test("SU-13 a second start makes no event and keeps the filter's reference")
  func secondStart() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 50))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.startUpdatingLocation)
    scene.fixes(1) { _ in 30 }
    #expect(scene.delivered() == ["at 0"])
    scene.fixes(1) { _ in 50 }
    #expect(scene.delivered() == ["at 50"])
  }

  @Test("SU-14 stop and start make a new initial event")
  func restart() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 50))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    _ = scene.delivered()
    scene.call(.stopUpdatingLocation)
    scene.call(.startUpdatingLocation)
    scene.fixes(2) { _ in 1 }
    #expect(scene.delivered() == ["at 0", "at 1"])
  }

  @Test("SU-15 after the stop nothing is delivered, including waiting events")
  func stop() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.stopUpdatingLocation)
    scene.fixes(3) { $0 }
    #expect(scene.delivered() == [])
  }

  @Test("SU-16 several locations come oldest first")
  func order() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    scene.call(.allowDeferredUpdates(metres: 25, seconds: 1000))
    scene.fixes(4) { $0 * 10 }
    #expect(scene.delivered() == ["finished", "at 10 20 30 40"])
  }

  @Test("SU-17 without a fix locationUnknown comes once an outage, and the first fix after it")
  func outage() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.wait(29)
    #expect(scene.delivered() == [])
    scene.wait(200)
    #expect(scene.delivered() == ["failed 0"])
    scene.fix(0)
    scene.wait(100)
    #expect(scene.delivered() == ["at 0", "failed 0"])
  }

  @Test("SU-17 a receiver that is idle by plan is not an outage")
  func others() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.wait(500)
    #expect(scene.delivered() == ["at 0"])
    scene.engine.sourceBecame(.searching, at: scene.instant)
    scene.wait(20)
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.wait(500)
    scene.engine.sourceBecame(.searching, at: scene.instant)
    #expect(scene.delivered() == [])
    scene.wait(11)
    #expect(scene.delivered() == ["failed 0"])
  }

  @Test("SU-18 a denied client gets denied", arguments: [AuthorizationStatus.denied, .restricted])
  func denied(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    #expect(scene.delivered() == ["failed 1"])
  }

  @Test("SU-19 an earlier time is accepted if it is more accurate, else not")
  func backwards() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0, accuracy: 100)
    scene.wait(1)
    scene.engine.receive(
      Scene.location(3, accuracy: 8, at: scene.seconds - 2), measured: Scene.instant(scene.seconds - 1), at: scene.now)
    scene.engine.receive(
      Scene.location(9, accuracy: 50, at: scene.seconds - 3), measured: Scene.instant(scene.seconds - 1), at: scene.now)
    #expect(scene.delivered() == ["at 0", "at 3"])
  }

  @Test("SU-23 the location is the last delivered one, already in the callback")
  func lastDelivered() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(7)
    #expect(scene.engine.location(of: ClientID(0)) == Scene.location(7, at: 1000))
  }

  @Test("SU-24 a new filter applies from the next sample on")
  func newFilter() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fixes(2) { $0 }
    scene.call(.setDistanceFilter(metres: 100))
    scene.fixes(2) { 2 + $0 }
    scene.call(.setDistanceFilter(metres: 3))
    scene.fixes(2) { 4 + $0 }
    #expect(scene.delivered() == ["at 1", "at 2", "at 5"])
  }

  @Test("SU-25 a moving receiver makes an event a second")
  func eachSecond() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fixes(60) { $0 * 1.4 }
    #expect(scene.delivered().count == 60)
  }

  @Test("SU-26 a delegate without the method for errors causes advice")
  func noErrors() {
    var scene = Scene(.denied)
    scene.call(.setDelegate([.takesLocations]))
    scene.call(.startUpdatingLocation)
    #expect(scene.advice() == [.delegateLacks("locationManager(_:didFailWithError:)")])
  }

  @Test("SU-27 a fix without an accuracy is not delivered")
  func invalid() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0, accuracy: -1)
    #expect(scene.delivered() == [])
  }

  @Test("SU-28 a simulated fix is marked so")
  func simulated() throws {
    var fix = Fix()
    fix.kind = .threeD
    fix.latitudeDegrees = 48
    fix.longitudeDegrees = 11
    fix.horizontalAccuracyMetres = 3
    fix.quality = .simulated
    let location = try #require(Location(fix, received: Scene.utc(0)))
    #expect(location.source?.isSimulatedBySoftware == true)
  }

  @Test("SU-29 two managers have their own streams")
  func twoManagers() {
    var scene = Scene(managers: 2)
    scene.call(.setDistanceFilter(metres: 30), by: 1)
    scene.call(.startUpdatingLocation, by: 0)
    scene.call(.startUpdatingLocation, by: 1)
    scene.fixes(4) { $0 * 10 }
    #expect(scene.delivered(0) == ["at 10", "at 20", "at 30", "at 40"])
    #expect(scene.delivered(1) == ["at 10", "at 40"])
  }

  @Test("SU-30 a suspended app receives its events when it runs again")
  func suspended() {
    var keys = Scene.allKeys
    keys.hasLocationMode = false
    var scene = Scene(keys: keys)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    _ = scene.delivered()
    scene.engine.setApplication(.suspended, at: scene.instant)
    scene.fixes(3) { $0 }
    #expect(scene.delivered() == [])
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(scene.delivered() == ["at 1 2 3"])
  }

  @Test("SU-31 any filter of 0 or less means no filter, any positive accuracy is legal", arguments: [-7.0, 0])
  func oddNumbers(filter: Double) {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: filter))
    scene.call(.setDesiredAccuracy(metres: 37.5))
    scene.call(.startUpdatingLocation)
    scene.fixes(3) { _ in 0 }
    #expect(scene.delivered().count == 3)
  }

  @Test("GE-1 with the services off a start fails")
  func servicesOff() {
    var scene = Scene()
    scene.engine.setServicesEnabled(false, at: scene.instant)
    _ = scene.delivered()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    #expect(scene.delivered() == ["failed 1"])
  }

  @Test("GE-2 availability is independent of permission")
  func availability() {
    let scene = Scene(.denied)
    #expect(scene.engine.maximumRegionRadiusMetres == 1_000_000)
    #expect(scene.engine.hostCapabilities.hasCompass)
  }

  @Test("GE-4 a service that stops does not affect the others")
  func independent() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.fix(0)
    scene.call(.stopUpdatingLocation)
    scene.engine.sourceBecame(.idle, at: scene.instant)
    _ = scene.delivered()
    scene.wait(301)
    scene.fix(600)
    #expect(scene.delivered() == ["at 600"])
  }

  @Test("GE-5 both services deliver by one method, and each fix once")
  func oneMethod() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == ["at 1", "at 2"])
  }

  @Test("GE-6 without any source services start, report it, and recover")
  func noSource() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false))
    scene.call(.startUpdatingLocation)
    scene.wait(31)
    #expect(scene.delivered() == ["failed 0"])
    scene.engine.setHostCapabilities(Scene.everything)
    scene.fix(0)
    #expect(scene.delivered() == ["at 0"])
  }

  @Test("GE-7 a removed manager's services stop, except regions and visits")
  func gone() {
    var scene = Scene()
    let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
    scene.call(.startUpdatingLocation)
    scene.call(.startMonitoring(home))
    scene.call(.startVisits)
    scene.engine.remove(ClientID(0))
    #expect(scene.engine.demand(of: ClientID(0)).isEmpty)
    #expect(scene.engine.regions.monitored == [home])
    #expect(scene.engine.visits.isRunning)
  }

  @Test("LC-1 the location is nil only if none was ever retrieved")
  func never() {
    var scene = Scene()
    #expect(scene.engine.location(of: ClientID(0)) == nil)
    scene.fix(0)
    #expect(scene.engine.location(of: ClientID(0)) != nil)
  }

  @Test("LC-2 a new manager has the last fix before any start")
  func systemWide() {
    var scene = Scene(managers: 2)
    scene.call(.startUpdatingLocation)
    scene.fix(12)
    #expect(scene.engine.location(of: ClientID(1)) == Scene.location(12, at: 1000))
  }

  @Test("LC-3 the cache survives a relaunch")
  func relaunch() {
    #expect(Self.withCache.engine.location(of: ClientID(0)) == Scene.location(-1000, at: 0))
  }

  @Test("LC-4 a stop does not clear the location")
  func kept() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(5)
    scene.call(.stopUpdatingLocation)
    #expect(scene.engine.location(of: ClientID(0)) == Scene.location(5, at: 1000))
  }

  @Test("LC-5 with a large filter the location may be old; stop and start refresh it")
  func refresh() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 10_000))
    scene.call(.startUpdatingLocation)
    scene.fixes(100) { $0 }
    #expect(scene.engine.location(of: ClientID(0)) == Scene.location(1, at: 1001))
    scene.call(.stopUpdatingLocation)
    scene.call(.startUpdatingLocation)
    #expect(scene.engine.location(of: ClientID(0)) == Scene.location(100, at: 1100))
  }

  @Test("LC-6 without permission the location is nil")
  func hidden() {
    var scene = Scene()
    scene.fix(0)
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(scene.engine.location(of: ClientID(0)) == nil)
  }

  @Test("A repeated epoch is delivered once")
  func twice() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.fix(0)
    #expect(scene.delivered() == ["at 0"])
  }

  @Test("SU-17 the first fix after an outage is delivered, also within the distance filter")
  func afterOutage() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 100))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.wait(60)
    scene.fixes(60) { _ in 1 }
    #expect(scene.delivered() == ["at 0", "failed 0", "at 1"])
  }

  @Test("TH-3 a delegate that was replaced receives nothing more")
  func replaced() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.setDelegate(nil))
    #expect(scene.delivered() == [])
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.delivered() == ["status authorizedAlways"])
  }
}
