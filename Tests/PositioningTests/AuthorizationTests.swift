// SPDX-License-Identifier: Apache-2.0
import Positioning
import Testing

@Suite("Authorization")
struct AuthorizationTests {
  func whenInUseOnly() -> UsageKeys {
    var keys = UsageKeys()
    keys.whenInUse = "to show where you are"
    return keys
  }

  @Test("AU-1 the status has the numbers of CLAuthorizationStatus")
  func numbers() {
    #expect(AuthorizationStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(AuthorizationStatus.authorizedAlways.rawValue == 3)
  }

  @Test("AU-2 a delegate that is assigned receives the status in every case", arguments: AuthorizationStatus.allCases)
  func assigned(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.setDelegate([.takesErrors]))
    #expect(scene.delivered() == ["status \(status)"])
    scene.call(.setDelegate(nil))
    #expect(scene.delivered() == [])
  }

  @Test("AU-3 a change is reported to each manager once; without a change there is no event")
  func change() {
    var scene = Scene(.authorizedAlways, managers: 2)
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    #expect(scene.delivered(0) == [])
    scene.engine.setServicesEnabled(false, at: scene.instant)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    #expect(scene.delivered(0) == ["status denied"])
    #expect(scene.delivered(1) == ["status denied"])
  }

  @Test("AU-5 the prompt does not block the call; its answer makes the event")
  func asynchronous() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    #expect(scene.delivered() == [])
    #expect(scene.engine.authorization.status == .notDetermined)
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    #expect(scene.delivered() == ["status authorizedWhenInUse"])
  }

  @Test(
    "AU-6 once the status is determined a request has no effect",
    arguments: [
      AuthorizationStatus.restricted, .denied, .authorizedAlways, .authorizedWhenInUse,
    ])
  func decided(status: AuthorizationStatus) {
    var scene = Scene(status)
    scene.call(.requestWhenInUse)
    if status != .authorizedWhenInUse { scene.call(.requestAlways) }
    #expect(scene.engine.outputs == [])
  }

  @Test(
    "AU-6 the one exception is a single step from WhenInUse to Always",
    arguments: [
      (Authorization.Answer.always, ["status authorizedAlways"]), (.deny, []),
    ])
  func upgrade(answer: Authorization.Answer, words: [String]) {
    var scene = Scene(.authorizedWhenInUse)
    scene.call(.requestAlways)
    #expect(scene.prompts().map(\.isUpgrade) == [true])
    scene.engine.authorizationAnswered(answer, at: scene.instant)
    #expect(scene.delivered() == words)
    scene.engine.authorizationChanged(
      to: .init(status: .authorizedWhenInUse, hasAskedForUpgrade: true), at: scene.instant)
    scene.call(.requestAlways)
    #expect(scene.prompts() == [])
  }

  @Test("AU-7 Always includes WhenInUse, not the reverse")
  func includes() {
    var scene = Scene(.authorizedAlways)
    scene.call(.startUpdatingLocation)
    scene.fix(0)
    #expect(scene.delivered() == ["at 0"])
    scene.engine.setApplication(.background, at: scene.instant)
    scene.fixes(1) { $0 }
    #expect(scene.delivered() == ["at 1"])
  }

  @Test(
    "AU-8 without the key there is no prompt, and this is reported",
    arguments: [
      (ClientCall.requestWhenInUse, "NSLocationWhenInUseUsageDescription", "requestWhenInUseAuthorization()"),
      (
        .requestAlways, "NSLocationAlwaysAndWhenInUseUsageDescription and NSLocationWhenInUseUsageDescription",
        "requestAlwaysAuthorization()"
      ),
    ])
  func missingKey(call: ClientCall, key: String, method: String) {
    var scene = Scene(.notDetermined, keys: UsageKeys())
    scene.call(call)
    #expect(scene.events() == [.didFailToAsk(missingKeys: key)])
    let advice = scene.advice()
    #expect(advice == [.missingUsageKey(key, method: method)])
    #expect(advice.allSatisfy { $0.message.contains(key) && $0.message.contains(method) })
    #expect(scene.prompts() == [])
    #expect(scene.engine.authorization.status == .notDetermined)
  }

  @Test("AU-9 a start without any key is reported as well; with keys it waits, with one advice")
  func start() {
    var scene = Scene(.notDetermined, keys: UsageKeys())
    scene.call(.startUpdatingLocation)
    #expect(scene.delivered() == ["failed 18"])
    #expect(
      scene.advice() == [.missingUsageKey("NSLocationWhenInUseUsageDescription", method: "startUpdatingLocation()")])
    scene = Scene(.notDetermined)
    scene.call(.startUpdatingLocation)
    scene.call(.startUpdatingLocation)
    #expect(scene.delivered() == [])
    #expect(scene.advice() == [.permissionNotRequested])
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == ["status authorizedWhenInUse", "at 0"])
  }

  @Test("AU-9 with the key of macOS a start makes the request by itself")
  func implicit() {
    var keys = UsageKeys()
    keys.usage = "to know"
    var scene = Scene(.notDetermined, keys: keys)
    scene.call(.startUpdatingLocation)
    #expect(scene.prompts().map(\.text) == ["to know"])
    scene.engine.authorizationAnswered(.always, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == ["status authorizedAlways", "at 0"])
  }

  @Test("AU-9 AU-8 a start without any key is reported in the background too")
  func noKeyBehind() {
    var scene = Scene(.notDetermined, .background, keys: UsageKeys())
    scene.call(.startUpdatingLocation)
    #expect(scene.delivered() == ["failed 18"])
    #expect(scene.advice().count == 1)
    scene.call(.requestAlways)
    #expect(scene.delivered() == ["failed 18"])
    #expect(scene.advice().count == 1)
  }

  @Test("AU-9 C1 a start in the background reports that it waits, and makes the request in the foreground")
  func implicitBehind() {
    var keys = UsageKeys()
    keys.usage = "to know"
    var scene = Scene(.notDetermined, .background, keys: keys)
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    #expect(scene.prompts() == [])
    #expect(scene.advice() == [.permissionWaitsForForeground])
    #expect(scene.engine.waitsForForeground)
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(scene.prompts().map(\.text) == ["to know"])
    #expect(!scene.engine.waitsForForeground)
    scene.engine.authorizationAnswered(.always, at: scene.instant)
    scene.fix(0)
    #expect(scene.delivered() == ["status authorizedAlways", "at 0"])
  }

  @Test("AU-8 SS-1 for sessions a missing key is reported once, in foreground and background")
  func noKeySession() {
    var scene = Scene(.notDetermined, .background, keys: UsageKeys())
    scene.engine.beginSession(1, goal: .whenInUse, at: scene.instant)
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(scene.advice().count == 1)
  }

  @Test("AU-10 Always needs both keys, or the one of old")
  func alwaysKeys() {
    var scene = Scene(.notDetermined, keys: whenInUseOnly())
    scene.call(.requestAlways)
    #expect(scene.delivered() == ["failed 18"])
    var onlyBoth = UsageKeys()
    onlyBoth.alwaysAndWhenInUse = "always"
    scene = Scene(.notDetermined, keys: onlyBoth)
    scene.call(.requestAlways)
    #expect(scene.delivered() == ["failed 18"])
    var old = UsageKeys()
    old.always = "of old"
    scene = Scene(.notDetermined, keys: old)
    scene.call(.requestAlways)
    #expect(scene.prompts().map(\.text) == ["of old"])
  }

  @Test("AU-11 the prompt has the app's usage description")
  func words() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    #expect(scene.prompts().map(\.text) == ["to show where you are"])
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    scene.engine.authorizationChanged(to: .init(), at: scene.instant)
    scene.call(.requestAlways)
    #expect(scene.prompts().map(\.text) == ["to remember where you were"])
  }

  @Test("AU-12 there is one prompt, and another after a reset")
  func once() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.call(.requestAlways)
    #expect(scene.prompts().count == 1)
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    scene.call(.requestWhenInUse)
    #expect(scene.prompts() == [])
    scene.engine.authorizationChanged(to: .init(), at: scene.instant)
    scene.call(.requestWhenInUse)
    #expect(scene.prompts().count == 1)
  }

  @Test("AU-13 a request in the background has no effect, and one line says how to grant")
  func background() {
    var scene = Scene(.notDetermined, .background)
    scene.call(.requestWhenInUse)
    scene.call(.requestAlways)
    #expect(scene.advice() == [.permissionCannotBeAsked(.authorizedAlways)])
    #expect(scene.engine.outputs == [])
    // In the foreground the program can prompt; back in the background the next request is reported again.
    scene.engine.setApplication(.foreground, at: scene.instant)
    scene.engine.setApplication(.background, at: scene.instant)
    scene.call(.requestAlways)
    #expect(scene.advice() == [.permissionCannotBeAsked(.authorizedAlways)])
  }

  @Test("AU-13 the line has the command that grants, in the program's name and its environment")
  func command() {
    let line = { (advice: Advice, command: GrantCommand) in advice.message(granting: command) }
    #expect(
      line(.permissionCannotBeAsked(.authorizedAlways), GrantCommand(program: "org.example.Hike"))
        .contains("`sextant authorize grant org.example.Hike always`"))
    #expect(
      line(
        .permissionCannotBeAsked(.authorizedWhenInUse),
        GrantCommand(program: "it's mine", environment: "SEXTANT_STATE_DIR=/run/hike")
      ).contains(#"`SEXTANT_STATE_DIR=/run/hike sextant authorize grant 'it'\''s mine' whenInUse`"#))
    for advice in [Advice.permissionWaitsForForeground, .notInUse] {
      #expect(line(advice, GrantCommand(program: "hike")).contains("sextant authorize grant hike always"))
    }
  }

  @Test("AU-13 a prompt that could not be shown is answered by the same line, whatever the application state")
  func notShown() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    _ = scene.prompts()
    scene.engine.authorizationAnswered(.notShown, at: scene.instant)
    #expect(scene.advice() == [.permissionCannotBeAsked(.authorizedWhenInUse)])
    #expect(scene.engine.authorization.status == .notDetermined)
    // The program makes another request, which is not reported to the user again.
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.notShown, at: scene.instant)
    #expect(scene.advice() == [])
  }

  @Test("AU-13 a prompt that is shown elsewhere is answered by the line and by an agent")
  func shownElsewhere() {
    var settings = PositioningSettings()
    settings.asksInBackground = true
    var scene = Scene(.notDetermined, .background, settings: settings)
    scene.engine.promptIsNotShown()
    #expect(scene.advice() == [])
    scene.call(.requestWhenInUse)
    scene.engine.promptIsNotShown()
    scene.engine.promptIsNotShown()
    #expect(scene.advice() == [.permissionCannotBeAsked(.authorizedAlways)])
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    #expect(scene.delivered() == ["status authorizedWhenInUse"])
  }

  @Test(
    "AU-9 AU-13 after a request that is not shown, a start is silent and requestLocation is refused",
    arguments: [Authorization.Request.whenInUse, .always])
  func afterRequest(request: Authorization.Request) {
    var scene = Scene(.notDetermined, .background)
    scene.call(request == .always ? .requestAlways : .requestWhenInUse)
    #expect(scene.advice() == [.permissionCannotBeAsked(.authorizedAlways)])
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.call(.startVisits)
    #expect(scene.advice() == [] && scene.delivered() == [])
    scene.call(.requestLocation)
    #expect(scene.advice() == [] && scene.delivered() == ["failed 1"])
    scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
    scene.fix(3)
    #expect(scene.delivered().prefix(2) == ["status authorizedAlways", "at 3"])
  }

  @Test("RQ-13 while the prompt is open requestLocation is dropped, and the line does not ask for another request")
  func beforeAnswer() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.call(.requestLocation)
    #expect(scene.advice() == [.requestBeforeAnswer])
    scene.engine.authorizationAnswered(.whenInUse, at: scene.instant)
    scene.fixes(15) { $0 }
    #expect(scene.delivered() == ["status authorizedWhenInUse"])
  }

  @Test("AU-13 RQ-1 a request for a location beside a question that turns out not to be shown is refused")
  func besideQuestion() {
    for isShownElsewhere in [false, true] {
      var scene = Scene(.notDetermined, managers: 2)
      scene.call(.requestWhenInUse)
      for _ in 0..<2 { scene.call(.requestLocation) }
      #expect(scene.delivered(0) == [])
      if isShownElsewhere {
        scene.engine.promptIsNotShown()
      } else {
        scene.engine.authorizationAnswered(.notShown, at: scene.instant)
      }
      #expect(scene.delivered(0) == ["failed 1"] && scene.delivered(1) == [])
      // The grant does not repeat the request (RQ-13).
      scene.engine.authorizationChanged(to: .init(status: .authorizedAlways), at: scene.instant)
      scene.fixes(15) { $0 }
      #expect(scene.delivered(0) == ["status authorizedAlways"])
    }
  }

  @Test("RQ-11 a dropped request that was stopped, or whose question was answered, is not refused")
  func stoppedBesideQuestion() {
    var scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.call(.requestLocation)
    scene.call(.stopUpdatingLocation)
    scene.engine.authorizationAnswered(.notShown, at: scene.instant)
    #expect(scene.delivered() == [])
    var answered = Scene(.notDetermined)
    answered.call(.requestWhenInUse)
    answered.call(.requestLocation)
    answered.engine.authorizationAnswered(.whenInUse, at: answered.instant)
    answered.engine.authorizationChanged(to: .init(status: .notDetermined), at: answered.instant)
    answered.call(.requestWhenInUse)
    answered.engine.authorizationAnswered(.notShown, at: answered.instant)
    #expect(answered.delivered() == ["status authorizedWhenInUse", "status notDetermined"])
  }

  @Test("AU-8 AU-9 a condition names the missing request or the missing key once")
  func condition() {
    for (keys, advice) in [
      (Scene.allKeys, Advice.permissionNotRequested),
      (UsageKeys(), .missingUsageKey("NSLocationWhenInUseUsageDescription", method: "CLMonitor.add(_:identifier:)")),
    ] {
      var scene = Scene(.notDetermined, keys: keys)
      scene.engine.openMonitor("places", at: scene.instant)
      let circle = Region.Shape.circle(Circle(centre: Scene.north(0), radiusMetres: 100))
      for name in ["home", "work"] { scene.engine.addCondition(circle, identifier: name, to: "places", at: scene.now) }
      #expect(scene.advice() == [advice])
    }
  }

  @Test("AU-13 where questions are shown outside the program's terminal, a request in the background asks")
  func asksInBackground() {
    var settings = PositioningSettings()
    settings.asksInBackground = true
    var scene = Scene(.notDetermined, .background, settings: settings)
    scene.call(.requestAlways)
    #expect(scene.engine.authorization.asked?.request == .always)
    #expect(!scene.engine.waitsForForeground)
    scene.engine.authorizationAnswered(.always, at: scene.instant)
    #expect(scene.engine.authorization.record.status == .authorizedAlways)
  }

  @Test("AU-14 a grant is stored; one for once ends with the use")
  func persists() {
    var scene = Scene(.notDetermined)
    scene.call(.requestAlways)
    scene.engine.authorizationAnswered(.always, at: scene.instant)
    #expect(scene.engine.outputs.contains(.store(.authorization)))
    #expect(scene.engine.authorization.record.status == .authorizedAlways)
    scene = Scene(.notDetermined)
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    #expect(scene.engine.authorization.status == .authorizedWhenInUse)
    #expect(scene.engine.authorization.record.status == .notDetermined)
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(scene.delivered() == ["status authorizedWhenInUse", "status notDetermined"])
  }

  @Test("AU-15 denied while running: first the status, then one error, then nothing")
  func withdrawn() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.fix(0)
    _ = scene.delivered()
    scene.engine.authorizationChanged(to: .init(status: .denied), at: scene.instant)
    scene.fixes(3) { $0 }
    #expect(scene.delivered() == ["status denied", "failed 1"])
  }

  @Test("AU-16 a grant that returns resumes what was started")
  func back() {
    var scene = Scene()
    scene.call(.startUpdatingLocation)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    scene.fixes(3) { $0 }
    _ = scene.delivered()
    scene.engine.setServicesEnabled(true, at: scene.instant)
    scene.fixes(1) { _ in 9 }
    #expect(scene.delivered() == ["status authorizedAlways", "at 9"])
  }

  @Test("AU-17 with WhenInUse nothing works in the background, and this is reported")
  func behind() {
    var scene = Scene(.authorizedWhenInUse, .background)
    scene.call(.startUpdatingLocation)
    scene.call(.startSignificantChanges)
    scene.call(.startHeading)
    scene.fixes(3) { $0 }
    scene.engine.receive(HeadingSample(magneticDegrees: 1, accuracyDegrees: 1, timestamp: scene.now.utc))
    #expect(scene.delivered() == [])
    #expect(scene.advice() == [.notInUse])
    #expect(scene.engine.demands == [])
    // There is no event for this: the state must be polled until the program is in the foreground again.
    #expect(scene.engine.waitsForForeground)
    scene.engine.setApplication(.foreground, at: scene.instant)
    #expect(!scene.engine.waitsForForeground)
    scene.fixes(1) { _ in 4 }
    #expect(scene.delivered() == ["at 4"])
  }

  @Test("BG-4 with Always nothing waits for the foreground")
  func waitsForNothing() {
    var scene = Scene(.authorizedAlways, .background)
    scene.call(.startUpdatingLocation)
    #expect(!scene.engine.waitsForForeground)
  }

  @Test("AU-18 a grant stays valid when keys are added")
  func moreKeys() {
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedWhenInUse)
    #expect(Scene(keys: whenInUseOnly(), restored: restored).engine.authorization.status == .authorizedWhenInUse)
    #expect(Scene(keys: Scene.allKeys, restored: restored).engine.authorization.status == .authorizedWhenInUse)
  }

  @Test("AU-19 reduced accuracy: coarse cells, no regions, no ranging, the same callback")
  func reduced() {
    var scene = Scene()
    let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
    scene.call(.startMonitoring(home))
    scene.call(.startUpdatingLocation)
    _ = scene.delivered()
    scene.engine.authorizationChanged(
      to: .init(status: .authorizedAlways, accuracy: .reduced), at: scene.instant)
    #expect(scene.delivered() == ["status authorizedAlways"])
    scene.fixes(1300) { $0 }
    var locations: [Location] = []
    for case .event(_, .didUpdateLocations(let some), _) in scene.engine.outputs { locations += some }
    #expect(locations.count == 2)
    #expect(Set(locations.map(\.coordinate)).count == 1)
    #expect(locations.allSatisfy { $0.horizontalAccuracyMetres == 5000 })
    #expect(locations.first.map { $0.distanceMetres(from: Scene.location(0, at: 0)) < 7500 } == true)
    _ = scene.delivered()
    scene.call(.startMonitoring(home))
    scene.call(.startRanging(.constraint(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1)))))
    #expect(scene.delivered() == ["monitoring home failed 4", "ranging failed 17"])
    #expect(scene.engine.sharedDemand.border == nil)
  }

  @Test("AU-19 a coarse fix in the same cell is still a fix: no outage, and an outcome for a request")
  func reducedGoesOn() {
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    var scene = Scene(keys: Scene.allKeys, restored: restored)
    scene.call(.startUpdatingLocation)
    scene.fixes(120) { _ in 0 }
    let delivered = scene.delivered()
    #expect(delivered.count { $0.hasPrefix("at") } == 1, "\(delivered)")
    #expect(!delivered.contains { $0.contains("failed") }, "\(delivered)")
    // A new start and a request get an answer.
    scene.call(.stopUpdatingLocation)
    scene.call(.requestLocation)
    scene.fixes(12) { _ in 0 }
    let answer = scene.delivered()
    #expect(answer.count == 1 && answer[0].hasPrefix("at"), "\(answer)")
    scene.call(.startUpdatingLocation)
    scene.fixes(60) { _ in 0 }
    let again = scene.delivered()
    #expect(again.contains { $0.hasPrefix("at") } && !again.contains { $0.contains("failed") }, "\(again)")
  }

  @Test("RG-12 while nothing may be monitored, the side is unknown")
  func stateWithoutPermission() {
    var scene = Scene()
    let home = Region("home", .circle(Circle(centre: Scene.north(0), radiusMetres: 100)))
    scene.call(.startMonitoring(home))
    scene.fixes(20) { _ in 0 }
    scene.call(.requestState(home))
    #expect(scene.delivered().last?.contains("inside") == true)
    scene.engine.authorizationChanged(
      to: .init(status: .authorizedAlways, accuracy: .reduced), at: scene.instant)
    _ = scene.delivered()
    scene.call(.requestState(home))
    let state = scene.delivered()
    #expect(state.count == 1 && state[0].contains("unknown"), "\(state)")
  }

  @Test("AU-20 temporary full accuracy: a prompt where it makes sense, else a refusal")
  func temporary() {
    var keys = Scene.allKeys
    keys.temporaryPurposes = ["turn": "to find the turn"]
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    var scene = Scene(keys: keys, restored: restored)
    func request(_ purpose: String, _ token: Int) -> ClientCall {
      .requestTemporaryFullAccuracy(purpose: purpose, token: token)
    }
    #expect(scene.engine.refusal(ofFullAccuracy: "none") == .missingPurpose("none"))
    #expect(scene.engine.refusal(ofFullAccuracy: "turn") == nil)
    scene.call(request("none", 1))
    #expect(
      scene.engine.outputs == [
        .temporaryAccuracy(ClientID(0), token: 1, .promptDeclined, refusal: .missingPurpose("none"))
      ])
    scene.engine.outputs = []
    scene.call(request("turn", 2))
    #expect(scene.engine.refusal(ofFullAccuracy: "turn") == .isAsking)
    #expect(scene.prompts().map(\.text) == ["to find the turn"])
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    #expect(scene.delivered() == ["status authorizedAlways"])
    #expect(scene.engine.outputs == [.temporaryAccuracy(ClientID(0), token: 2, nil, refusal: nil)])
    #expect(scene.engine.authorization.accuracy == .full)
    #expect(scene.engine.refusal(ofFullAccuracy: "turn") == .isFull)
    scene.engine.outputs = []
    scene.call(request("turn", 3))
    #expect(scene.engine.outputs == [.temporaryAccuracy(ClientID(0), token: 3, .promptDeclined, refusal: .isFull)])
    scene.engine.setApplication(.background, at: scene.instant)
    #expect(scene.engine.authorization.accuracy == .reduced)
    #expect(scene.engine.refusal(ofFullAccuracy: "turn") == .isInBackground)
    scene.engine.authorizationChanged(to: .init(status: .denied, accuracy: .reduced), at: scene.instant)
    #expect(scene.engine.refusal(ofFullAccuracy: "turn") == .notAuthorized)
  }

  @Test(
    "AU-20 a request for full accuracy that a change of settings ends gets an answer",
    arguments: [
      (.authorizedWhenInUse, .reduced, .isWithdrawn), (.authorizedWhenInUse, .full, nil),
      (.denied, .reduced, .notAuthorized),
    ] as [(AuthorizationStatus, AccuracyAuthorization, AccuracyRefusal?)])
  func overtaken(status: AuthorizationStatus, accuracy: AccuracyAuthorization, refusal: AccuracyRefusal?) {
    var keys = Scene.allKeys
    keys.temporaryPurposes = ["turn": "to find the turn"]
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedAlways, accuracy: .reduced)
    var scene = Scene(keys: keys, restored: restored)
    func answers() -> [PositioningOutput] {
      defer { scene.engine.outputs = [] }
      return scene.engine.outputs.filter { if case .temporaryAccuracy = $0 { true } else { false } }
    }
    scene.call(.requestTemporaryFullAccuracy(purpose: "turn", token: 1))
    scene.engine.authorizationChanged(to: .init(status: status, accuracy: accuracy), at: scene.instant)
    let error: PositioningError? = refusal == nil ? nil : .promptDeclined
    #expect(answers() == [.temporaryAccuracy(ClientID(0), token: 1, error, refusal: refusal)])
    guard refusal == .isWithdrawn else { return }
    // The next prompt is a new one.
    scene.call(.requestTemporaryFullAccuracy(purpose: "turn", token: 2))
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    #expect(answers() == [.temporaryAccuracy(ClientID(0), token: 2, nil, refusal: nil)])
  }

  @Test(
    "AU-19 AU-20 each later decision of the user ends temporary full accuracy",
    arguments: [.denied, .notDetermined, .authorizedWhenInUse, .authorizedAlways] as [AuthorizationStatus])
  func ended(decision: AuthorizationStatus) {
    var keys = Scene.allKeys
    keys.temporaryPurposes = ["turn": "to find the turn"]
    var restored = PositioningEngine.Restored()
    restored.authorization = .init(status: .authorizedWhenInUse, accuracy: .reduced)
    var scene = Scene(keys: keys, restored: restored)
    scene.call(.startUpdatingLocation)
    scene.call(.requestTemporaryFullAccuracy(purpose: "turn", token: 1))
    scene.engine.authorizationAnswered(.once, at: scene.instant)
    scene.fixes(2) { $0 }
    _ = scene.events()
    scene.engine.authorizationChanged(to: .init(status: decision, accuracy: .reduced), at: scene.instant)
    #expect(scene.engine.authorization.accuracy == .reduced)
    scene.engine.authorizationChanged(to: .init(status: .authorizedWhenInUse, accuracy: .reduced), at: scene.instant)
    scene.fixes(3) { $0 }
    let accuracies = scene.events().flatMap { event -> [Double] in
      if case .didUpdateLocations(let locations) = event { locations.map(\.horizontalAccuracyMetres) } else { [] }
    }
    #expect(!accuracies.isEmpty && accuracies.allSatisfy { $0 == 5000 }, "\(accuracies)")
  }

  @Test("AU-20 the late answer to a withdrawn prompt has no effect on another one")
  func lateAnswer() {
    var scene = Scene(.notDetermined)
    scene.call(.requestAlways)
    let withdrawn = scene.prompts().first
    scene.engine.authorizationChanged(to: .init(accuracy: .reduced), at: scene.instant)
    scene.call(.requestWhenInUse)
    let asked = scene.prompts().first
    scene.engine.authorizationAnswered(.always, to: withdrawn, at: scene.instant)
    #expect(scene.engine.authorization.status == .notDetermined)
    scene.engine.authorizationAnswered(.whenInUse, to: asked, at: scene.instant)
    #expect(scene.engine.authorization.status == .authorizedWhenInUse)
  }

  @Test("AU-21 there is one status, for the class and for each manager")
  func one() {
    var scene = Scene(.authorizedAlways, managers: 2)
    scene.engine.setRestricted(true, at: scene.instant)
    #expect(scene.delivered(0) == scene.delivered(1))
    #expect(scene.engine.authorization.status == .restricted)
  }

  @Test("The environment's status takes precedence over all but the global switch")
  func override() {
    var scene = Scene(.denied, override: .authorizedAlways)
    scene.engine.setRestricted(true, at: scene.instant)
    #expect(scene.engine.authorization.status == .authorizedAlways)
    scene.engine.setServicesEnabled(false, at: scene.instant)
    #expect(scene.engine.authorization.status == .denied)
  }

  @Test("The environment's undetermined status ends with the user's answer")
  func answeredOverride() {
    var scene = Scene(.authorizedAlways, override: .notDetermined)
    #expect(scene.engine.authorization.status == .notDetermined)
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.notShown, at: scene.instant)
    #expect(scene.engine.authorization.status == .notDetermined)
    scene.call(.requestWhenInUse)
    scene.engine.authorizationAnswered(.deny, at: scene.instant)
    #expect(scene.delivered() == ["status denied"])
  }

  @Test("A receiver that may not be opened counts as denied; the switch and the grant are kept")
  func forbidden() {
    var scene = Scene(.authorizedAlways)
    scene.call(.startUpdatingLocation)
    scene.engine.setReceiverForbidden(true, at: scene.instant)
    #expect(scene.delivered() == ["status denied", "failed 1"])
    #expect(scene.engine.authorization.servicesAreEnabled)
    scene.engine.setReceiverForbidden(false, at: scene.instant)
    scene.wait(1)
    scene.fix(0)
    #expect(scene.delivered() == ["status authorizedAlways", "at 0"])
  }

  // MARK: Background
}
