// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Testing

@Suite("Regions")
struct RegionTests {
  private let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))

  private func circle(_ name: String, north: Double = 0, radius: Double = 100) -> Region {
    Region(name, .circle(Circle(centre: Scene.north(north), radiusMetres: radius)))
  }

  /// An app that monitors a region while it is stationary 500 m north of it.
  private func monitored(_ regions: [Region], _ status: AuthorizationStatus = .authorizedAlways, managers: Int = 1)
    -> Scene
  {
    var scene = Scene(status, managers: managers)
    for region in regions { scene.call(.startMonitoring(region)) }
    scene.fixes(3) { _ in 500 }
    for number in 0..<managers { _ = scene.delivered(number) }
    return scene
  }

  /// Moves to a place at once and stays there.
  private func stay(_ scene: inout Scene, at north: Double, seconds: Int) { scene.fixes(seconds) { _ in north } }

  @Test("RG-2 a circle that is added needs a fix; a beacon region and another delegate need none")
  func addedCircle() {
    var scene = Scene()
    let beacons = Region("shop", .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1))))
    scene.call(.startMonitoring(circle("home")))
    #expect(scene.engine.sharedDemand.startedAt == scene.instant)
    scene.fixes(1) { _ in 0 }
    let before = scene.engine.sharedDemand.startedAt
    scene.wait(10)
    scene.call(.startMonitoring(beacons))
    scene.call(.setDelegate(nil))
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.engine.sharedDemand.startedAt == before)
    scene.call(.startMonitoring(circle("home")))
    #expect(scene.engine.sharedDemand.startedAt == scene.instant)
    // Without a delegate its side stays unknown.
    scene.call(.setDelegate(nil))
    scene.fixes(1) { _ in 0 }
    scene.wait(10)
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.engine.sharedDemand.startedAt == scene.instant)
  }

  @Test("RG-1 a region that is monitored is reported once, asynchronously")
  func started() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    #expect(scene.delivered() == ["monitoring home"])
  }

  @Test("RG-2 the same identifier replaces the region, and the state starts anew")
  func replaced() {
    var scene = monitored([home])
    #expect(scene.engine.regions.state(of: home) == .outside)
    scene.call(.startMonitoring(circle("home", radius: 700)))
    #expect(scene.engine.regions.monitored == [circle("home", radius: 700)])
    #expect(scene.engine.regions.state(of: home) == .unknown)
  }

  @Test("RG-3 RG-4 the regions are one set for all managers, identified by name")
  func shared() {
    var scene = Scene(managers: 2)
    scene.call(.startMonitoring(home), by: 0)
    scene.call(.startMonitoring(circle("work")), by: 1)
    scene.call(.stopMonitoring(circle("home", radius: 1)), by: 1)
    #expect(scene.engine.regions.monitored.map(\.identifier) == ["work"])
  }

  @Test("RG-5 the twenty-first region fails by 5, replacing does not")
  func limit() {
    var scene = Scene()
    for number in 0..<20 { scene.call(.startMonitoring(circle("\(number)"))) }
    _ = scene.delivered()
    scene.call(.startMonitoring(circle("20")))
    scene.call(.startMonitoring(circle("7", radius: 5)))
    #expect(scene.delivered() == ["monitoring 20 failed 5", "monitoring 7"])
    #expect(scene.engine.regions.monitored.count == 20)
  }

  @Test("RG-6 a region that is too large or invalid fails by 5", arguments: [1_000_001.0, 0, -5, .nan])
  func size(radius: Double) {
    var scene = Scene()
    scene.call(.startMonitoring(circle("vast", radius: radius)))
    #expect(scene.delivered() == ["monitoring vast failed 5"])
    scene.call(
      .startMonitoring(
        Region(
          "none",
          .circle(
            Circle(
              centre: Coordinate(latitudeDegrees: 91, longitudeDegrees: 0), radiusMetres: 10)))))
    #expect(scene.delivered() == ["monitoring none failed 5"])
  }

  @Test("RG-7 where nothing can be monitored the largest radius is −1 and a start fails by 5")
  func unsupported() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false))
    #expect(scene.engine.maximumRegionRadiusMetres == -1)
    scene.call(.startMonitoring(home))
    #expect(scene.delivered() == ["monitoring home failed 5"])
  }

  @Test(
    "RG-8 a start that is refused fails by 4, and the region is monitored from the grant on",
    arguments: [AuthorizationStatus.denied, .restricted])
  func refused(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.startMonitoring(home))
    #expect(scene.delivered() == ["monitoring home failed 4"])
    #expect(scene.engine.regions.monitored == [home])
    #expect(scene.engine.sharedDemand.border == nil)
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    #expect(scene.delivered() == ["status authorizedAlways", "monitoring home"])
    stay(&scene, at: 500, seconds: 3)
    stay(&scene, at: 0, seconds: 30)
    #expect(scene.delivered() == ["entered home", "home is inside"])
  }

  @Test("RG-8 a region that is started before the answer is kept without an error, and monitored from the grant on")
  func beforeAnswer() {
    var scene = Scene(.notDetermined, managers: 2)
    scene.call(.requestAlways)
    scene.call(.startMonitoring(home))
    scene.fixes(30) { _ in 500 }
    #expect(scene.delivered(0) == [] && scene.delivered(1) == [] && scene.advice() == [])
    #expect(scene.engine.regions.monitored == [home])
    scene.engine.authorizationAnswered(.always, at: scene.instant)
    #expect(scene.delivered(0) == ["status authorizedAlways", "monitoring home"])
    #expect(scene.delivered(1) == ["status authorizedAlways"])
    stay(&scene, at: 500, seconds: 3)
    stay(&scene, at: 0, seconds: 30)
    for manager in 0..<2 { #expect(scene.delivered(manager) == ["entered home", "home is inside"]) }
  }

  @Test("RG-8 a region that cannot be monitored at all fails at once, also before the answer")
  func impossibleBeforeAnswer() {
    var scene = Scene(.notDetermined)
    scene.call(.requestAlways)
    scene.call(.startMonitoring(circle("vast", radius: 2_000_000)))
    for number in 0..<21 { scene.call(.startMonitoring(circle("\(number)"))) }
    scene.call(.stopMonitoring(circle("3")))
    #expect(scene.delivered() == ["monitoring vast failed 5", "monitoring 20 failed 5"])
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    let delivered = scene.delivered()
    #expect(delivered.first == "status denied" && delivered.count == 20)
    #expect(
      delivered.dropFirst().allSatisfy { $0.hasSuffix("failed 4") } && !delivered.contains("monitoring 3 failed 4"))
    #expect(scene.engine.regions.monitored.count == 19)
  }

  @Test("RG-8 with reduced accuracy the region waits for full accuracy")
  func reduced() {
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    var scene = Scene(restored: restored)
    scene.call(.startMonitoring(home))
    #expect(scene.delivered() == ["monitoring home failed 4"])
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    #expect(scene.delivered() == ["status authorizedAlways", "monitoring home"])
  }

  @Test("RG-9 a stop of an unknown region has no effect; an earlier run's region stops by identifier")
  func stop() {
    var restored = PositioningEngine.Restored()
    restored.regions = [Regions.Record(home, state: .inside)]
    var scene = Scene(restored: restored)
    scene.call(.stopMonitoring(circle("elsewhere")))
    #expect(scene.engine.outputs == [])
    scene.call(.stopMonitoring(circle("home", radius: 1)))
    #expect(scene.engine.regions.monitored == [])
    #expect(scene.engine.outputs == [.store(.regions)])
  }

  @Test("RG-10 a crossing is reported to every manager, by the region's flags")
  func everybody() {
    var quiet = circle("quiet")
    quiet.notifiesOnEntry = false
    var scene = monitored([home, quiet], managers: 2)
    stay(&scene, at: 0, seconds: 30)
    let expected = ["entered home", "home is inside", "quiet is inside"]
    #expect(scene.delivered(0) == expected)
    #expect(scene.delivered(1) == expected)
    stay(&scene, at: 500, seconds: 30)
    #expect(scene.delivered(0) == ["left home", "home is outside", "left quiet", "quiet is outside"])
  }

  @Test("RG-11 the state is reported with every crossing")
  func state() {
    var scene = monitored([home])
    stay(&scene, at: 0, seconds: 30)
    #expect(scene.delivered() == ["entered home", "home is inside"])
  }

  @Test("SU-15 RG-9 a crossing of a region that is no longer monitored is not reported")
  func stopped() {
    var scene = monitored([home])
    stay(&scene, at: 0, seconds: 30)
    scene.call(.stopMonitoring(home))
    #expect(!scene.delivered().contains { $0.hasPrefix("entered") })
  }

  @Test("RG-13 a start inside is not an entry")
  func inside() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    _ = scene.delivered()
    stay(&scene, at: 0, seconds: 100)
    #expect(scene.delivered() == [])
    stay(&scene, at: 300, seconds: 30)
    #expect(scene.delivered() == ["left home", "home is outside"])
  }

  @Test("RG-14 a crossing counts past the margin and after 20 s on the new side")
  func hysteresis() {
    var scene = monitored([home])
    stay(&scene, at: 50, seconds: 20)
    #expect(scene.delivered() == [])
    stay(&scene, at: 50, seconds: 1)
    #expect(scene.delivered() == ["entered home", "home is inside"])
    // Back and forth across the border by less than the margin.
    for _ in 0..<20 {
      stay(&scene, at: 110, seconds: 15)
      stay(&scene, at: 90, seconds: 5)
    }
    #expect(scene.delivered() == [])
    // Short excursions, at any distance.
    for _ in 0..<5 {
      stay(&scene, at: 900, seconds: 10)
      stay(&scene, at: 0, seconds: 2)
    }
    #expect(scene.delivered() == [])
  }

  @Test("RG-14 one outlier among many fixes does not delay a crossing, two do")
  func outlier() {
    for (count, latency) in [(1, 20), (2, 32)] {
      var scene = monitored([home])
      stay(&scene, at: 0, seconds: 10)
      stay(&scene, at: 130, seconds: count)
      var seconds = 10 + count
      while scene.delivered().isEmpty, seconds < 60 {
        stay(&scene, at: 0, seconds: 1)
        seconds += 1
      }
      #expect(seconds == latency + 1, "\(count)")
    }
  }

  @Test("RG-14 a poor fix decides nothing, a greater error widens the margin")
  func blurred() {
    var scene = monitored([home])
    scene.fixes(40, accuracy: 150) { _ in 0 }
    #expect(scene.delivered() == [])
    stay(&scene, at: 0, seconds: 30)
    _ = scene.delivered()
    scene.fixes(25, accuracy: 90) { _ in 150 }
    #expect(scene.delivered() == [])
    scene.fixes(1, accuracy: 90) { _ in 195 }
    #expect(scene.delivered() == ["left home", "home is outside"])
  }

  @Test("RG-15 an event comes 30 s after the crossing at most", arguments: [0.3, 0.7, 1.4, 5, 15, 40])
  func latency(speed: Double) {
    var scene = monitored([home])
    // To the centre, a stay, and out again; the border is crossed at a known time.
    for direction in [-1.0, 1] {
      let from = direction < 0 ? 100 + speed * 5 : 100 - speed * 5
      stay(&scene, at: from, seconds: 3)
      _ = scene.delivered()
      var crossed: Double?
      var reported: Double?
      for second in 1...60 where reported == nil {
        let past = min((from - 100) * direction + speed * Double(second), 80)
        let place = 100 + direction * past
        scene.fixes(1) { _ in place }
        if crossed == nil, past >= 0 { crossed = Double(second) }
        if !scene.delivered().isEmpty { reported = Double(second) }
      }
      let latency = reported.flatMap { reported in crossed.map { reported - $0 } }
      #expect(latency.map { $0 >= 20 && $0 <= 30 } == true, "\(speed) m/s \(direction): \(String(describing: latency))")
    }
  }

  @Test("RG-16 monitoring needs neither the standard service nor its filter")
  func independent() {
    var scene = monitored([home])
    scene.call(.setDistanceFilter(metres: 1e6))
    scene.call(.startUpdatingLocation)
    stay(&scene, at: 0, seconds: 30)
    #expect(scene.delivered().contains("entered home"))
  }

  @Test("RG-17 regions are restored after a relaunch, before any start")
  func persistent() {
    var scene = monitored([home])
    var restored = PositioningEngine.Restored()
    restored.regions = scene.engine.regions.records
    scene = Scene(restored: restored)
    #expect(scene.engine.regions.monitored == [home])
    #expect(scene.engine.regions.state(of: home) == .outside)
  }

  @Test("RG-19 a wake-up inside is an event, unless the state was inside before")
  func asleep() {
    var scene = monitored([home])
    let restored = scene.engine.regions.records
    scene.wait(3600)
    stay(&scene, at: 500, seconds: 60)
    #expect(scene.delivered() == [])
    var next = PositioningEngine.Restored()
    next.regions = restored
    scene = Scene(restored: next)
    stay(&scene, at: 0, seconds: 30)
    #expect(scene.delivered() == ["entered home", "home is inside"])
  }

  @Test("RG-20 with WhenInUse events come in the foreground only, with Always also in the background")
  func background() {
    for (status, expected) in [
      (AuthorizationStatus.authorizedWhenInUse, [String]()), (.authorizedAlways, ["entered home", "home is inside"]),
    ] {
      var scene = monitored([home], status)
      scene.engine.setApplication(.background, at: scene.instant)
      stay(&scene, at: 0, seconds: 30)
      #expect(scene.delivered() == expected)
    }
    var scene = monitored([home], .authorizedWhenInUse)
    scene.engine.setApplication(.background, at: scene.instant)
    stay(&scene, at: 0, seconds: 30)
    scene.engine.setApplication(.foreground, at: scene.instant)
    stay(&scene, at: 0, seconds: 30)
    #expect(scene.delivered() == ["entered home", "home is inside"])
  }

  @Test("RG-21 a beacon region needs Bluetooth")
  func beacons() {
    let beacon = Region("shop", .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2))))
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false))
    scene.call(.startMonitoring(beacon))
    scene.call(.startMonitoring(home))
    #expect(scene.delivered() == ["monitoring shop failed 5", "monitoring home"])
  }

  @Test("RG-23 when resources are short the smaller circles come first")
  func bySize() {
    let scene = monitored([circle("a", radius: 300), circle("b", radius: 50), circle("c", radius: 100)])
    #expect(scene.engine.regions.circlesBySize.map(\.radiusMetres) == [50, 100, 300])
  }

  @Test("RG-24 the accuracy of the old call is the margin")
  func margin() {
    var scene = Scene()
    scene.call(.startMonitoring(home, marginMetres: 200))
    stay(&scene, at: 0, seconds: 3)
    _ = scene.delivered()
    stay(&scene, at: 130, seconds: 25)
    #expect(scene.delivered() == [])
    stay(&scene, at: 310, seconds: 1)
    #expect(scene.delivered() == ["left home", "home is outside"])
  }

  @Test("RG-25 contains is by geometry")
  func contains() {
    let circle = Circle(centre: Scene.north(0), radiusMetres: 100)
    #expect(circle.contains(Scene.north(99)) && !circle.contains(Scene.north(101)))
  }

  @Test("RG-26 a lost permission fails the whole service, without a region")
  func withdrawn() {
    var scene = monitored([home])
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(scene.delivered() == ["status denied", "monitoring all failed 4"])
  }

  @Test("A region across the date line has an inside")
  func dateLine() {
    var scene = Scene()
    let island = Region(
      "island",
      .circle(
        Circle(
          centre: Coordinate(latitudeDegrees: -17, longitudeDegrees: 179.999), radiusMetres: 500)))
    scene.call(.startMonitoring(island))
    scene.engine.receive(
      Location(
        Coordinate(latitudeDegrees: -17, longitudeDegrees: -179.999), horizontalAccuracyMetres: 5,
        timestamp: scene.now.utc), at: scene.now)
    #expect(scene.engine.regions.state(of: island) == .inside)
  }

  @Test("The demand has the distance of the nearest border, and whether a crossing is being watched")
  func demand() {
    var scene = monitored([home, circle("far", north: -5000)])
    #expect(scene.engine.sharedDemand.border.flatMap(\.metres).map { $0.rounded() } == 400)
    #expect(scene.engine.sharedDemand.border?.isCrossing == false)
    stay(&scene, at: 50, seconds: 3)
    #expect(scene.engine.sharedDemand.border?.isCrossing == true)
  }
}
