// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Testing

@Suite("Requests for the state of a region")
struct StateRequestTests {
  private let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
  private let elsewhere = Region("elsewhere", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))

  /// Moves to a place at once and stays there.
  private func stay(_ scene: inout Scene, at north: Double, seconds: Int) { scene.fixes(seconds) { _ in north } }

  @Test("RG-12 the state of a region that is not monitored is unknown at once")
  func notMonitored() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    scene.fix(500)
    _ = scene.delivered()
    scene.call(.requestState(elsewhere))
    scene.call(.requestState(home))
    #expect(scene.delivered() == ["elsewhere is unknown", "home is outside"])
  }

  @Test("RG-12 each request before the first fix has one answer, with the fix")
  func firstFix() {
    var scene = Scene(managers: 2)
    scene.call(.startMonitoring(home))
    _ = scene.delivered()
    scene.call(.requestState(home))
    scene.call(.requestState(home))
    scene.call(.requestState(home), by: 1)
    scene.wait(20)
    #expect(scene.delivered() == [])
    stay(&scene, at: 0, seconds: 60)
    #expect(scene.delivered() == ["home is inside", "home is inside"])
    #expect(scene.delivered(1) == ["home is inside"])
  }

  @Test("RG-12 a poor fix does not answer a request for a state")
  func poorFix() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    scene.call(.requestState(home))
    scene.fix(0, accuracy: 150)
    scene.fix(0)
    #expect(scene.delivered() == ["monitoring home", "home is inside"])
  }

  @Test("RG-12 without a fix a requested state is unknown after 30 s, which is its only answer")
  func noFix() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    _ = scene.delivered()
    scene.call(.requestState(home))
    scene.wait(29.9)
    #expect(scene.delivered() == [])
    scene.wait(0.1)
    #expect(scene.delivered() == ["home is unknown"])
    scene.wait(3600)
    #expect(scene.delivered() == [])
    stay(&scene, at: 500, seconds: 3)
    #expect(scene.delivered() == [])
  }

  @Test("RG-12 a new request after an unknown state waits 30 s again")
  func requestedAgain() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    scene.call(.requestState(home))
    scene.wait(40)
    _ = scene.delivered()
    scene.call(.requestState(home))
    scene.wait(29)
    #expect(scene.delivered() == [])
    scene.wait(1)
    #expect(scene.delivered() == ["home is unknown"])
  }

  @Test("RG-6 RG-12 a region whose identifier is longer than 2048 bytes is refused, and has no state")
  func longIdentifier() {
    var scene = Scene()
    for (length, word) in [(2048, "monitoring"), (2049, "failed")] {
      let region = Region(String(repeating: "x", count: length), home.shape)
      scene.call(.startMonitoring(region))
      if word == "monitoring" {
        #expect(scene.events() == [.didStartMonitoring(region)])
        continue
      }
      scene.call(.requestState(region))
      scene.call(.startRanging(.region(region)))
      #expect(
        scene.events() == [
          .monitoringDidFail(region, .regionMonitoringFailure), .didDetermineState(.unknown, region),
          .rangingDidFail(.region(region), .rangingFailure),
        ])
      scene.call(.stopMonitoring(region))
      scene.call(.stopRanging(.region(region)))
      #expect(scene.events().isEmpty && scene.engine.rangedTargets(of: ClientID(0)).isEmpty)
    }
    #expect(scene.engine.regions.monitored.count == 1)
  }

  @Test("RG-12 requests at different times are unknown after 30 s each")
  func twoRequests() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    _ = scene.delivered()
    scene.call(.requestState(home))
    scene.wait(20)
    scene.call(.requestState(home))
    scene.wait(10)
    #expect(scene.delivered() == ["home is unknown"])
    scene.wait(20)
    #expect(scene.delivered() == ["home is unknown"])
  }

  @Test("RG-12 above 256 waiting requests the state is unknown at once")
  func manyRequests() {
    var scene = Scene()
    scene.call(.startMonitoring(home))
    _ = scene.delivered()
    for _ in 0..<257 { scene.call(.requestState(home)) }
    #expect(scene.delivered() == ["home is unknown"])
    scene.fix(0)
    #expect(scene.delivered() == Array(repeating: "home is inside", count: 256))
  }

  @Test("RG-12 the end of monitoring answers a request with unknown, the removal of its manager does not")
  func endedRequest() {
    var scene = Scene(managers: 2)
    scene.call(.startMonitoring(home))
    scene.call(.requestState(home), by: 1)
    scene.call(.requestState(home))
    scene.engine.remove(ClientID(1))
    scene.call(.stopMonitoring(home))
    #expect(scene.delivered() == ["monitoring home", "home is unknown"])
    scene.call(.startMonitoring(home))
    stay(&scene, at: 0, seconds: 40)
    #expect(scene.delivered() == ["monitoring home"])
  }

  @Test("RG-12 a request for a state needs a fix now, for 30 s, however far the border was in an earlier run")
  func neededFix() {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(50_000, at: 0)
    var scene = Scene(restored: restored)
    scene.call(.startMonitoring(home))
    let far = scene.engine.sharedDemand.border
    #expect(far?.metres.map { $0 > 40_000 } == true)
    scene.call(.requestState(home))
    let near = scene.engine.sharedDemand.border
    #expect(near != nil && near?.metres == nil)
    scene.wait(30)
    #expect(scene.engine.sharedDemand.border == far)
  }

  @Test("RG-12 the state of a beacon region is reported with the first sighting, or half a minute without one")
  func beaconState() {
    let beacon = Region("shop", .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2))))
    var scene = Scene()
    scene.call(.startMonitoring(beacon))
    scene.call(.requestState(beacon))
    _ = scene.delivered()
    scene.wait(40)
    #expect(scene.delivered() == ["shop is outside"])
  }
}
