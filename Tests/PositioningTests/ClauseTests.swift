// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

/// Second halves of rules; the first half is tested with the rule.
@Suite("Single clauses")
struct ClauseTests {
  private func circle(_ name: String, entry: Bool = true, exit: Bool = true) -> Region {
    Region(
      name, .circle(Circle(centre: Scene.north(0), radiusMetres: 100)), notifiesOnEntry: entry, notifiesOnExit: exit)
  }

  private func elements(_ scene: inout Scene) -> [LiveUpdate] {
    defer { scene.engine.outputs = [] }
    return scene.engine.outputs.compactMap { if case .live(_, let update) = $0 { update } else { nil } }
  }

  // MARK: Regions and beacons

  @Test("RG-10 without entries there are exits, without exits entries, and the states always")
  func flags() {
    for (entry, exit) in [(true, false), (false, true), (false, false)] {
      var scene = Scene()
      scene.call(.startMonitoring(circle("home", entry: entry, exit: exit)))
      scene.fixes(3) { _ in 500 }
      _ = scene.delivered()
      scene.fixes(30) { _ in 0 }
      #expect(scene.delivered() == (entry ? ["entered home"] : []) + ["home is inside"])
      scene.fixes(30) { _ in 500 }
      #expect(scene.delivered() == (exit ? ["left home"] : []) + ["home is outside"])
    }
  }

  @Test("RG-2 RG-13 the same region registered again starts anew: no crossing of an earlier state")
  func registeredAgain() {
    var scene = Scene()
    scene.call(.startMonitoring(circle("home")))
    scene.fixes(3) { _ in 500 }
    scene.call(.startMonitoring(circle("home")))
    #expect(scene.engine.regions.state(of: circle("home")) == .unknown)
    _ = scene.delivered()
    scene.fixes(30) { _ in 0 }
    #expect(scene.delivered() == [])
    #expect(scene.engine.regions.state(of: circle("home")) == .inside)
  }

