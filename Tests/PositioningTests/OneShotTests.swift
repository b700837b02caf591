// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("requestLocation")
struct OneShotTests {
  @Test("RQ-1 exactly one outcome, with exactly one location")
  func one() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.fixes(30) { $0 }
    #expect(scene.delivered().count == 1)
  }

  @Test("RQ-2 the most accurate fix is the outcome")
  func best() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.fixes(1, accuracy: 20) { _ in 1 }
    scene.fixes(1, accuracy: 4) { _ in 2 }
    scene.fixes(8, accuracy: 9) { _ in 3 }
    #expect(scene.delivered() == ["at 2"])
  }

  @Test("RQ-3 a fix that is accurate enough ends it")
  func enough() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.requestLocation)
    scene.fixes(1, accuracy: 150) { _ in 1 }
    #expect(scene.delivered() == [])
    scene.fixes(1, accuracy: 100) { _ in 2 }
    #expect(scene.delivered() == ["at 2"])
  }

  @Test("RQ-3 SU-24 an accuracy that is set while it is pending counts as well")
  func aimed() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.fixes(1, accuracy: 90) { _ in 1 }
    scene.call(.setDesiredAccuracy(metres: 100))
    #expect(scene.delivered() == [])
    scene.fixes(1, accuracy: 90) { _ in 2 }
    #expect(scene.delivered() == ["at 2"])
  }

  @Test("RQ-4 the best accuracy runs until there is no improvement")
  func best4() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.fixes(4, accuracy: 20) { _ in 1 }
    #expect(scene.delivered() == ["at 1"])
    scene.call(.requestLocation)
    for second in 1...9 {
      scene.fixes(1, accuracy: 100 / Double(second * second)) { _ in Double(second) }
      #expect(scene.delivered() == [], "\(second)")
    }
    scene.wait(1)
    #expect(scene.delivered() == ["at 9"])
  }

  @Test("RQ-5 after ten seconds the best so far is the outcome, even if it is not good enough")
  func limit() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 10))
    scene.call(.requestLocation)
    scene.fixes(9, accuracy: 60) { $0 }
    #expect(scene.delivered() == [])
    scene.wait(1)
    #expect(scene.delivered() == ["at 9"])
  }

  @Test("RQ-6 no fix by the limit is locationUnknown")
  func none() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.wait(9.9)
    #expect(scene.delivered() == [])
    scene.wait(0.1)
    #expect(scene.delivered() == ["failed 0"])
  }

  @Test("RQ-7 nothing comes after the outcome, and nothing is needed")
  func over() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.requestLocation)
    #expect(scene.engine.demand(of: ClientID(0)).oneShot == .metres(100))
    scene.fix(0)
    _ = scene.delivered()
    #expect(scene.engine.demand(of: ClientID(0)).isEmpty)
    scene.fixes(20) { $0 }
    #expect(scene.delivered() == [])
  }

  @Test("RQ-8 a second request while one is pending has no effect")
  func second() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.wait(5)
    scene.call(.requestLocation)
    scene.wait(30)
    #expect(scene.delivered() == ["failed 0"])
  }

  @Test("RQ-9 while updates run it has no effect")
  func running() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.call(.requestLocation)
    scene.fixes(12) { $0 }
    #expect(scene.delivered().count == 12)
  }

  @Test(
    "RQ-10 a start or a deferral cancels it",
    arguments: [
      ClientCall.startUpdatingLocation, .allowDeferredUpdates(metres: 10, seconds: 10),
    ])
  func cancelled(call: ClientCall) {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.call(call)
    scene.wait(15)
    #expect(!scene.delivered().contains("failed 0"))
  }

  @Test("RQ-10 a start or a deferral recalls a cached outcome that was not delivered yet")
  func recalled() {
    for call in [ClientCall.startUpdatingLocation, .allowDeferredUpdates(metres: 10, seconds: 10)] {
      var scene = Scene()
      scene.call(.setDesiredAccuracy(metres: 100))
      scene.fix(7)
      scene.wait(1)
      scene.call(.requestLocation)
      scene.call(call)
      #expect(scene.delivered() == (call == .startUpdatingLocation ? ["at 7"] : ["finished 12"]))
    }
  }

  @Test("RQ-11 a stop cancels it")
  func stopped() {
    var scene = Scene()
    scene.call(.requestLocation)
    scene.call(.stopUpdatingLocation)
    scene.fixes(15) { $0 }
    #expect(scene.delivered() == [])
  }

  @Test("RQ-12 the distance filter does not apply")
  func unfiltered() {
    var scene = Scene()
    scene.call(.setDistanceFilter(metres: 1000))
    scene.call(.setDesiredAccuracy(metres: 10))
    for _ in 0..<2 {
      scene.call(.requestLocation)
      scene.fixes(1) { _ in 0 }
    }
    #expect(scene.delivered() == ["at 0", "at 0"])
  }

  @Test("RQ-13 without a decision on permission a request is dropped permanently, with advice")
  func undetermined() {
    var scene = Scene(.notDetermined)
    scene.call(.requestLocation)
    #expect(scene.advice() == [.requestDropped])
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fixes(15) { $0 }
    #expect(scene.delivered() == ["status authorizedAlways"])
  }

  @Test(
    "RQ-14 refused, restricted or with services off it fails", arguments: [AuthorizationStatus.denied, .restricted])
  func denied(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.requestLocation)
    #expect(scene.delivered() == ["failed 1"])
  }

  @Test("RQ-1 AU-12 a request that is pending when permission is reset has its one outcome")
  func reset() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.requestLocation)
    scene.engine.authorizationChanged(to: .init(), at: scene.instant)
    scene.fixes(30) { $0 }
    #expect(scene.delivered() == ["status notDetermined", "failed 1"])
  }

  @Test("RQ-1 AU-14 a request that outlives a one-time grant has its one outcome")
  func onceEnds() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    _ = scene.delivered()
    scene.call(.requestLocation)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.fixes(30) { $0 }
    #expect(scene.delivered() == ["status notDetermined", "failed 1"])
  }

  @Test("RQ-15 a cached fix is the outcome if it is fresh and good enough")
  func cached() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.fix(7)
    scene.wait(5)
    scene.call(.requestLocation)
    #expect(scene.delivered() == ["at 7"])
    scene.wait(0.1)
    scene.call(.requestLocation)
    #expect(scene.delivered() == [])
    scene.fix(8)
    #expect(scene.delivered() == ["at 8"])
  }

  @Test("RQ-15 a program that requests again for each answer gets each fix once, and once from the cache")
  func repeated() {
    var scene = Scene()
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.fix(0)
    var answers: [String] = []
    for place in 1...3 {
      for _ in 0..<4 {
        scene.call(.requestLocation)
        answers += scene.delivered()
      }
      scene.wait(0.9)
      scene.fix(Double(place))
      answers += scene.delivered()
    }
    #expect(answers == ["at 0", "at 1", "at 1", "at 2", "at 2", "at 3"])
  }

  @Test("RQ-16 a delegate without the methods causes advice")
  func noMethods() {
    var scene = Scene()
    scene.call(.setDelegate([]))
    scene.call(.requestLocation)
    scene.wait(10)
    #expect(scene.advice() == [.delegateLacks("locationManager(_:didFailWithError:)")])
    scene.call(.setDesiredAccuracy(metres: 100))
    scene.call(.requestLocation)
    scene.fix(0)
    #expect(scene.advice() == [.delegateLacks("locationManager(_:didUpdateLocations:)")])
  }
}
