// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Beacons")
struct BeaconTests {
  private let family = BeaconUUID(high: 0x1234, low: 0x5678)

  private func sighting(_ scene: Scene, major: UInt16 = 1, minor: UInt16 = 1, strength: Int? = -59) -> BeaconSighting {
    BeaconSighting(
      uuid: family, major: major, minor: minor, strengthDecibelMilliwatts: strength,
      strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now)
  }

  private func region(_ identity: BeaconIdentity) -> Region { Region("shop", .beacon(identity)) }

  @Test("BE-1 the ranged targets are a copy")
  func copy() {
    var region = region(BeaconIdentity(uuid: family))
    var scene = Scene()
    scene.call(.startRanging(.region(region)))
    region.identifier = "other"
    #expect(scene.engine.rangedTargets(of: ClientID(0)) == [.region(self.region(BeaconIdentity(uuid: family)))])
  }

  @Test("BE-2 all given identifiers must match, absent ones match any")
  func matching() {
    let scene = Scene()
    let received = sighting(scene, major: 3, minor: 4)
    #expect(BeaconIdentity(uuid: family).matches(received))
    #expect(BeaconIdentity(uuid: family, major: 3).matches(received))
    #expect(BeaconIdentity(uuid: family, major: 3, minor: 4).matches(received))
    #expect(!BeaconIdentity(uuid: family, major: 3, minor: 5).matches(received))
    #expect(!BeaconIdentity(uuid: family, minor: 3).matches(received))
    #expect(!BeaconIdentity(uuid: BeaconUUID(high: 0, low: 0)).matches(received))
  }

