// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Deferred updates")
struct DeferralTests {
  private static let never = Double.greatestFiniteMagnitude

  /// An app in the background whose updates run and have had their first fix.
  private func hike(_ application: ApplicationState = .background, settings: PositioningSettings = .init()) -> Scene {
    var scene = Scene(.authorizedAlways, application, settings: settings, managers: 2)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    _ = scene.delivered()
    return scene
  }

  private func allow(metres: Double = never, seconds: Double = never) -> ClientCall {
    .allowDeferredUpdates(metres: metres, seconds: seconds)
  }

  @Test("DF-1 each call has one finish, refused ones as well")
  func once() {
    var scene = hike()
    scene.call(allow(seconds: 5))
    scene.call(.setDistanceFilter(metres: 10))
    scene.call(allow(seconds: 5))
    scene.call(.setDistanceFilter(metres: -1))
    scene.call(allow(seconds: 5))
    scene.wait(20)
    #expect(scene.delivered() == ["finished 14", "finished 14", "finished"])
  }

  @Test("DF-2 without updates it is refused by 12")
  func notUpdating() {
    var scene = Scene()
    scene.call(allow(seconds: 10))
    #expect(scene.delivered() == ["finished 12"])
  }

  @Test("DF-3 without a satellite receiver it is refused by 11")
  func noSatellites() {
    var scene = hike()
    scene.engine.setHostCapabilities(
      HostCapabilities(hasSatelliteReceiver: false, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    )
    scene.call(allow(seconds: 10))
    #expect(scene.delivered() == ["finished 11"])
  }

  @Test("DF-4 it needs one of the two best accuracies", arguments: [(10.0, "finished 13"), (-2, "")])
  func accuracy(metres: Double, word: String) {
    var scene = hike()
    scene.call(.setDesiredAccuracy(metres: metres))
    scene.call(allow(seconds: 10))
    #expect(scene.delivered().joined() == word)
  }

  @Test("DF-5 a distance filter refuses it by 14")
  func filter() {
    var scene = hike()
    scene.call(.setDistanceFilter(metres: 5))
    scene.call(allow(seconds: 10))
    #expect(scene.delivered() == ["finished 14"])
  }

  @Test("DF-6 of several faults the first of 12, 11, 13, 14 is reported")
  func order() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: false, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false))
    scene.call(.setDesiredAccuracy(metres: 10))
    scene.call(.setDistanceFilter(metres: 10))
    scene.call(allow(seconds: 10))
    scene.call(.startUpdatingLocation)
    scene.call(allow(seconds: 10))
    scene.engine.setHostCapabilities(Scene.everything)
    scene.call(allow(seconds: 10))
    scene.call(.setDesiredAccuracy(metres: -1))
    scene.call(allow(seconds: 10))
    #expect(scene.delivered() == ["finished 12", "finished 11", "finished 13", "finished 14"])
  }

  @Test("DF-7 a second call ends the first by 15, then begins")
  func replaced() {
    var scene = hike()
    scene.call(allow(seconds: 100))
    scene.fixes(2) { $0 }
    scene.call(allow(seconds: 3))
    #expect(scene.delivered() == ["at 1 2", "finished 15"])
    scene.fixes(2) { 2 + $0 }
    scene.wait(1)
    #expect(scene.delivered() == ["finished", "at 3 4"])
  }

  @Test("DF-8 the distance counts from the position at the call, the time from the call")
  func criteria() {
    var scene = hike()
    scene.fixes(10) { $0 * 10 }
    _ = scene.delivered()
    scene.call(allow(metres: 50, seconds: 100))
    scene.fixes(4) { 100 + $0 * 10 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 150 }
    #expect(scene.delivered() == ["finished", "at 110 120 130 140 150"])
    scene.call(allow(metres: 1000, seconds: 7))
    scene.wait(6.9)
    #expect(scene.delivered() == [])
    scene.wait(0.1)
    #expect(scene.delivered() == ["finished"])
  }

  @Test("DF-8 a fix that is an hour old is not a position at the call")
  func oldPosition() {
    var scene = hike()
    scene.call(.stopUpdatingLocation)
    scene.wait(3600)
    scene.call(.startUpdatingLocation)
    _ = scene.delivered()
    scene.call(allow(metres: 5000, seconds: 600))
    scene.fixes(5) { 100_000 + $0 * 10 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 106_000 }
    #expect(scene.delivered().first == "finished")
  }

  @Test("DF-8 the path counts, not the straight line; steps within the accuracy do not")
  func path() {
    var scene = hike()
    scene.call(allow(metres: 60))
    scene.fixes(5) { $0 * 10 }
    scene.fixes(100) { 50 + $0.truncatingRemainder(dividingBy: 2) * 3 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 40 }
    #expect(scene.delivered().first == "finished")
  }

  @Test("DF-8 the straight line counts where it is set")
  func straight() {
    var settings = PositioningSettings()
    settings.deferralMeasure = .straightLine
    var scene = hike(settings: settings)
    scene.call(allow(metres: 60))
    scene.fixes(5) { $0 * 10 }
    scene.fixes(5) { 50 - $0 * 10 }
    #expect(scene.delivered() == [])
    scene.fixes(6) { $0 * 10 }
    #expect(scene.delivered().first == "finished")
  }

  @Test("DF-9 the largest distance and time are never reached", arguments: [never, .infinity])
  func forever(limit: Double) {
    var scene = hike()
    scene.call(allow(metres: limit, seconds: limit))
    scene.fixes(1000) { $0 * 40 }
    #expect(scene.delivered() == [])
    #expect(deferral(scene) == Demand.Deferral(remainingMetres: nil, ends: nil))
  }

  @Test("DF-10 in the foreground events are delivered, and the criteria evaluated")
  func foreground() {
    var scene = hike(.foreground)
    scene.call(allow(metres: 25))
    scene.fixes(4) { $0 * 10 }
    #expect(scene.delivered() == ["at 10", "at 20", "finished", "at 30", "at 40"])
  }

  @Test("DF-11 in the background fixes are kept")
  func background() {
    var scene = hike()
    scene.call(allow(seconds: 1000))
    scene.fixes(500) { $0 }
    #expect(scene.delivered() == [])
  }

  @Test("DF-12 keeping begins when the app goes to the background")
  func toBackground() {
    var scene = hike(.foreground)
    scene.call(allow(seconds: 4))
    scene.fixes(1) { $0 }
    scene.engine.setApplication(.background, at: scene.instant)
    scene.fixes(2) { 1 + $0 }
    #expect(scene.delivered() == ["at 1"])
    scene.wait(1)
    #expect(scene.delivered() == ["finished", "at 2 3"])
  }

  @Test("DF-13 when a criterion is met the finish comes, then the kept fixes, oldest first")
  func met() {
    var scene = hike()
    scene.call(allow(metres: 29))
    scene.fixes(3) { $0 * 10 }
    #expect(scene.delivered() == ["finished", "at 10 20 30"])
  }

  @Test("DF-14 after the end delivery is normal")
  func after() {
    var scene = hike()
    scene.call(allow(seconds: 2))
    scene.wait(2)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == ["finished", "at 1", "at 2"])
  }

  @Test("DF-15 a full memory is delivered, and the deferral continues")
  func full() {
    var settings = PositioningSettings()
    settings.deferralCapacity = 3
    var scene = hike(settings: settings)
    scene.call(allow(seconds: 5))
    scene.fixes(4) { $0 }
    #expect(scene.delivered() == ["at 1 2 3"])
    scene.wait(1)
    #expect(scene.delivered() == ["finished", "at 4"])
  }

  @Test("DF-16 disallow delivers the kept fixes and finishes by 15")
  func disallow() {
    var scene = hike()
    scene.call(allow(seconds: 100))
    scene.fixes(2) { $0 }
    scene.call(.disallowDeferredUpdates)
    scene.fixes(1) { _ in 3 }
    #expect(scene.delivered() == ["at 1 2", "finished 15", "at 3"])
  }

  @Test("DF-17 a stop delivers the kept fixes and finishes by 12")
  func stop() {
    var scene = hike()
    scene.call(allow(seconds: 100))
    scene.fixes(2) { $0 }
    scene.call(.stopUpdatingLocation)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == ["at 1 2", "finished 12"])
  }

  @Test("DF-18 disallow without a deferral has no effect")
  func nothing() {
    var scene = hike()
    scene.call(.disallowDeferredUpdates)
    #expect(scene.delivered() == [])
  }

  @Test("DF-19 an early end always has an error, a met criterion never")
  func errors() {
    let ends: [ClientCall] = [
      .disallowDeferredUpdates, .stopUpdatingLocation, .setDesiredAccuracy(metres: 100), .setDistanceFilter(metres: 9),
      .allowDeferredUpdates(metres: 1, seconds: 1),
    ]
    for call in ends {
      var scene = hike()
      scene.call(allow(seconds: 100))
      scene.call(call)
      #expect(scene.delivered().contains { $0.hasPrefix("finished 1") }, "\(call)")
    }
    var scene = hike()
    scene.call(allow(metres: 0, seconds: 100))
    scene.fixes(1) { _ in 0 }
    #expect(scene.delivered() == ["finished", "at 0"])
  }

  @Test("DF-20 it may be called in the finish of the previous one")
  func again() {
    var scene = hike()
    for _ in 0..<3 {
      scene.call(allow(metres: 19))
      scene.fixes(2) { $0 * 10 }
    }
    #expect(scene.delivered() == Array(repeating: ["finished", "at 10 20"], count: 3).flatMap { $0 })
  }

  @Test("DF-21 in the foreground the kept fixes come at once, and the deferral continues")
  func toForeground() {
    var scene = hike()
    scene.call(allow(seconds: 5))
    scene.fixes(2) { $0 }
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(scene.delivered() == ["at 1 2"])
    scene.fixes(1) { _ in 3 }
    scene.wait(3)
    #expect(scene.delivered() == ["at 3", "finished"])
  }

  @Test("DF-22 a setting that excludes deferral ends it")
  func unsupported() {
    var scene = hike()
    scene.call(allow(seconds: 100))
    scene.fixes(1) { $0 }
    scene.call(.setDesiredAccuracy(metres: 100))
    #expect(scene.delivered() == ["at 1", "finished 13"])
    scene.call(.setDesiredAccuracy(metres: -1))
    scene.call(allow(seconds: 100))
    scene.call(.setDistanceFilter(metres: 1))
    #expect(scene.delivered() == ["finished 14"])
  }

  @Test("DF-23 a delegate without the method for locations cannot defer, with advice")
  func noMethod() {
    var scene = hike()
    scene.call(.setDelegate([.takesErrors]))
    _ = scene.delivered()
    scene.call(allow(seconds: 100))
    #expect(scene.delivered() == ["finished 11"])
    #expect(scene.advice() == [.delegateLacks("locationManager(_:didUpdateLocations:)")])
  }

  @Test("DF-24 another client's updates continue")
  func beside() {
    var scene = hike()
    scene.call(allow(seconds: 100))
    scene.call(.startUpdatingLocation, by: 1)
    _ = scene.delivered(1)
    scene.fixes(2) { $0 }
    #expect(scene.delivered(0) == [])
    #expect(scene.delivered(1) == ["at 1", "at 2"])
  }

  @Test("DF-25 the location moves with delivery, not with keeping")
  func location() {
    var scene = hike()
    scene.call(allow(seconds: 3))
    scene.fixes(2) { $0 * 10 }
    #expect(scene.engine.location(of: ClientID(0)).map { Scene.metresNorth($0).rounded() } == 0)
    scene.wait(1)
    #expect(scene.engine.location(of: ClientID(0)).map { Scene.metresNorth($0).rounded() } == 20)
  }

  @Test("DF-26 it is the manager's own")
  func own() {
    var scene = hike()
    scene.call(.startUpdatingLocation, by: 1)
    scene.call(allow(seconds: 2), by: 0)
    scene.call(allow(seconds: 4), by: 1)
    _ = scene.delivered(1)
    scene.wait(3)
    #expect(scene.delivered(0) == ["finished"])
    #expect(scene.delivered(1) == [])
  }

  /// A program with both services, whose kept fixes end with a significant change that waits for its interval.
  private func hikeWithChange() -> Scene {
    var scene = hike()
    scene.call(.startSignificantChanges)
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.fixes(1) { _ in 0 }
    scene.call(allow())
    scene.fixes(2, every: 60) { $0 * 10 }
    _ = scene.delivered()
    return scene
  }

  @Test("SC-1 a kept fix that was delivered is not delivered by significant changes")
  func keptOnce() {
    let ends: [(inout Scene) -> Void] = [
      { $0.call(.disallowDeferredUpdates) }, { $0.call(.stopUpdatingLocation) },
      { $0.call(.setDistanceFilter(metres: 10)) }, { $0.engine.setApplication(.foreground, at: $0.instant) },
    ]
    for end in ends {
      var scene = hikeWithChange()
      end(&scene)
      #expect(scene.delivered().first == "at 600 1200")
      scene.wait(300)
      #expect(scene.delivered() == [])
    }
  }

  @Test("SC-1 a kept fix that significant changes have delivered is not delivered with the other kept ones")
  func changeOnce() {
    var scene = hikeWithChange()
    scene.wait(200)
    #expect(scene.delivered() == ["at 1200"])
    scene.call(.disallowDeferredUpdates)
    #expect(scene.delivered() == ["at 600", "finished 15"])
  }

  @Test("Fixes of a receiver's memory are delivered with their deferral")
  func batch() {
    var scene = hike()
    scene.call(allow(seconds: 60))
    scene.engine.sourceBecame(.idle, at: scene.instant)
    scene.wait(59)
    let start = scene.seconds - 59
    scene.engine.batchBegins(until: Scene.instant(scene.seconds + 10))
    scene.wait(3)
    for second in 1...62 {
      scene.engine.receive(
        Scene.location(Double(second), at: start + Double(second)), measured: Scene.instant(start + Double(second)),
        at: scene.now)
    }
    scene.engine.batchEnded(at: scene.now)
    let kept = (1...60).map { "\($0)" }.joined(separator: " ")
    #expect(scene.delivered() == ["finished", "at \(kept)", "at 61", "at 62"])
  }

  @Test("Fixes of a receiver's memory are neither lost nor out of order when a newer fix came before")
  func lateBatch() {
    var scene = hike()
    scene.call(allow(seconds: 60))
    scene.wait(59)
    scene.fix(59)
    scene.engine.batchBegins(until: Scene.instant(scene.seconds + 10))
    for second in [1, 2, 3, 3, 2] as [Double] {
      scene.engine.receive(
        Scene.location(second, at: 1000 + second), measured: Scene.instant(1000 + second), at: scene.now)
    }
    scene.engine.batchEnded(at: scene.now)
    scene.wait(1)
    #expect(scene.delivered() == ["failed 0", "finished", "at 1 2 3 59"])
  }

  @Test("The demand has the distance and the time for which fixes may stay in the receiver")
  func demand() {
    var scene = hike()
    scene.call(allow(metres: 100, seconds: 60))
    scene.fixes(3) { $0 * 10 }
    #expect(deferral(scene)?.remainingMetres?.rounded() == 70)
    #expect(deferral(scene)?.ends == Scene.instant(1060))
  }

  private func deferral(_ scene: Scene) -> Demand.Deferral? {
    guard case .deferred(let deferral) = scene.engine.demand(of: ClientID(0)).updates?.delivery else { return nil }
    return deferral
  }
}
