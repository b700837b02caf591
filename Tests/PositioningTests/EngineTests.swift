import MonotonicTime
import Positioning
import TestSupport
import Testing

@Suite("All managers together")
struct EngineTests {
  @Test("GE-3 calls return at once and call nobody: what follows waits until it is fetched")
  func asynchronous() {
    var scene = Scene()
    scene.call(.allowDeferredUpdates(metres: 1, seconds: 1))
    #expect(scene.engine.outputs.count == 1)
    #expect(scene.heard() == ["finished 12"])
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
    // The locations of the run that permission ended are recalled; what else was made stays, in its place.
    #expect(scene.heard() == ["finished", "status denied", "failed 1", "status authorizedAlways", "at 3", "at 5"])
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
      // Each event is delivered, and answered by a call before the next one is fetched.
      while !scene.heard().isEmpty { scene.call(call) }
    }
    #expect(scene.engine.location(of: ClientID(0)) != nil)
  }

  @Test("Random histories keep the promises", arguments: 0..<50)
  func random(seed: Int) {
    var history = History(seed: seed)
    for _ in 0..<400 {
      history.step()
      let deadline = history.scene.engine.deadline
      #expect(deadline.map { $0 > history.scene.instant } ?? true, "a deadline that has passed")
      #expect(history.isConsistent)
    }
    history.end()
    #expect(history.finished == history.allowed)
    #expect(history.isRepeatingNothing)
  }

  @Test("A fix that nobody wants leaves nothing behind")
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