  @Test("BE-3 a report a second, even when empty; a silent beacon is dropped")
  func reports() {
    var scene = Scene()
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))))
    scene.wait(1)
    #expect(scene.delivered() == ["ranged "])
    scene.engine.receive(sighting(scene, minor: 1, strength: -45))
    scene.engine.receive(sighting(scene, minor: 2, strength: -90))
    scene.engine.receive(sighting(scene, minor: 3, strength: -65))
    scene.wait(1)
    #expect(scene.delivered() == ["ranged 1:immediate 3:near 2:far"])
    scene.wait(1)
    #expect(scene.delivered() == ["ranged 1:unknown 2:unknown 3:unknown"])
    scene.wait(9)
    #expect(scene.delivered().last == "ranged ")
  }

  @Test("BE-4 without Bluetooth ranging fails by 16, for a target without beacons by 17")
  func errors() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: true, hasBluetooth: false))
    scene.call(.startRanging(.region(region(BeaconIdentity(uuid: family)))))
    #expect(scene.delivered() == ["ranging failed 16"])
    scene = Scene()
    scene.call(.startRanging(.region(Region("a", .circle(Circle(centre: Scene.north(0), radiusMetres: 1))))))
    #expect(scene.delivered() == ["ranging failed 17"])
  }

  @Test("BE-4 when Bluetooth goes a ranging client gets 16, and beacons again when it is back")
  func bluetoothLost() {
    var scene = Scene()
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))))
    scene.engine.rangingFailed()
    #expect(scene.delivered() == ["ranging failed 16"])
    scene.engine.receive(sighting(scene))
    scene.wait(1)
    #expect(scene.delivered() == ["ranged 1:near"])
  }

  private func target(_ number: Int) -> Ranging.Target {
    .constraint(BeaconIdentity(uuid: family, major: UInt16(number)))
  }

  @Test("BE-4 managers of an earlier engine range as many targets as an app may; the others fail by 17")
  func limitOfResumption() throws {
    var old = Scene()
    for number in 0..<200 { old.call(.startRanging(target(number))) }
    let resumption = ClientResumption(
      services: try #require(old.engine.services(of: ClientID(0))), status: .authorizedAlways, accuracy: .full,
      settings: [])
    var scene = Scene(managers: 0)
    for number in [0, 1, 1] { scene.engine.resume(ClientID(number), resumption, at: scene.instant) }
    #expect([0, 1].map { scene.engine.rangedTargets(of: ClientID($0)).count } == [200, 56])
    #expect(scene.delivered(0) == [] && scene.delivered(1) == Array(repeating: "ranging failed 17", count: 2 * 144))
  }

  @Test("BE-4 a target beyond the limit of an app fails by 17, and is ranged once there is room")
  func limit() {
    var scene = Scene(managers: 2)
    for number in 0..<256 { scene.call(.startRanging(target(number)), by: number % 2) }
    #expect(scene.delivered(0) == [] && scene.delivered(1) == [])
    scene.call(.startRanging(target(0)), by: 0)
    #expect(scene.delivered(0) == [])
    scene.call(.startRanging(target(256)), by: 0)
    #expect(scene.delivered(0) == ["ranging failed 17"])
    scene.call(.stopRanging(target(1)), by: 1)
    scene.call(.startRanging(target(256)), by: 0)
    #expect(scene.delivered(0) == [] && scene.engine.rangedTargets(of: ClientID(0)).count == 129)
  }

  @Test("BE-5 the ranged regions are the manager's own")
  func own() {
    var scene = Scene(managers: 2)
    scene.call(.startRanging(.region(region(BeaconIdentity(uuid: family)))), by: 0)
    #expect(scene.engine.rangedTargets(of: ClientID(0)).count == 1)
    #expect(scene.engine.rangedTargets(of: ClientID(1)).isEmpty)
  }

  @Test("BE-6 equal attributes suffice to stop")
  func stop() {
    var scene = Scene()
    scene.call(.startRanging(.region(region(BeaconIdentity(uuid: family, major: 1)))))
    scene.call(.stopRanging(.region(region(BeaconIdentity(uuid: family)))))
    #expect(scene.engine.rangedTargets(of: ClientID(0)).count == 1)
    var other = region(BeaconIdentity(uuid: family, major: 1))
    other.notifiesOnExit = false
    scene.call(.stopRanging(.region(other)))
    scene.wait(5)
    #expect(scene.delivered() == [])
  }

  @Test("BE-7 a constraint is reported as a constraint")
  func constraint() {
    var scene = Scene()
    let target = Ranging.Target.constraint(BeaconIdentity(uuid: family))
    scene.call(.startRanging(target))
    scene.wait(1)
    guard case .event(_, .didRange(_, let reported), _) = scene.engine.outputs.last else {
      Issue.record("no report")
      return
    }
    #expect(reported == target)
  }

  @Test("BE-8 an unknown proximity and a negative accuracy go together")
  func unknown() {
    var scene = Scene()
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))))
    scene.engine.receive(sighting(scene))
    scene.wait(3)
    for case .event(_, .didRange(let beacons, _), _) in scene.engine.outputs {
      for beacon in beacons { #expect((beacon.accuracyMetres < 0) == (beacon.proximity == .unknown)) }
    }
    scene.engine.outputs = []
    // A beacon without a strength is present at an unknown distance.
    scene.engine.receive(sighting(scene, minor: 7, strength: nil))
    scene.wait(1)
    let reported = scene.engine.outputs.flatMap { output -> [Beacon] in
      if case .event(_, .didRange(let beacons, _), _) = output { beacons } else { [] }
    }
    let weak = reported.first { $0.minor == 7 }
    #expect(weak?.proximity == .unknown && weak?.accuracyMetres == -1 && weak?.strengthDecibelMilliwatts == 0)
  }

  @Test("BE-9 a beacon region is entered with a beacon, and exited half a minute after the last one")
  func monitoring() {
    var scene = Scene()
    scene.call(.startMonitoring(region(BeaconIdentity(uuid: family))))
    scene.wait(31)
    _ = scene.delivered()
    scene.engine.receive(sighting(scene))
    #expect(scene.delivered() == ["entered shop", "shop is inside"])
    for _ in 0..<20 {
      scene.wait(10)
      scene.engine.receive(sighting(scene))
    }
    scene.wait(29)
    #expect(scene.delivered() == [])
    scene.wait(1)
    #expect(scene.delivered() == ["left shop", "shop is outside"])
  }

  @Test(
    "BE-10 in the background it needs Always",
    arguments: [
      AuthorizationStatus.authorizedWhenInUse, .authorizedAlways,
    ])
  func background(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.startMonitoring(region(BeaconIdentity(uuid: family))))
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))))
    scene.wait(31)
    _ = scene.delivered()
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.receive(sighting(scene))
    scene.wait(1)
    #expect(scene.delivered().isEmpty == (status == .authorizedWhenInUse))
  }

  @Test("BE-9 a time without a scan is not silence")
  func notListening() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startMonitoring(region(BeaconIdentity(uuid: family))))
    scene.engine.receive(sighting(scene))
    _ = scene.delivered()
    scene.engine.setApplication(.background, at: scene.instant)
    scene.wait(1000)
    #expect(scene.engine.deadline == nil)
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.wait(29)
    #expect(scene.delivered() == [])
    scene.wait(1)
    #expect(scene.delivered() == ["left shop", "shop is outside"])
  }
}
