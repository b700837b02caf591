// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Automatic pausing")
struct PausingTests {
  private func still(_ activity: Activity = .other, settings: PositioningSettings = .init()) -> Scene {
    var scene = Scene(settings: settings)
    scene.call(.setActivity(activity))
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    return scene
  }

  /// A scene that is paused, with its events read.
  private func paused() -> Scene {
    var scene = still()
    scene.fixes(900) { _ in 0 }
    _ = scene.delivered()
    return scene
  }

  @Test("PA-1 it pauses by default, and never when it may not")
  func property() {
    var scene = still()
    scene.fixes(900) { _ in 0 }
    #expect(scene.delivered().last == "paused")
    scene = still()
    scene.call(.setPausesAutomatically(false))
    scene.fixes(3000) { _ in 0 }
    #expect(scene.delivered().count == 3001)
  }

  private func pause(_ activity: Activity, wanderMetres: Double) -> Double? {
    var scene = still(activity)
    for second in 1...2000 {
      scene.fixes(1) { _ in wanderMetres * Double(second % 2) }
      if scene.delivered().contains("paused") { return Double(second) }
    }
    return nil
  }

  @Test("PA-2 other pauses where the position is unlikely to change")
  func other() {
    #expect(pause(.other, wanderMetres: 40) == 900)
    #expect(pause(.other, wanderMetres: 60) == nil)
  }

  @Test("PA-3 a car pauses only after an extended time without moving")
  func automotive() {
    #expect(pause(.automotiveNavigation, wanderMetres: 90) == 1200)
    #expect(pause(.automotiveNavigation, wanderMetres: 110) == nil)
  }

  @Test("PA-4 fitness pauses without a significant distance over a period")
  func fitness() {
    #expect(pause(.fitness, wanderMetres: 25) == 600)
    #expect(pause(.fitness, wanderMetres: 35) == nil)
  }

  @Test("PA-5 other vehicles pause without a significant distance over a period")
  func otherNavigation() {
    #expect(pause(.otherNavigation, wanderMetres: 190) == 1200)
    #expect(pause(.otherNavigation, wanderMetres: 210) == nil)
  }

  @Test("PA-6 it pauses as well without a fix")
  func noFix() {
    var scene = still()
    _ = scene.delivered()
    scene.wait(599)
    #expect(scene.delivered() == ["failed 0"])
    scene.wait(1)
    #expect(scene.delivered() == ["paused"])
  }

  @Test("PA-6 a receiver that is idle by plan is not a reason to pause")
  func idle() {
    var scene = still()
    _ = scene.delivered()
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.wait(5000)
    #expect(scene.delivered() == [])
  }

  @Test("PA-7 a pause is reported once, the hardware is released, and no location comes")
  func quiet() {
    var scene = paused()
    #expect(scene.engine.demand(of: ClientID(0)).updates?.delivery == .paused)
    scene.fixes(100) { _ in 1 }
    scene.wait(1000)
    #expect(scene.delivered() == [])
  }

  @Test("PA-8 a resume is reported once, then events flow")
  func resume() {
    var scene = paused()
    scene.fixes(3) { 100 + $0 }
    #expect(scene.delivered() == ["resumed", "at 101", "at 102", "at 103"])
  }

  @Test("PA-9 it resumes by a fix beyond the circle, by a hint, and by a fix after none")
  func triggers() {
    var scene = paused()
    scene.fixes(1, accuracy: 300) { _ in 200 }
    #expect(scene.delivered() == [])
    scene.engine.movementNoticed(at: scene.instant)
    #expect(scene.delivered() == ["resumed"])
    scene = still()
    scene.wait(600)
    _ = scene.delivered()
    scene.fix(0)
    #expect(scene.delivered() == ["resumed", "at 0"])
  }

  @Test(
    "PA-10 a start or the property ends a pause",
    arguments: [
      ClientCall.startUpdatingLocation, .setPausesAutomatically(false),
    ])
  func ended(call: ClientCall) {
    var scene = paused()
    scene.call(call)
    scene.fixes(1) { _ in 0 }
    #expect(scene.delivered() == ["resumed", "at 0"])
  }

  @Test("PA-11 a stop ends a pause without an event")
  func stop() {
    var scene = paused()
    scene.call(.stopUpdatingLocation)
    scene.fixes(5) { 1000 + $0 }
    #expect(scene.delivered() == [])
  }

  @Test("PA-12 only the standard service pauses")
  func others() {
    var scene = paused()
    scene.call(.startMonitoring(Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))))
    scene.call(.startHeading)
    scene.fixes(1) { _ in 0 }
    scene.engine.receive(HeadingSample(magneticDegrees: 10, accuracyDegrees: 1, timestamp: scene.now.utc))
    #expect(scene.delivered().filter { !$0.hasPrefix("heading 10") } == ["monitoring home"])
    #expect(scene.engine.regions.state(of: scene.engine.regions.monitored[0]) == .inside)
  }

  @Test("PA-13 a pause ends a deferral by 12")
  func deferral() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.call(.allowDeferredUpdates(metres: 1e9, seconds: 1e6))
    scene.fixes(90, every: 10) { _ in 0 }
    #expect(scene.delivered().suffix(2) == ["finished 12", "paused"])
  }

  @Test("PA-14 a manager that ends while paused receives nothing")
  func terminated() {
    var scene = paused()
    scene.engine.remove(ClientID(0))
    scene.fixes(2) { 1000 + $0 }
    #expect(scene.delivered() == [])
  }

  @Test("PA-15 in the air nothing is paused: the activity ends a pause, except without a fix")
  func airborne() {
    var scene = paused()
    scene.call(.setActivity(.fitness))
    #expect(scene.delivered() == [])
    scene.call(.setActivity(.airborne))
    #expect(scene.delivered() == ["resumed"])
    scene.fixes(2000) { _ in 0 }
    #expect(scene.delivered().count == 2000)
    scene.wait(700)
    #expect(scene.delivered().last == "paused")
    scene.call(.setActivity(.other))
    scene.call(.setActivity(.airborne))
    #expect(scene.delivered() == [])
  }

  @Test("PA-15 the times are data, and a setting replaces them; in the air nothing pauses")
  func times() {
    var settings = PositioningSettings()
    settings.pauseSeconds = 20
    var scene = still(settings: settings)
    scene.fixes(20) { _ in 0 }
    #expect(scene.delivered().last == "paused")
    scene = still(.airborne, settings: settings)
    scene.fixes(4000) { _ in 0 }
    #expect(!scene.delivered().contains("paused"))
  }
}
