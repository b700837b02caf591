// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Live updates, monitors, sessions")
struct ModernTests {
  /// The elements of the stream since the last call.
  private func elements(_ scene: inout Scene) -> [LiveUpdate] {
    var elements: [LiveUpdate] = []
    scene.engine.outputs.removeAll { output in
      guard case .live(_, let update) = output else { return false }
      elements.append(update)
      return true
    }
    return elements
  }

  @Test("LV-1 the stream begins with its iteration and ends with it")
  func stream() {
    var scene = Scene()
    scene.fix(0)
    #expect(elements(&scene).isEmpty)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(2) { $0 * 20 }
    #expect(elements(&scene).count == 2)
    #expect(scene.engine.sharedDemand.updates == .init(.stream))
    scene.engine.endLiveUpdates(1)
    scene.fixes(2) { 50 + $0 * 20 }
    #expect(elements(&scene).isEmpty)
    #expect(scene.engine.sharedDemand.updates == nil)
  }

  @Test("LV-2 a stationary stream reports it once, then nothing until movement")
  func stationary() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(200) { _ in 0 }
    let before = elements(&scene)
    #expect(before.count == 61)
    #expect(before.count { $0.isStationary } == 1 && before.last?.isStationary == true)
    #expect(scene.engine.sharedDemand.updates?.delivery == .paused)
    scene.fixes(2) { 100 + $0 }
    #expect(elements(&scene).map(\.isStationary) == [false, false])
  }

  @Test("LV-3 without a location an element has the reason, once")
  func why() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.wait(100)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .locationUnavailable)])
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(elements(&scene).first?.diagnostic.contains(.authorizationDenied) == true)
  }

  @Test("LV-3 a stream that falls silent because the program is no longer in use reports it, once")
  func background() {
    var scene = Scene(.authorizedWhenInUse)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(2) { $0 * 20 }
    _ = elements(&scene)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .insufficientlyInUse)])
    scene.fixes(2) { 50 + $0 * 20 }
    #expect(elements(&scene).isEmpty)
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.fixes(2) { 100 + $0 * 20 }
    #expect(elements(&scene).count == 2)
  }

  /// A stationary stream at 0.
  private func stationaryScene(_ status: AuthorizationStatus = .authorizedAlways) -> Scene {
    var scene = Scene(status)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(100) { _ in 0 }
    scene.engine.outputs = []
    return scene
  }

  @Test("LV-3 a stationary stream reports a refusal, and its place again with the permission")
  func stationaryDenied() {
    var scene = stationaryScene()
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .authorizationDenied)])
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fixes(5) { _ in 0 }
    #expect(elements(&scene).map(\.isStationary) == [true])
  }

  @Test("LV-3 a stationary stream reports an outage")
  func stationaryLost() {
    var scene = stationaryScene()
    scene.wait(600)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .locationUnavailable)])
  }

  @Test("LV-3 a stationary stream reports that the program is no longer in use")
  func stationaryInBackground() {
    var scene = stationaryScene(.authorizedWhenInUse)
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .insufficientlyInUse)])
  }

  @Test("LV-3 a stream that waits for the user's answer has no outage before")
  func asked() {
    var scene = Scene(.notDetermined)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.wait(60)
    #expect(elements(&scene).map(\.diagnostic) == [.authorizationRequestInProgress])
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    scene.wait(29)
    #expect(elements(&scene).isEmpty)
    scene.wait(2)
    #expect(elements(&scene).map(\.diagnostic) == [.locationUnavailable])
  }

  @Test("LV-3 after a reset a stream waits for the answer to the new prompt")
  func reset() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.fixes(1) { $0 }
    _ = elements(&scene)
    scene.engine.authorizationChanged(to: .init(status: .notDetermined), at: scene.instant)
    #expect(elements(&scene).map(\.diagnostic) == [.authorizationRequestInProgress])
  }

  @Test("LV-3 a stream whose prompt cannot be shown waits for a session, not for an answer")
  func notShown() {
    var scene = Scene(.notDetermined)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    _ = elements(&scene)
    scene.engine.authorizationAnswered(.notShown, at: scene.instant)
    #expect(elements(&scene).map(\.diagnostic) == [.serviceSessionRequired])
  }

  @Test("LV-3 a stream that began in the background waits for the answer once the prompt is shown")
  func shownLater() {
    var scene = Scene(.notDetermined, .background)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    #expect(elements(&scene).map(\.diagnostic) == [.serviceSessionRequired])
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(elements(&scene).map(\.diagnostic) == [.authorizationRequestInProgress])
  }

  @Test("LV-3 a manager's request is the reason of a stream of explicit sessions, too")
  func askedByManager() {
    var keys = Scene.allKeys
    keys.requiresExplicitSession = true
    var scene = Scene(.notDetermined, keys: keys)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    _ = elements(&scene)
    scene.call(.requestWhenInUse)
    #expect(elements(&scene).map(\.diagnostic) == [.authorizationRequestInProgress])
  }

  @Test("LV-4 a stream requests WhenInUse by itself, unless the app declares explicit sessions")
  func implicit() {
    var scene = Scene(.notDetermined)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    #expect(scene.prompts().map(\.request) == [.whenInUse])
    var keys = Scene.allKeys
    keys.requiresExplicitSession = true
    scene = Scene(.notDetermined, keys: keys)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    #expect(scene.prompts() == [])
    #expect(elements(&scene).map(\.diagnostic) == [.serviceSessionRequired])
  }

  @Test("LV-4 with explicit sessions declared, a stream has locations while a session exists, of any goal")
  func explicit() {
    var keys = Scene.allKeys
    keys.requiresExplicitSession = true
    var scene = Scene(.authorizedAlways, keys: keys)
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .serviceSessionRequired)])
    #expect(scene.engine.sharedDemand.isEmpty)
    scene.fixes(60) { $0 * 20 }
    scene.engine.beginBackgroundActivity(7, at: scene.instant)
    #expect(elements(&scene).isEmpty)
    for session in 2...3 {
      scene.engine.beginSession(session, goal: session == 2 ? .none : .whenInUse, at: scene.instant)
      #expect(scene.engine.sharedDemand.updates != nil)
      scene.fixes(3) { 1200 + $0 * 20 }
      #expect(elements(&scene).map(\.diagnostic) == [[], [], []])
      // It is the only session.
      scene.engine.endSession(session, at: scene.instant)
      scene.fixes(3) { 1300 + $0 * 20 }
      #expect(elements(&scene) == [LiveUpdate(location: nil, diagnostic: .serviceSessionRequired)])
    }
    // A manager needs no session.
    scene.call(.startUpdatingLocation)
    scene.engine.outputs = []
    scene.fixes(1) { _ in 2000 }
    #expect(scene.delivered() == ["at 2000"])
  }

  @Test("LV-4 without a declaration of explicit sessions, the end of a session changes nothing for a stream")
  func otherSession() {
    var scene = Scene()
    scene.engine.beginLiveUpdates(1, .standard, at: scene.instant)
    scene.engine.beginSession(2, goal: .whenInUse, at: scene.instant)
    scene.engine.endSession(2, at: scene.instant)
    scene.fixes(2) { $0 * 20 }
    #expect(elements(&scene).map { $0.location != nil } == [true, true])
  }

  // MARK: Monitors

  private let circle = Region.Shape.circle(Circle(centre: Scene.north(0), radiusMetres: 100))

  private func monitored() -> Scene {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(circle, identifier: "home", to: "places", at: scene.now)
    return scene
  }

  private func states(_ scene: inout Scene) -> [Monitor.State] {
    var states: [Monitor.State] = []
    while let event = scene.engine.takeEvent(of: "places") { states.append(event.state) }
    return states
  }

  @Test("MO-1 the same name is the same monitor, and its conditions are restored")
  func name() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    _ = states(&scene)
    scene.engine.openMonitor("places", at: scene.instant)
    #expect(scene.engine.monitor("places")?.identifiers == ["home"])
    let records = scene.engine.monitor("places")?.records ?? []
    scene = Scene()
    scene.engine.openMonitor("places", restored: records, at: scene.instant)
    #expect(scene.engine.monitor("places")?.record("home")?.lastEvent.state == .satisfied)
    scene.engine.removeCondition("home", from: "places")
    #expect(scene.engine.monitor("places")?.identifiers == [])
  }

  @Test("MO-2 a condition begins unknown or as assumed, each change is an event, the same identifier replaces")
  func changes() {
    var scene = monitored()
    #expect(scene.engine.monitor("places")?.record("home")?.lastEvent.state == .unknown)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
    scene.fixes(30) { _ in 500 }
    #expect(states(&scene) == [.unsatisfied])
    scene.engine.addCondition(circle, identifier: "home", assuming: .satisfied, to: "places", at: scene.now)
    #expect(scene.engine.monitor("places")?.records.count == 1)
    scene.fixes(30) { _ in 500 }
    #expect(states(&scene) == [.unsatisfied])
  }

  @Test("MO-2 the first fix corrects a wrong assumption, unless the border is within its error")
  func assumed() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    func add(_ state: Monitor.State) {
      scene.engine.addCondition(circle, identifier: "home", assuming: state, to: "places", at: scene.now)
    }
    for (state, place, actual) in [
      (Monitor.State.unsatisfied, 0.0, Monitor.State.satisfied), (.satisfied, 500, .unsatisfied),
    ] {
      add(state)
      scene.fixes(1) { _ in place }
      #expect(states(&scene) == [actual])
      add(actual)
      scene.fixes(40) { _ in place }
      #expect(states(&scene).isEmpty)
    }
    // Four metres inside, with an error of five.
    add(.unsatisfied)
    scene.fixes(20) { _ in 96 }
    #expect(states(&scene).isEmpty)
    // Afterwards a crossing needs its time again (RG-14).
    add(.unsatisfied)
    scene.fixes(1) { _ in 500 }
    scene.fixes(15) { _ in 0 }
    #expect(states(&scene).isEmpty)
    scene.fixes(10) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  @Test("MO-3 the twenty-first condition of an app is not monitored, and an event reports it")
  func limit() {
    var scene = Scene()
    scene.engine.openMonitor("a", at: scene.instant)
    scene.engine.openMonitor("places", at: scene.instant)
    for number in 0..<20 { scene.engine.addCondition(circle, identifier: "\(number)", to: "a", at: scene.now) }
    scene.engine.addCondition(circle, identifier: "more", to: "places", at: scene.now)
    let event = scene.engine.takeEvent(of: "places")
    #expect(event?.state == .unmonitored && event?.diagnostic == .conditionLimitExceeded)
  }

  @Test("MO-3 a condition that was refused is refused again, in this run and in the next")
  func refusedAgain() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    for number in 1...21 { scene.engine.addCondition(circle, identifier: "\(number)", to: "places", at: scene.now) }
    #expect(scene.engine.takeEvent(of: "places")?.diagnostic == .conditionLimitExceeded)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    let reported = scene.engine.monitor("places")?.records ?? []
    scene.engine.addCondition(circle, identifier: "21", to: "places", at: scene.now)
    let untold = scene.engine.monitor("places")?.records ?? []
    #expect(scene.engine.takeEvent(of: "places")?.diagnostic == .conditionLimitExceeded)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == Array(repeating: .satisfied, count: 20))
    // Events that were not received are delivered in the next run; received events are not.
    for (records, words) in [(reported, []), (untold, [Monitor.State.unmonitored])] {
      scene = Scene()
      scene.engine.openMonitor("places", restored: records, at: scene.instant)
      #expect(states(&scene) == words)
      scene.fixes(1) { _ in 0 }
      #expect(states(&scene) == Array(repeating: .satisfied, count: 20))
    }
  }

  @Test("MO-3 a condition whose identifier is longer than 2048 bytes is not monitored, also with a new receiver")
  func longIdentifier() {
    var scene = Scene()
    let long = String(repeating: "x", count: 2049)
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(circle, identifier: long, to: "places", at: scene.now)
    scene.engine.setHostCapabilities(Scene.everything)
    let event = scene.engine.takeEvent(of: "places")
    #expect(event?.state == .unmonitored && event?.diagnostic == .conditionUnsupported)
    scene.engine.setHostCapabilities(Scene.everything)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [])
    let records = scene.engine.monitor("places")?.records ?? []
    scene = Scene()
    scene.engine.openMonitor("places", restored: records, at: scene.instant)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [])
  }

  @Test("MO-3 a condition that replaces a monitored one is monitored, also at the limit")
  func replacedAtLimit() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    for number in 1...20 { scene.engine.addCondition(circle, identifier: "\(number)", to: "places", at: scene.now) }
    scene.engine.addCondition(circle, identifier: "7", to: "places", at: scene.now)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene).count == 20)
    scene.engine.removeCondition("7", from: "places")
    scene.engine.addCondition(circle, identifier: "21", to: "places", at: scene.now)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  @Test(
    "MO-2 GE-6 a condition that was added before there was a receiver is monitored when one comes",
    arguments: [true, false])
  func receiverCame(isReported: Bool) {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false))
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(circle, identifier: "home", to: "places", at: scene.now)
    if isReported { #expect(states(&scene) == [.unmonitored]) }
    let records = scene.engine.monitor("places")?.records ?? []
    scene.engine.setHostCapabilities(Scene.everything)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
    // Or in the next run.
    scene = Scene()
    scene.engine.openMonitor("places", restored: records, at: scene.instant)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  @Test("MO-3 a condition that cannot be monitored here reports it")
  func unsupported() {
    var scene = Scene(
      hostCapabilities: HostCapabilities(
        hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false))
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(
      .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1))), identifier: "shop", to: "places", at: scene.now)
    let event = scene.engine.takeEvent(of: "places")
    #expect(event?.state == .unmonitored && event?.diagnostic == .conditionUnsupported)
  }

  @Test("MO-4 a condition whose event was not taken is not evaluated")
  func waiting() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    scene.fixes(40) { _ in 500 }
    scene.fixes(40) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  private func recorded(_ scene: Scene) -> Monitor.State? {
    scene.engine.monitor("places")?.record("home")?.lastEvent.state
  }

  @Test("MO-5 while an event is handled the record has the event before it")
  func last() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    #expect(recorded(scene) == .unknown)
    #expect(scene.engine.takeEvent(of: "places")?.state == .satisfied)
    #expect(recorded(scene) == .unknown)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    #expect(recorded(scene) == .satisfied)
    scene.fixes(30) { _ in 500 }
    #expect(scene.engine.takeEvent(of: "places")?.state == .unsatisfied)
    #expect(recorded(scene) == .satisfied)
    // The end of the iteration completes it too.
    scene.engine.completeEvent(of: "places")
    #expect(recorded(scene) == .unsatisfied)
  }

  @Test("MO-5 a refusal is in the record once its event is handled, and in the stored record before")
  func refusalRecorded() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    for number in 1...21 { scene.engine.addCondition(circle, identifier: "\(number)", to: "places", at: scene.now) }
    func last() -> Monitor.Event? { scene.engine.monitor("places")?.record("21")?.lastEvent }
    func stored() -> Diagnostic? { scene.engine.monitor("places")?.records.last?.lastEvent.diagnostic }
    #expect(last()?.state == .unknown && last()?.diagnostic == [] && stored() == .conditionLimitExceeded)
    #expect(scene.engine.takeEvent(of: "places")?.diagnostic == .conditionLimitExceeded)
    #expect(last()?.state == .unknown && last()?.diagnostic == [] && stored() == .conditionLimitExceeded)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    #expect(last()?.state == .unmonitored && last()?.diagnostic == .conditionLimitExceeded)
  }

  @Test("MO-5 an event of each iteration is handled until its own next one")
  func iterations() {
    var scene = monitored()
    let far = Region.Shape.circle(Circle(centre: Scene.north(0), radiusMetres: 200))
    scene.engine.addCondition(far, identifier: "far", to: "places", at: scene.now)
    scene.fixes(1) { _ in 0 }
    #expect(scene.engine.takeEvent(of: "places", by: 1)?.identifier == "home")
    #expect(scene.engine.takeEvent(of: "places", by: 2)?.identifier == "far")
    #expect(scene.engine.takeEvent(of: "places", by: 2) == nil)
    #expect(recorded(scene) == .unknown)
    #expect(scene.engine.monitor("places")?.record("far")?.lastEvent.state == .satisfied)
    #expect(scene.engine.takeEvent(of: "places", by: 1) == nil)
    #expect(recorded(scene) == .satisfied)
  }

  @Test("MO-5 an event that was being handled at the end of the program comes again in the next run")
  func crashed() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    _ = states(&scene)
    scene.fixes(30) { _ in 500 }
    #expect(scene.engine.takeEvent(of: "places")?.state == .unsatisfied)
    let records = scene.engine.monitor("places")?.records ?? []
    scene = Scene()
    scene.engine.openMonitor("places", restored: records, at: scene.instant)
    #expect(recorded(scene) == .satisfied)
    scene.fixes(30) { _ in 500 }
    #expect(states(&scene) == [.unsatisfied])
    #expect(recorded(scene) == .unsatisfied)
  }

  @Test("MO-5 the reason why nothing is monitored is handled like an event")
  func hindranceHandled() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    _ = states(&scene)
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc)?.state == .unmonitored)
    #expect(recorded(scene) == .satisfied)
    // Permission returns while the reason is handled.
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fixes(1) { _ in 0 }
    #expect(recorded(scene) == .satisfied)
    #expect(scene.engine.takeEvent(of: "places")?.state == .satisfied)
    #expect(recorded(scene) == .unmonitored)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    #expect(recorded(scene) == .satisfied)
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc)?.state == .unmonitored)
  }

  @Test("MO-2 MO-5 a condition that is replaced or removed while its event is handled has no part in it")
  func replacedWhileHandled() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    _ = scene.engine.takeEvent(of: "places")
    scene.engine.addCondition(circle, identifier: "home", assuming: .unsatisfied, to: "places", at: scene.now)
    #expect(scene.engine.takeEvent(of: "places") == nil)
    #expect(recorded(scene) == .unsatisfied)
  }

  @Test("MO-6 the event of an open condition names the beacon")
  func refinement() {
    var scene = Scene()
    let family = BeaconUUID(high: 7, low: 7)
    scene.engine.openMonitor("places", at: scene.instant)
    scene.engine.addCondition(
      .beacon(BeaconIdentity(uuid: family)), identifier: "shop", to: "places", at: scene.now)
    scene.engine.receive(
      BeaconSighting(
        uuid: family, major: 1, minor: 9, strengthDecibelMilliwatts: -50, strengthAtOneMetreDecibelMilliwatts: -59,
        received: scene.now))
    #expect(
      scene.engine.takeEvent(of: "places")?.refinement == BeaconIdentity(uuid: family, major: 1, minor: 9))
  }

  @Test("A condition that may not be watched reports the reason once, and its state when it may again")
  func hindered() {
    var scene = monitored()
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc) == nil)
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    let event = scene.engine.takeHindrance(of: "places", at: scene.now.utc)
    #expect(event?.state == .unmonitored && event?.diagnostic == .authorizationDenied)
    #expect(scene.engine.takeHindrance(of: "places", at: scene.now.utc) == nil)
    #expect(scene.engine.monitor("places")?.record("home")?.lastEvent == event)
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  @Test("MO-1 a condition that was not watched for lack of permission is watched in the next run")
  func hinderedBefore() {
    let record = Monitor.Record(
      condition: circle,
      lastEvent: Monitor.Event(
        identifier: "home", state: .unmonitored, date: Scene.utc(0), diagnostic: .authorizationDenied))
    var scene = Scene()
    scene.engine.openMonitor("places", restored: [record], at: scene.instant)
    scene.fixes(1) { _ in 0 }
    #expect(states(&scene) == [.satisfied])
  }

  @Test("MO-3 a circle without a place cannot be monitored")
  func nowhere() {
    var scene = Scene()
    scene.engine.openMonitor("places", at: scene.instant)
    let nowhere = Circle(centre: Coordinate(latitudeDegrees: 91, longitudeDegrees: 0), radiusMetres: 10)
    scene.engine.addCondition(.circle(nowhere), identifier: "x", to: "places", at: scene.now)
    #expect(scene.engine.takeEvent(of: "places")?.diagnostic == .conditionUnsupported)
  }

  // MARK: Sessions

  @Test("SS-1 a session requires its goal until it ends")
  func session() {
    var scene = Scene(.notDetermined, .background)
    scene.engine.beginSession(1, goal: .always, at: scene.instant)
    #expect(scene.prompts() == [])
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(scene.prompts().map(\.request) == [.always])
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    #expect(scene.engine.sessionDiagnostic.contains(.authorizationDenied))
    scene.engine.endSession(1, at: scene.instant)
    scene.engine.authorizationChanged(to: .init(), at: scene.instant)
    #expect(scene.prompts() == [])
  }

  @Test("SS-1 a session that requires full accuracy requests it, and reports a refusal")
  func fullAccuracy() {
    var keys = Scene.allKeys
    keys.temporaryPurposes = ["turn": "to find the turn"]
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    var scene = Scene(keys: keys, restored: restored)
    scene.engine.beginSession(1, goal: .whenInUse, fullAccuracyPurpose: "turn", at: scene.instant)
    #expect(scene.prompts().map(\.text) == ["to find the turn"])
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    #expect(scene.engine.sessionDiagnostic == .fullAccuracyDenied)
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(scene.prompts() == [])
  }

  @Test("SS-2 a background activity keeps an app in use, if it began in the foreground", arguments: [true, false])
  func activity(inForeground: Bool) {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.startUpdatingLocation)
    if !inForeground { scene.engine.setApplication(.background, at: scene.instant) }
    scene.engine.beginBackgroundActivity(1, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == (inForeground ? ["at 0"] : []))
    scene.engine.endBackgroundActivity(1, at: scene.instant)
    scene.fixes(1) { $0 }
    #expect(scene.delivered() == [])
  }
}
