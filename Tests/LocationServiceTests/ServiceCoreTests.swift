import MonotonicTime
import Positioning
import ReceiverPower
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

  private static func core(_ override: AuthorizationStatus? = .authorizedAlways, keys: UsageKeys = .init())
    -> ServiceCore
  {
    let all = Facilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var engine = PositioningEngine(
      keys: keys, facilities: all, application: .foreground, authorizationOverride: override, at: .zero)
    engine.add(client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
    engine.outputs = []
    return ServiceCore(engine: engine, director: PowerDirector(at: .zero))
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

  private static func locations(_ actions: [ServiceAction]) -> Int {
    actions.reduce(0) { count, action in
      if case .deliver(_, .didUpdateLocations(let locations), _) = action { count + locations.count } else { count }
    }
  }

  @Test("The receiver is opened with the first need, and is ours until the program ends")
  func receiver() {
    var core = Self.core()
    #expect(core.actions(at: Self.moment(1)).isEmpty)
    Self.call(.startUpdatingLocation, &core, at: 2)
    #expect(core.actions(at: Self.moment(2)) == [.openReceiver])
    #expect(core.actions(at: Self.moment(3)).isEmpty)
    Self.call(.stopUpdatingLocation, &core, at: 10)
    #expect(core.actions(at: Self.moment(10)).isEmpty)
    // Who asks again meanwhile finds it awake.
    #expect(core.deadline == Self.moment(15).instant)
    core.finish(at: Self.moment(20).instant)
    #expect(core.actions(at: Self.moment(20)).contains(.releaseReceiver))
  }

  @Test("A fix goes to the client, and is stored at once and then once a minute")
  func fixes() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    var delivered = 0
    var stored = 0
    for second in 2..<123 {
      core.receive(Self.fix(Double(second)), sky: Sky(), isUpdate: false, source: nil, at: Self.moment(Double(second)))
      let actions = core.actions(at: Self.moment(Double(second)))
      delivered += Self.locations(actions)
      stored += actions.count { if case .store(.newestLocation, _) = $0 { true } else { false } }
    }
    #expect(delivered == 121)
    #expect(stored == 3)
  }

  @Test("Epochs that are read together are delivered all, one that is told twice once")
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
    core.finish(at: Self.moment(4).instant)
    let actions = core.actions(at: Self.moment(4))
    guard case .store(.newestLocation, let text)? = actions.first else {
      Issue.record("nothing is stored")
      return
    }
    #expect(StateText.location(in: text)?.timestamp == Self.moment(3).utc)
    #expect(actions.contains(.releaseReceiver))
  }

  @Test("RG-17 a region is stored before anybody is told of it")
  func regions() {
    var core = Self.core()
    let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)
    Self.call(.startMonitoring(Region("home", .circle(circle))), &core, at: 1)
    let actions = core.actions(at: Self.moment(1))
    guard case .store(.regions, let text)? = actions.first else {
      Issue.record("nothing is stored")
      return
    }
    #expect(StateText.regions(in: text).map(\.region.identifier) == ["home"])
    #expect(actions.contains { if case .deliver(_, .didStartMonitoring, _) = $0 { true } else { false } })
    #expect(actions.contains(.openReceiver))
  }

  @Test("AU-3 a receiver that may not be opened reads as denied, until it may")
  func permission() {
    var core = Self.core()
    Self.call(.startUpdatingLocation, &core, at: 1)
    _ = core.actions(at: Self.moment(1))
    core.receiverIsPermitted(false, at: Self.moment(2).instant)
    let denied = core.actions(at: Self.moment(2))
    #expect(
      denied.contains { if case .deliver(_, .didChangeAuthorization(.denied, _), _) = $0 { true } else { false } })
    #expect(denied.contains { if case .deliver(_, .didFail(.denied), _) = $0 { true } else { false } })
    core.receiverIsPermitted(true, at: Self.moment(3).instant)
    let granted = core.actions(at: Self.moment(3))
    #expect(
      granted.contains {
        if case .deliver(_, .didChangeAuthorization(.authorizedAlways, _), _) = $0 { true } else { false }
      })
  }

  @Test("AU-11 the question bears the app's words, and its answers mean what they say")
  func question() throws {
    var keys = UsageKeys()
    keys.whenInUse = "to find the way home"
    var core = Self.core(nil, keys: keys)
    Self.call(.requestWhenInUse, &core, at: 1)
    let prompts = core.actions(at: Self.moment(1)).compactMap { action in
      if case .prompt(let prompt) = action { prompt } else { nil }
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
        if case .store(.authorization, _) = $0 { true } else { false }
      })
    #expect(core.engine.authorization.status == .authorizedWhenInUse)
  }
}
