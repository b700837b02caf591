// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import TestSupport
import Testing

@Suite("All managers together")
struct EngineTests {
  @Test("GE-3 calls return at once and call no delegate: events wait until they are fetched")
  func asynchronous() {
    var scene = Scene()
    scene.call(.allowDeferredUpdates(metres: 1, seconds: 1))
    #expect(scene.engine.outputs.count == 1)
    #expect(scene.delivered() == ["finished 12"])
  }

  @Test("GE-3 SU-18 events from before the delegate was assigned go to it", arguments: [AuthorizationStatus.denied])
  func late(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.setDelegate(nil))
    scene.call(.startUpdatingLocation)
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.delivered() == ["failed 1", "status denied"])
  }

  @Test("RQ-1 TH-3 the outcome of a request goes to the delegate that replaced the former")
  func reassigned() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.requestLocation)
    scene.fix(7)
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.delivered() == ["at 7", "status authorizedAlways"])
    scene.call(.requestLocation)
    scene.call(.setDelegate(nil))
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.delivered() == ["at 7", "status authorizedAlways"])
  }

  @Test("RG-1 a region that was registered before the delegate was assigned is reported to it")
  func registered() {
    var scene = Scene()
    scene.call(.setDelegate(nil))
    scene.call(.startMonitoring(Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))))
    scene.call(.setDelegate([.takesLocations, .takesErrors]))
    #expect(scene.delivered() == ["monitoring home", "status authorizedAlways"])
  }

  @Test("AU-2 AU-3 each delegate receives the status once by its assignment, and none of the former's")
  func assignedTwice() {
    var scene = Scene(.authorizedAlways)
    scene.call(.setDelegate([.takesErrors]))
    scene.engine.setServicesEnabled(false, at: scene.instant)
    scene.call(.setDelegate([.takesErrors]))
    #expect(scene.delivered() == ["status denied"])
  }

  @Test(
    "GE-1 every service reports that it is denied, and begins with the permission",
    arguments: [ClientCall.startUpdatingLocation, .startSignificantChanges, .startVisits, .startHeading])
  func deniedStart(call: ClientCall) {
    var scene = Scene()
    scene.engine.setServicesEnabled(false, at: scene.instant)
    _ = scene.delivered()
    scene.call(call)
    scene.engine.receive(HeadingSample(magneticDegrees: 10, accuracyDegrees: 3, timestamp: scene.now.utc))
    scene.fixes(400) { _ in 0 }
    #expect(scene.delivered() == ["failed 1"])
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.engine.receive(HeadingSample(magneticDegrees: 10, accuracyDegrees: 3, timestamp: scene.now.utc))
    scene.fixes(400) { _ in 0 }
    #expect(scene.delivered().count >= 2)
  }

  @Test(
    "AU-9 every service that is started before a permission request waits, with advice",
    arguments: [ClientCall.startUpdatingLocation, .startSignificantChanges, .startVisits, .startHeading])
  func undeterminedStart(call: ClientCall) {
    var scene = Scene(.notDetermined)
    scene.call(call)
    #expect(scene.delivered() == [] && scene.advice() == [.permissionNotRequested])
    scene = Scene(.notDetermined, keys: UsageKeys())
    scene.call(call)
    #expect(scene.delivered() == ["failed 18"] && scene.advice().count == 1)
  }

  @Test("AU-15 running visits and headings end with one error when permission is withdrawn")
  func withdrawn() {
    for call in [ClientCall.startVisits, .startHeading] {
      var scene = Scene()
      scene.call(call)
      scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
      #expect(scene.delivered() == ["status denied", "failed 1"])
    }
  }

  @Test(
    "HD-1 GE-1 without a compass a start of headings has no event, in every status",
    arguments: [AuthorizationStatus.denied, .notDetermined])
  func noCompass(status: AuthorizationStatus) {
    var scene = Scene(
      status,
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false))
    scene.call(.startHeading)
    #expect(scene.delivered() == [] && scene.advice() == [])
  }

  @Test("LC-1 LC-2 a location that another program has stored is the newest, if it is newer")
  func learnt() {
    var scene = Scene()
    let manager = ClientID(0)
    scene.engine.learn(Scene.location(1, at: 900))
    #expect(scene.engine.location(of: manager).map(Scene.metresNorth)?.rounded() == 1)
    scene.fix(2)
    scene.engine.learn(Scene.location(3, at: 950))
    #expect(scene.engine.location(of: manager).map(Scene.metresNorth)?.rounded() == 2)
    scene.wait(60)
    scene.engine.learn(Scene.location(4, at: 1050))
    #expect(scene.engine.location(of: manager).map(Scene.metresNorth)?.rounded() == 4)
    #expect(scene.engine.newestMeasured == nil)
    // A service starts with it as the cached location, and it is not an outcome of a request, because its age is
    // unknown.
    scene.call(.startUpdatingLocation)
    #expect(scene.delivered() == ["at 4"])
  }

  @Test("TH-2 events of a manager come in the order in which they occurred")
  func order() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.allowDeferredUpdates(metres: 1e6, seconds: 3))
    scene.fixes(3) { $0 }
    scene.engine.setServicesEnabled(false, at: scene.instant)
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.fixes(1) { _ in 5 }
    // The locations of the run that ended with the permission are recalled; other events stay in their order.
    #expect(scene.delivered() == ["finished", "status denied", "failed 1", "status authorizedAlways", "at 3", "at 5"])
  }

  @Test("TH-6 any call may be made from inside a callback")
  func inside() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    let calls: [ClientCall] = [
      .allowDeferredUpdates(metres: 20, seconds: 9), .disallowDeferredUpdates, .stopUpdatingLocation,
      .startUpdatingLocation, .requestLocation, .setDelegate(nil), .setDelegate([.takesLocations, .takesErrors]),
    ]
    for call in calls {
      scene.fixes(1) { $0 }
      // Each event is delivered, and followed by a call before the next one is fetched.
      while !scene.delivered().isEmpty { scene.call(call) }
    }
    #expect(scene.engine.location(of: ClientID(0)) != nil)
  }

  @Test("Random histories keep the rules", arguments: 0..<50)
  func random(seed: Int) {
    var history = History(seed: seed)
    for _ in 0..<400 {
      history.step()
      let deadline = history.scene.engine.deadline
      #expect(deadline.map { $0 > history.scene.instant } ?? true, "a deadline in the past")
      #expect(history.isConsistent)
    }
    history.end()
    #expect(history.finished == history.allowed)
    #expect(history.isRepeatingNothing)
  }

  @Test("A fix that no client needs leaves no output")
  func rejected() {
    var scene = Scene(managers: 100)
    for number in 0..<100 {
      scene.call(.setDistanceFilter(metres: 1000), by: number)
      scene.call(.startUpdatingLocation, by: number)
    }
    for number in 0..<20 {
      scene.call(
        .startMonitoring(
          Region("\(number)", .circle(Circle(centre: Scene.north(Double(number) * 500), radiusMetres: 100)))))
    }
    scene.fix(0)
    scene.engine.outputs = []
    for _ in 0..<1000 {
      scene.wait(0.25)
      scene.fix(1)
    }
    #expect(scene.engine.outputs == [])
  }
}
