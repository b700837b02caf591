// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

// Programs in the background, and suspended ones.
extension AuthorizationTests {
  @Test("BG-3 DF-11 the state of a program matters with permission for when in use, and to a deferral")
  func dependence() {
    #expect(Scene(.authorizedWhenInUse).engine.dependsOnApplication)
    var always = Scene(.authorizedAlways)
    always.call(.startUpdatingLocation)
    #expect(!always.engine.dependsOnApplication)
    always.call(.setDesiredAccuracy(metres: -1))
    always.call(.allowDeferredUpdates(metres: 1000, seconds: 60))
    #expect(always.engine.dependsOnApplication)
  }

  @Test("BG-1 background updates without the mode are reported to have no effect")
  func noMode() {
    var scene = Scene(keys: whenInUseOnly())
    scene.call(.setAllowsBackgroundUpdates(true))
    #expect(scene.advice() == [.missingBackgroundMode])
  }

  @Test("BG-2 the mode alone allows them where the client has not set it", arguments: [nil, true, false])
  func modeOnly(allows: Bool?) {
    var scene = Scene()
    if let allows { scene.call(.setAllowsBackgroundUpdates(allows)) }
    scene.call(.startUpdatingLocation)
    scene.engine.setApplication(.suspended, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == (allows == false ? [] : ["at 0"]))
  }

  @Test("BG-3 with WhenInUse the background needs a session or the indicator")
  func indicator() {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startUpdatingLocation)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == [])
    scene.call(.setAllowsBackgroundUpdates(true))
    scene.call(.setShowsBackgroundIndicator(true))
    scene.fixes(1) { $0 }
    #expect(scene.delivered() == ["at 1"])
  }

  @Test("BG-4 with Always the background is like the foreground for a program that runs")
  func background4() {
    var keys = Scene.allKeys
    keys.hasLocationMode = false
    var scene = Scene(.authorizedAlways, .background, keys: keys)
    scene.call(.startUpdatingLocation)
    scene.call(.startHeading)
    scene.fix(0)
    scene.engine.receive(HeadingSample(magneticDegrees: 1, accuracyDegrees: 1, timestamp: scene.now.utc))
    #expect(scene.delivered().count == 2)
  }

  @Test(
    "BG-7 when suspended the standard service needs the mode, waking services do not, and headings are not delivered")
  func modes() {
    for hasMode in [false, true] {
      func reported(_ call: ClientCall) -> [String] {
        var keys = Scene.allKeys
        keys.hasLocationMode = hasMode
        var scene = Scene(.authorizedAlways, keys: keys)
        scene.call(call)
        scene.fix(0)
        _ = scene.delivered()
        scene.engine.setApplication(.suspended, at: scene.instant)
        scene.wait(400)
        scene.fix(700)
        scene.engine.receive(HeadingSample(magneticDegrees: 1, accuracyDegrees: 1, timestamp: scene.now.utc))
        // After this time without a fix there is also an error.
        return scene.delivered().filter { $0 != "failed 0" }
      }
      #expect(reported(.startUpdatingLocation) == (hasMode ? ["at 700"] : []))
      #expect(reported(.startSignificantChanges) == ["at 700"])
      #expect(reported(.startHeading) == [])
    }
  }

  @Test("SC-10 BG-6 a program that was woken is not stopped: its services run as long as it does")
  func woken() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startSignificantChanges)
    scene.fix(0)
    scene.wait(400)
    scene.fix(700)
    #expect(scene.delivered().filter { $0 != "failed 0" } == ["at 0", "at 700"])
    scene.call(.startUpdatingLocation)
    scene.fixes(60) { 700 + Double($0) }
    #expect(scene.delivered().count >= 60)
  }

  @Test("BG-8 a missing mode is not an error by itself")
  func missingMode() {
    var scene = Scene(keys: whenInUseOnly())
    scene.call(.startUpdatingLocation)
    #expect(scene.advice() == [])
  }

  @Test("A suspended app keeps its newest events, up to a limit")
  func bounded() {
    var scene = Scene()
    scene.call(.setAllowsBackgroundUpdates(false))
    scene.call(.setPausesAutomatically(false))
    scene.call(.startUpdatingLocation)
    scene.engine.setApplication(.suspended, at: scene.instant)
    scene.fixes(2000) { $0 }
    scene.engine.setApplication(.foreground, at: scene.instant)
    let words = scene.delivered()
    #expect(words.count == 1)
    #expect(words.first?.split(separator: " ").count == 1025)
    #expect(words.first?.hasSuffix(" 2000") == true)
  }
}
