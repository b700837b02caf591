// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import Testing

@testable import LocationService

@Suite("The service, in virtual time")
struct ServiceCoreTests {
  private static let startUTC: Int64 = 1_780_000_000_000_000_000
  private static let client = ClientID(0)

  private static func moment(_ seconds: Double) -> Moment {
    let nanoseconds = Int64(seconds * 1e9)
    return Moment(
      Instant(nanoseconds: UInt64(nanoseconds)), utc: UTCTime(nanosecondsSince1970: startUTC + nanoseconds))
  }

  private static var receiver: HostCapabilities {
    HostCapabilities(hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
  }

  private static func core(
    _ override: AuthorizationStatus? = .authorizedAlways, keys: UsageKeys = .init(),
    hostCapabilities: HostCapabilities = receiver, application: ApplicationState = .foreground,
    deferred: [Location] = []
  ) -> ServiceCore {
    var engine = PositioningEngine(
      keys: keys, hostCapabilities: hostCapabilities, application: application, authorizationOverride: override,
      at: .zero)
    engine.add(client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
    engine.outputs = []
    return ServiceCore(engine: engine, coordinator: PowerCoordinator(at: .zero), deferred: deferred)
  }

  private static func fix(_ seconds: Double) -> Fix {
    var fix = Fix()
    fix.time = moment(seconds).utc
    fix.kind = .threeD
    fix.latitudeDegrees = 48
    fix.longitudeDegrees = 11
    fix.horizontalAccuracyMetres = 3
    return fix
  }

  private static func call(_ call: ClientCall, _ core: inout ServiceCore, at seconds: Double) {
    core.change { $0.call(call, by: client, at: moment(seconds).instant) }
  }

  private static func published(_ seconds: Double, north: Double = 0) -> ServiceInput {
    .published(
      Location(
        Coordinate(latitudeDegrees: 48 + north, longitudeDegrees: 11), horizontalAccuracyMetres: 3,
        timestamp: moment(seconds).utc))
  }

  @Test("SU-7 RQ-1 a published location passes filters and answers requests, and is not published again")
  func publishedLocations() {
    var core = Self.core()
    Self.call(.setDistanceFilter(metres: 100), &core, at: 0)
    Self.call(.startUpdatingLocation, &core, at: 0)
    _ = core.actions(at: Self.moment(0))
    var counts: [Int] = []
    for (second, north) in [(1.0, 0.0), (2, 0), (3, 0.01)] {
      core.receive(Self.published(second, north: north), at: Self.moment(second))
      let actions = core.actions(at: Self.moment(second))
      counts.append(Self.locations(actions))
      for action in actions {
        switch action {
        case .remember, .store(.newestLocation, _), .storeNewestLater: Issue.record("\(action)")
        default: break
        }
      }
    }
    #expect(counts == [1, 0, 1])
    Self.call(.stopUpdatingLocation, &core, at: 3)
    Self.call(.setDesiredAccuracy(metres: 10), &core, at: 3)
    Self.call(.requestLocation, &core, at: 4)
    core.receive(Self.published(5), at: Self.moment(5))
    #expect(Self.locations(core.actions(at: Self.moment(5))) == 1)
  }

  private static func locations(_ actions: [ServiceAction]) -> Int {
    actions.reduce(0) { count, action in
      if case .program(_, .output(.event(_, .didUpdateLocations(let locations), _))) = action {
        count + locations.count
      } else {
        count
      }
    }
  }

  @Test(
    "DF-13 a deferral whose time ended while the service was down ends with all that was kept for it",
    arguments: [3.0, nil])
  func endedMeanwhile(fix: Double?) throws {
    let kept = (1...4).compactMap { Location(Self.fix(Double($0)), received: Self.moment(Double($0)).utc) }
    var core = Self.core(application: .background, deferred: kept)
    Self.call(.startUpdatingLocation, &core, at: 10)
    Self.call(.allowDeferredUpdates(metres: .infinity, seconds: 0), &core, at: 10)
    var events: [DelegateEvent] = []
    for second in 10..<140 {
      let now = Self.moment(Double(second))
      core.wake(at: now)
      if let fix, Double(second) >= 10 + fix {
        core.receive(Self.fix(Double(second)), sky: Sky(), isUpdate: false, source: nil, at: now)
      }
      for case .program(_, .output(.event(_, let event, _))) in core.actions(at: now) { events.append(event) }
    }
    let first = try #require(events.firstIndex(of: .didFinishDeferredUpdates(nil)), "\(events)")
    #expect(events.dropFirst(first + 1).first == .didUpdateLocations(kept), "\(events.prefix(6))")
    let delivered = events.filter { if case .didUpdateLocations = $0 { true } else { false } }
    #expect(delivered.first == .didUpdateLocations(kept))
    #expect(events.filter { $0 == .didFinishDeferredUpdates(nil) }.count == 1)
  }

  @Test("A receiver that a killed process left changed is opened without a need, and is released at the end")
  func leftover() {
    var core = Self.core()
    core.receive(.leftoverSettings, at: Self.moment(0))
    #expect(core.actions(at: Self.moment(0)).contains(.openReceiver))
    #expect(!core.actions(at: Self.moment(100)).contains(.openReceiver))
    core.receive(.finish, at: Self.moment(200))
    #expect(core.actions(at: Self.moment(200)).contains(.releaseReceiver))
  }

  @Test("The receiver is opened at the first need, and stays open until the program ends")
  func receiver() {
    var core = Self.core()
    #expect(core.actions(at: Self.moment(1)).isEmpty)
    Self.call(.startUpdatingLocation, &core, at: 2)
    #expect(core.actions(at: Self.moment(2)) == [.openReceiver, .sense(SensorDemand(suspends: true))])
    #expect(core.actions(at: Self.moment(3)).isEmpty)
    Self.call(.stopUpdatingLocation, &core, at: 10)
    #expect(core.actions(at: Self.moment(10)).isEmpty)
    // If a new demand comes before that, the receiver is still awake.
    #expect(core.deadline == Self.moment(15).instant)
    core.receive(.finish, at: Self.moment(20))
    #expect(core.actions(at: Self.moment(20)).contains(.releaseReceiver))
  }

  @Test("A fix goes to the client, and is stored at once and then once a minute, for which no program waits")
  func fixes() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    var delivered = 0
    var stored: [Int] = []
    var storedLater: [Int] = []
    for second in 2..<123 {
      core.receive(Self.fix(Double(second)), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(Double(second)))
      let actions = core.actions(at: Self.moment(Double(second)))
      delivered += Self.locations(actions)
      for action in actions {
        switch action {
        case .store(.newestLocation, _): stored.append(second)
        case .storeNewestLater: storedLater.append(second)
        default: break
        }
      }
    }
    #expect(delivered == 121)
    #expect(stored == [2])
    #expect(storedLater == [62, 122])
  }

  @Test("LC-2 a simulated location is delivered, and neither stored nor remembered", arguments: [true, false])
  func simulated(isStandby: Bool) {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    let source = ServiceSettings.Source("sim:walk").origin
    var actions: [ServiceAction] = []
    for second in 2..<100 {
      let (fix, now) = (Self.fix(Double(second)), Self.moment(Double(second)))
      if isStandby {
        core.receive(fix, ofStandby: 1, source: source, at: now)
      } else {
        core.receive(fix, sky: Sky(), isUpdate: false, source: source, at: now)
      }
      actions += core.actions(at: now)
    }
    core.receive(.finish, at: Self.moment(100))
    actions += core.actions(at: Self.moment(100))
    #expect(Self.locations(actions) == 98)
    for action in actions {
      switch action {
      case .store(.newestLocation, _), .storeNewestLater, .remember:
        Issue.record("a simulated location is shared: \(action)")
      default: break
      }
    }
  }

  @Test(
    "The locations of sim: and replay: are simulated, the locations of devices are not",
    arguments: [
      ("sim:", true), ("sim:walk", true), ("replay:/tmp/drive.ubx", true), ("replay:/tmp/drive.ubx@10", true),
      ("/dev/ttyACM0", false), ("i2c:/dev/i2c-1", false),
    ])
  func origins(name: String, isSimulated: Bool) {
    let origin = ServiceSettings.Source(name).origin
    #expect(origin.isSimulatedBySoftware == isSimulated && origin.isProducedByAccessory != isSimulated)
  }

  @Test("LC-2 the newest location is the one measured last, also if an earlier one has the computer's time")
  func undated() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    var undated = Self.fix(2)
    undated.time = nil
    core.receive(undated, sky: Sky(), isUpdate: false, source: nil, at: Self.moment(2000))
    _ = core.actions(at: Self.moment(2000))
    core.receive(Self.fix(3), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(2001))
    let remembered = core.actions(at: Self.moment(2001)).compactMap { action in
      if case .remember(let location) = action { location.timestamp } else { nil }
    }
    #expect(remembered == [Self.fix(3).time])
  }