  @Test("BE-3 a report has the mean strength of its second only")
  func strength() {
    let family = BeaconUUID(high: 1, low: 2)
    var scene = Scene()
    func receive(_ strength: Int) {
      scene.engine.receive(
        BeaconSighting(
          uuid: family, major: 1, minor: 1, strengthDecibelMilliwatts: strength,
          strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now))
    }
    func reported() -> [Int] {
      scene.events().flatMap { event -> [Int] in
        if case .didRange(let beacons, _) = event { beacons.map(\.strengthDecibelMilliwatts) } else { [] }
      }
    }
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))))
    for strength in [-50, -60, -79] { receive(strength) }
    scene.wait(1)
    #expect(reported() == [-63])
    receive(-40)
    scene.wait(1)
    #expect(reported() == [-40])
  }

  // MARK: Permission

  @Test("AU-14 a one-time grant ends with the use and with the run; a permanent one does not")
  func once() {
    for (answer, status) in [
      (Authorization.Answer.once, AuthorizationStatus.notDetermined), (.whenInUse, .authorizedWhenInUse),
    ] {
      var scene = Scene(.notDetermined)
      scene.call(.requestWhenInUse)
      scene.engine.authorizationAnswered(answer, at: scene.instant)
      #expect(scene.engine.authorization.status == .authorizedWhenInUse)
      var restored = PositioningEngine.Restored()
      restored.authorization = scene.engine.authorization.record
      #expect(Scene(restored: restored).engine.authorization.status == status)
      scene.engine.setApplication(.background, at: scene.instant)
      #expect(scene.engine.authorization.status == status)
    }
  }

  @Test("AU-14 a one-time grant continues as long as a background activity keeps the program in use")
  func onceKept() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    scene.engine.beginBackgroundActivity(1, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(scene.engine.authorization.status == .authorizedWhenInUse)
    scene.engine.endBackgroundActivity(1, at: scene.instant)
    #expect(scene.engine.authorization.status == .notDetermined)
  }

  @Test("AU-15 a client without services gets the status and no error; a pending request gets both")
  func withdrawn() {
    var scene = Scene(managers: 3)
    scene.call(.requestLocation, by: 1)
    scene.call(.startSignificantChanges, by: 2)
    scene.engine.setRestricted(true, at: scene.instant)
    #expect(scene.delivered(0) == ["status restricted"])
    #expect(scene.delivered(1) == ["status restricted", "failed 1"])
    #expect(scene.delivered(2) == ["status restricted", "failed 1"])
  }

  @Test("AU-15 a status that is reset while updates run is not a refusal")
  func reset() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    _ = scene.delivered()
    scene.engine.authorizationChanged(to: .init(), at: scene.instant)
    scene.fixes(3) { $0 }
    #expect(scene.delivered() == ["status notDetermined"])
  }

  @Test(
    "AU-16 significant changes and a filter resume with a grant that returns; services that were stopped meanwhile do not"
  )
  func back() {
    var scene = Scene(managers: 3)
    scene.call(.setDistanceFilter(metres: 1000))
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges, by: 1)
    scene.call(.startUpdatingLocation, by: 2)
    scene.fix(0)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    scene.call(.stopUpdatingLocation, by: 2)
    for number in 0..<3 { _ = scene.delivered(number) }
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.fixes(2) { $0 }
    // The cached fix, then a current one: a service that has started.
    #expect(scene.delivered(0) == ["status authorizedAlways", "at 0", "at 1"])
    #expect(scene.delivered(1) == ["status authorizedAlways", "at 0", "at 1"])
    #expect(scene.delivered(2) == ["status authorizedAlways"])
  }

  @Test("LC-6 without permission the location is nil, even after a delivery, and the stored one is hidden")
  func hidden() {
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(7, at: 0)
    for status in [AuthorizationStatus.notDetermined, .denied, .restricted] {
      #expect(Scene(status, restored: restored).engine.location(of: ClientID(0)) == nil)
    }
    var scene = Scene(restored: restored)
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.fix(0)
    #expect(scene.engine.location(of: ClientID(0)) != nil)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    #expect(scene.engine.location(of: ClientID(0)) == nil)
    scene.engine.setServicesEnabled(true, at: scene.instant)
    #expect(scene.engine.location(of: ClientID(0)) != nil)
  }

  // MARK: Significant changes, visits, headings

  @Test("SC-2 SC-3 a fix that the standard service has delivered counts as the last change")
  func besideStandard() {
    var scene = Scene()
    scene.call(.startSignificantChanges)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    scene.wait(301)
    scene.fix(400)
    scene.call(.stopUpdatingLocation)
    _ = scene.delivered()
    // 700 m from the first one, 300 m from the last; then far enough, but a minute after a delivery.
    scene.fixes(1) { _ in 700 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 1000 }
    #expect(scene.delivered() == [])
    scene.wait(299)
    #expect(scene.delivered().contains("at 1000"))
  }

  @Test("VI-3 the dates are the times of the first and of the last fix there")
  func visitDates() {
    var scene = Scene()
    scene.call(.startVisits)
    scene.fixes(10) { 5000 + $0 * 20 }
    scene.wait(1)
    scene.fixes(400) { _ in 0 }
    scene.fixes(200) { _ in 1000 }
    var visits: [Visit] = []
    for case .didVisit(let visit) in scene.events() { visits.append(visit) }
    // The tenth second was still elsewhere; the wait is a second, and the stay has 400.
    #expect(visits.map(\.arrival) == [Scene.utc(1012), Scene.utc(1012)])
    #expect(visits.map(\.departure) == [nil, Scene.utc(1411)])
  }

  @Test("VI-1 VI-2 a start, an arrival, a departure and a stop are stored, and no other change")
  func storedVisits() {
    var scene = Scene(managers: 2)
    func stores() -> Int {
      defer { scene.engine.outputs = [] }
      return scene.engine.outputs.count { $0 == .store(.visits) }
    }
    scene.call(.startVisits)
    #expect(stores() == 1 && scene.engine.visits.record.isRunning)
    scene.call(.startVisits, by: 1)
    scene.fixes(299) { _ in 0 }
    #expect(stores() == 0)
    scene.fixes(100) { _ in 0 }
    #expect(stores() == 1 && scene.engine.visits.record.current != nil)
    scene.fixes(100) { _ in 1000 }
    #expect(stores() == 1 && scene.engine.visits.record.current == nil)
    scene.call(.stopVisits, by: 1)
    #expect(stores() == 1 && !scene.engine.visits.record.isRunning)
    scene.call(.stopVisits)
    #expect(stores() == 0)
    var restored = PositioningEngine.Restored()
    restored.visits = scene.engine.visits.record
    #expect(Scene(restored: restored).engine.sharedDemand.everySeconds == nil)
  }

  @Test("HD-13 a failure is reported to clients with headings, and again after a new start")
  func headingFailure() {
    var scene = Scene(managers: 2)
    scene.call(.startHeading)
    scene.engine.headingFailed()
    #expect(scene.delivered(0) == ["failed 3"] && scene.delivered(1) == [])
    scene.call(.stopHeading)
    scene.engine.headingFailed()
    #expect(scene.delivered() == [])
    scene.call(.startHeading)
    scene.engine.headingFailed()
    #expect(scene.delivered() == ["failed 3"])
  }

  @Test("HD-14 the calibration display ends with the headings, and clients without headings are not asked")
  func calibration() {
    var scene = Scene(managers: 2)
    scene.call(.startHeading)
    scene.engine.calibrationWanted()
    #expect(scene.delivered(0) == ["calibrate?"] && scene.delivered(1) == [])
    scene.call(.showsCalibration(true))
    scene.call(.stopHeading)
    #expect(scene.engine.outputs == [.showCalibration(ClientID(0)), .hideCalibration(ClientID(0))])
    scene.engine.outputs = []
    // An answer without a prompt has no effect.
    scene.call(.showsCalibration(true))
    scene.call(.dismissCalibration)
    scene.engine.calibrated()
    #expect(scene.engine.outputs == [])
  }

  // MARK: Live updates, monitors, sessions

  @Test(
    "LV-2 each configuration has its time and its circle",
    arguments: [
      (LiveUpdates.Configuration.standard, 60, 30.0), (.automotiveNavigation, 120, 50), (.otherNavigation, 120, 100),
      (.fitness, 60, 20),
    ])
  func thresholds(configuration: LiveUpdates.Configuration, seconds: Int, metres: Double) {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, configuration, at: scene.instant)
    scene.fix(0)
    // Back and forth within the circle: stationary.
    scene.fixes(seconds - 1) { $0.truncatingRemainder(dividingBy: 2) == 0 ? 0 : metres - 1 }
    #expect(elements(&scene).allSatisfy { !$0.isStationary })
    scene.fixes(1) { _ in 0 }
    #expect(elements(&scene).map(\.isStationary) == [true])
    // Out of it: moving.
    scene.fixes(1) { _ in metres + 1 }
    #expect(elements(&scene).map(\.isStationary) == [false])
    scene.fixes(seconds * 2) { metres + 1 + $0 * (metres + 1) / 10 }
    #expect(elements(&scene).allSatisfy { !$0.isStationary })
  }

  @Test("LV-2 an airborne stream is never stationary")
  func airborne() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .airborne, at: scene.instant)
    scene.fixes(1000) { _ in 0 }
    let all = elements(&scene)
    #expect(all.count == 1000 && all.allSatisfy { !$0.isStationary })
  }

  @Test("LV-3 the flags distinguish the switch, a refusal, a policy and coarse places")
  func reasons() {
    func reason(_ change: (inout Scene) -> Void) -> [Diagnostic] {
      var scene = Scene()
      scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
      change(&scene)
      return elements(&scene).map(\.diagnostic)
    }
    #expect(
      reason { $0.engine.setServicesEnabled(false, at: $0.instant) } == [
        [.authorizationDenied, .authorizationDeniedGlobally]
      ])
    #expect(reason { $0.engine.setRestricted(true, at: $0.instant) } == [.authorizationRestricted])
    #expect(
      reason { $0.engine.authorizationChanged(to: .init(status: .denied), at: $0.instant) } == [.authorizationDenied])
    #expect(
      reason {
        $0.engine.authorizationChanged(to: .init(status: .authorizedAlways, accuracy: .reduced), at: $0.instant)
        $0.fix(0)
      } == [.accuracyLimited])
  }

  @Test("MO-5 AU-19 a condition reports that it is not monitored with reduced accuracy, and again when it is")
  func monitorWithReducedAccuracy() {
    var scene = Scene()
    scene.engine.openMonitor("work", restored: [], at: scene.instant)
    scene.engine.addCondition(shape, identifier: "place", to: "work", at: scene.now)
    scene.fixes(20) { _ in 0 }
    while scene.engine.takeEvent(of: "work") != nil {}
    scene.engine.outputs = []
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways, accuracy: .reduced), at: scene.instant)
    #expect(scene.engine.outputs.contains(.monitorHasEvent("work")))
    let event = scene.engine.waitingEvents(of: "work", at: scene.now.utc).first
    #expect(event?.state == .unmonitored && event?.diagnostic == .accuracyLimited)
  }

  private let shape = Region.Shape.circle(Circle(centre: Scene.north(0), radiusMetres: 100))

  @Test(
    "MO-1 MO-5 the stored conditions change when one is added, taken or removed; a removed one does not return"
  )
  func storedMonitor() {
    var scene = Scene()
    func stores() -> Int {
      defer { scene.engine.outputs = [] }
      return scene.engine.outputs.count { $0 == .store(.monitor("places")) }
    }
    scene.engine.openMonitor("places", at: scene.instant)
    #expect(stores() == 0)
    scene.engine.addCondition(shape, identifier: "home", to: "places", at: scene.now)
    #expect(stores() == 1)
    scene.fixes(1) { _ in 0 }
    #expect(stores() == 0)
    let taken = scene.engine.takeEvent(of: "places")
    #expect(stores() == 0)
    #expect(scene.engine.monitor("places")?.record("home")?.lastEvent.state == .unknown)
    #expect(taken?.date == scene.now.utc)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    #expect(stores() == 1)
    #expect(scene.engine.monitor("places")?.record("home")?.lastEvent == taken)
    scene.engine.removeCondition("home", from: "places")
    #expect(stores() == 1)
    scene.fixes(40) { _ in 500 }
    #expect(scene.engine.takeEvent(of: "places") == nil)
  }

  @Test("MO-2 an assumed state makes no event until it proves wrong")
  func assumed() {
    for (state, event) in [(Monitor.State.satisfied, nil), (.unsatisfied, Monitor.State.satisfied)] {
      var scene = Scene()
      scene.engine.openMonitor("places", at: scene.instant)
      scene.engine.addCondition(shape, identifier: "home", assuming: state, to: "places", at: scene.now)
      #expect(scene.engine.monitor("places")?.record("home")?.lastEvent.state == state)
      scene.fixes(40) { _ in 0 }
      #expect(scene.engine.takeEvent(of: "places")?.state == event)
    }
  }

  @Test("MO-6 a condition that names its beacon has no refinement, nor has its end")
  func refinement() {
    let beacon = BeaconIdentity(uuid: BeaconUUID(high: 7, low: 7), major: 1, minor: 9)
    for identity in [beacon, BeaconIdentity(uuid: beacon.uuid, major: 1)] {
      var scene = Scene()
      scene.engine.openMonitor("places", at: scene.instant)
      scene.engine.addCondition(.beacon(identity), identifier: "shop", to: "places", at: scene.now)
      scene.engine.receive(
        BeaconSighting(
          uuid: beacon.uuid, major: 1, minor: 9, strengthDecibelMilliwatts: -50,
          strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now))
      let event = scene.engine.takeEvent(of: "places")
      #expect(event?.state == .satisfied && event?.refinement == (identity == beacon ? nil : beacon))
      scene.engine.completeEvent(of: "places")
      scene.wait(31)
      let end = scene.engine.takeEvent(of: "places")
      #expect(end?.state == .unsatisfied && end?.refinement == nil)
    }
  }

  @Test("SS-1 the highest goal is requested, the step to Always once, and none without a session that requires more")
  func goals() {
    var scene = Scene(.notDetermined)
    scene.engine.beginSession(1, goal: .none, at: scene.instant)
    #expect(scene.prompts() == [])
    scene.engine.beginSession(2, goal: .whenInUse, at: scene.instant)
    #expect(scene.prompts().map(\.request) == [.whenInUse])
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    #expect(scene.prompts() == [])
    scene.engine.beginSession(3, goal: .always, at: scene.instant)
    #expect(scene.prompts().map(\.isUpgrade) == [true])
    #expect(scene.engine.sessionDiagnostic == .authorizationRequestInProgress)
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    #expect(scene.engine.sessionDiagnostic == .alwaysAuthorizationDenied)
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(scene.prompts() == [])
    scene.engine.endSession(3, at: scene.instant)
    #expect(scene.engine.sessionDiagnostic == [])
  }

  @Test("SS-2 of several background activities each keeps the program in use, and streams as well")
  func activities() {
    var scene = Scene(.authorizedWhenInUse)
    scene.engine.beginLiveUpdates(9, .airborne, at: scene.instant)
    scene.engine.beginBackgroundActivity(1, at: scene.instant)
    scene.engine.beginBackgroundActivity(2, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.endBackgroundActivity(1, at: scene.instant)
    scene.fixes(2) { $0 }
    #expect(elements(&scene).compactMap(\.location).count == 2)
    scene.engine.endBackgroundActivity(2, at: scene.instant)
    scene.fixes(2) { $0 }
    #expect(elements(&scene).compactMap(\.location).isEmpty)
  }

  @Test("SU-30 a suspended app gets no events of stopped or unauthorized services")
  func suspended() {
    var keys = Scene.allKeys
    keys.hasLocationMode = false
    for body: (inout Scene) -> Void in [
      { $0.call(.stopUpdatingLocation) },
      { scene in
        scene.engine.setServicesEnabled(false, at: scene.instant)
        scene.engine.setServicesEnabled(true, at: scene.instant)
        scene.call(.stopUpdatingLocation)
      },
    ] {
      var scene = Scene(keys: keys)
      scene.call(.startUpdatingLocation)
      scene.engine.setApplication(.suspended, at: scene.instant)
      scene.fixes(3) { $0 }
      body(&scene)
      scene.engine.setApplication(.foreground, at: scene.instant)
      #expect(!scene.delivered().contains { $0.hasPrefix("at") })
    }
  }
}