  @Test("Of epochs that are read together all are delivered, a repeated one once")
  func stall() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    for second in [2.0, 3, 3, 4] {
      core.receive(Self.fix(second), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(10))
    }
    #expect(Self.locations(core.actions(at: Self.moment(10))) == 3)
  }

  @Test("At the end the newest location is stored and the receiver released")
  func finish() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    core.receive(Self.fix(2), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(2))
    _ = core.actions(at: Self.moment(2))
    core.receive(Self.fix(3), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(3))
    _ = core.actions(at: Self.moment(3))
    core.receive(.finish, at: Self.moment(4))
    let actions = core.actions(at: Self.moment(4))
    guard case .store(.newestLocation, let text)? = actions.first else {
      Issue.record("nothing is stored")
      return
    }
    #expect(StateText.location(in: text)?.timestamp == Self.moment(3).utc)
    #expect(actions.contains(.releaseReceiver))
  }

  @Test("RG-17 a region is stored before its event is delivered")
  func regions() {
    var core = Self.core()
    let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)
    Self.call(.startMonitoring(Region("home", .circle(circle))), &core, at: 1)
    let actions = core.actions(at: Self.moment(1))
    guard case .program(_, .store(.regions, let text))? = actions.first else {
      Issue.record("nothing is stored")
      return
    }
    #expect(StateText.regions(in: text).map(\.region.identifier) == ["home"])
    #expect(
      actions.contains { if case .program(_, .output(.event(_, .didStartMonitoring, _))) = $0 { true } else { false } })
    #expect(actions.contains(.openReceiver))
  }

  @Test("RG-17 regions that start and stop faster than the disk are stored once a round, as they are at its end")
  func manyRegions() {
    var core = Self.core()
    _ = core.actions(at: Self.moment(1))
    let centre = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
    for number in 0..<100 {
      let region = Region("home", .circle(Circle(centre: centre, radiusMetres: Double(number + 1))))
      Self.call(.startMonitoring(region, marginMetres: nil), &core, at: 2)
      if number < 99 { Self.call(.stopMonitoring(region), &core, at: 2) }
    }
    let actions = core.actions(at: Self.moment(2))
    let texts = actions.compactMap { action -> String? in
      if case .program(_, .store(.regions, let text)) = action { text } else { nil }
    }
    #expect(texts == [StateText.text(of: core.engine.regions.records)])
    #expect(core.engine.regions.monitored.count == 1)
  }

  @Test("RG-10 a crossing is stored after its event, so that a service that is killed between both sends it again")
  func crossing() {
    var core = Self.core()
    let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)
    Self.call(.startMonitoring(Region("home", .circle(circle))), &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    for second in 2..<200 {
      let time = Self.moment(Double(second))
      var fix = Self.fix(Double(second))
      if second < 60 { fix.latitudeDegrees = 48.1 }
      core.receive(fix, sky: Sky(), isUpdate: false, source: nil, at: time)
      core.wake(at: time)
      let actions = core.actions(at: time)
      guard
        let event = actions.firstIndex(where: {
          if case .program(_, .output(.event(_, .didEnter, _))) = $0 { true } else { false }
        })
      else { continue }
      let stored = actions.firstIndex {
        if case .storeAfterEvents(.own, .regions, let text) = $0 {
          StateText.regions(in: text).map(\.state) == [.inside]
        } else {
          false
        }
      }
      #expect(stored.map { $0 > event } == true, "\(actions)")
      #expect(!actions.contains { if case .program(_, .store(.regions, _)) = $0 { true } else { false } })
      return
    }
    Issue.record("no crossing")
  }

  @Test("RG-17 what a program has changed just before its end is stored")
  func removedProgram() {
    var core = Self.core()
    let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)
    Self.call(.startMonitoring(Region("home", .circle(circle))), &core, at: 1)
    let actions = core.remove(.own)
    let second = core.remove(.own)
    guard case .store(.regions, let text)? = actions.first else {
      Issue.record("nothing is stored: \(actions)")
      return
    }
    #expect(StateText.regions(in: text).map(\.region.identifier) == ["home"])
    #expect(actions.count == 1 && second.isEmpty)
  }

  @Test("LC-2 a program of the daemon that comes later knows the newest published location without a file")
  func newestPublished() {
    var core = Self.core()
    #expect(core.newestPublished == nil)
    Self.call(.startUpdatingLocation, &core, at: 1)
    core.receive(Self.fix(2), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(2))
    _ = core.actions(at: Self.moment(2))
    #expect(core.newestPublished?.timestamp == Self.moment(2).utc)
    _ = core.remove(.own)
    #expect(core.newestPublished?.timestamp == Self.moment(2).utc)
  }

  @Test("AU-3 AU-16 a receiver that may not be opened reads as denied, until it may")
  func permission() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    core.receive(.receiverPermitted(false), at: Self.moment(2))
    let denied = core.actions(at: Self.moment(2))
    #expect(
      denied.contains {
        if case .program(_, .output(.event(_, .didChangeAuthorization(.denied, _), _))) = $0 { true } else { false }
      })
    #expect(
      denied.contains { if case .program(_, .output(.event(_, .didFail(.denied), _))) = $0 { true } else { false } })
    // The receiver is retried as long as a client needs it.
    #expect(!core.actions(at: Self.moment(600)).contains(.releaseReceiver))
    core.receive(.receiverPermitted(true), at: Self.moment(601))
    let granted = core.actions(at: Self.moment(601))
    #expect(
      granted.contains {
        if case .program(_, .output(.event(_, .didChangeAuthorization(.authorizedAlways, _), _))) = $0 {
          true
        } else {
          false
        }
      })
  }

  @Test(
    "GE-6 a receiver that is plugged in after the start is something to measure with, also while it is unplugged again")
  func laterReceiver() {
    let none = HostCapabilities(
      hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false)
    var core = Self.core(hostCapabilities: none)
    let region = Region(
      "home", .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)))
    func delivered(_ seconds: Double) -> [DelegateEvent] {
      core.actions(at: Self.moment(seconds)).compactMap { action in
        if case .program(_, .output(.event(_, let event, _))) = action { event } else { nil }
      }
    }
    Self.call(.startMonitoring(region), &core, at: 1)
    Self.call(.startUpdatingLocation, &core, at: 1)
    #expect(delivered(1) == [.monitoringDidFail(region, .regionMonitoringFailure)])
    core.wake(at: Self.moment(31))
    #expect(delivered(31) == [.didFail(.locationUnknown)])
    core.receive(.receiverFound, at: Self.moment(31))
    #expect(core.engine.hostCapabilities.hasSatelliteReceiver && core.engine.hostCapabilities.hasSignificantChanges)
    core.receive(Self.fix(40), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(40))
    #expect(delivered(40).contains { if case .didUpdateLocations = $0 { true } else { false } })
    Self.call(.startMonitoring(region), &core, at: 41)
    #expect(delivered(41) == [.didStartMonitoring(region)])
  }

  @Test("SU-17 GE-6 the loss of a receiver is delivered once, and its return by its first fix")
  func unplugged() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    var delivered: [String] = []
    func pass(from: Int, to: Int, hasReceiver: Bool) {
      for second in from..<to {
        let now = Self.moment(Double(second))
        if hasReceiver { core.receive(Self.fix(Double(second)), sky: Sky(), isUpdate: false, source: nil, at: now) }
        core.wake(at: now)
        for case .program(_, .output(.event(_, let event, _))) in core.actions(at: now) {
          switch event {
          case .didFail(let error): delivered.append("\(second): \(error)")
          case .didUpdateLocations where delivered.last?.hasSuffix("fixes") != true:
            delivered.append("\(second): fixes")
          default: break
          }
        }
      }
    }
    pass(from: 2, to: 10, hasReceiver: true)
    pass(from: 10, to: 300, hasReceiver: false)
    pass(from: 300, to: 310, hasReceiver: true)
    pass(from: 310, to: 400, hasReceiver: false)
    #expect(delivered == ["2: fixes", "39: locationUnknown", "300: fixes", "339: locationUnknown"])
  }

  @Test("AU-11 the question has the app's words, and its answers have their meaning")
  func question() throws {
    var keys = UsageKeys()
    keys.whenInUse = "to find the way home"
    var core = Self.core(nil, keys: keys)
    Self.call(.requestWhenInUse, &core, at: 1)
    let prompts = core.actions(at: Self.moment(1)).compactMap { action in
      if case .program(_, .output(.prompt(let prompt))) = action { prompt } else { nil }
    }
    let question = PromptQuestion(identifier: "hike", prompt: try #require(prompts.first))
    #expect(question.text.contains("to find the way home"))
    #expect(question.answer("w") == .whenInUse)
    #expect(question.answer("O") == .once)
    #expect(question.answer("no") == .deny)
    #expect(question.answer("always") == nil)
    #expect(question.answer("") == nil)
    core.change { $0.authorizationAnswered(.whenInUse, at: Self.moment(2).instant) }
    #expect(
      core.actions(at: Self.moment(2)).contains {
        if case .program(_, .store(.authorization, _)) = $0 { true } else { false }
      })
    #expect(core.engine.authorization.status == .authorizedWhenInUse)
  }

  @Test("AU-11 each question offers the answers of its request, and takes no other one")
  func answers() {
    typealias Meaning = [String: Authorization.Answer]
    let yes: Meaning = ["y": .always, "yes": .always, "a": .always, "always": .always]
    let use: Meaning = ["w": .whenInUse, "while": .whenInUse, "o": .once, "once": .once, "n": .deny, "no": .deny]
    let keep: Meaning = ["k": .deny, "keep": .deny, "n": .deny, "no": .deny]
    let table: [(request: Authorization.Request, isUpgrade: Bool, offers: String, meaning: Meaning)] = [
      (.whenInUse, false, "[w]hile in use, [o]nce, [n]o: ", use.merging(["y": .whenInUse, "yes": .whenInUse]) { $1 }),
      (.always, false, "[a]lways, [w]hile in use, [o]nce, [n]o: ", use.merging(yes) { $1 }),
      (.always, true, "[a]lways, [k]eep as it is: ", keep.merging(yes) { $1 }),
      (
        .temporaryFullAccuracy(purpose: "map"), false, "[y]es, [n]o: ",
        ["y": .once, "yes": .once, "n": .deny, "no": .deny]
      ),
    ]
    let words = Set(table.flatMap(\.meaning.keys)).union(["", " ", "yy", "allow", "YES", "No", "Always"])
    for row in table {
      let prompt = Authorization.Prompt(request: row.request, text: "to go\nhome", isUpgrade: row.isUpgrade)
      let question = PromptQuestion(identifier: "hi\u{1B}ke", prompt: prompt)
      #expect(question.text.hasSuffix(row.offers))
      for word in words {
        #expect(question.answer(word) == row.meaning[word.lowercased()], "\(row.request): '\(word)'")
      }
      // The program's text cannot move the cursor or start a new line.
      #expect(!question.text.contains("\u{1B}") && question.text.split(separator: "\n").count == 2)
      #expect(!question.notice.contains("\u{1B}") && !question.notice.contains("\n"))
      #expect(question.notice.contains("sextant authorize allow "))
    }
  }
}
