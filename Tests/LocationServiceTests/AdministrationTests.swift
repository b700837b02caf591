import MonotonicTime
import Positioning
import ReceiverPower
import ReceiverStream
import Testing

@testable import LocationService

@Suite("What is decided outside the program")
struct AdministrationTests {
  private static let client = ClientID(0)

  private static func instant(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  private static func moment(_ seconds: UInt64) -> Moment {
    Moment(instant(seconds), utc: UTCTime(nanosecondsSince1970: Int64(seconds) * 1_000_000_000))
  }

  private static func core(
    stored: Authorization.Record? = nil, undecided: Authorization.Record = .init(),
    application: ApplicationState = .foreground
  ) -> ServiceCore {
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var keys = UsageKeys()
    keys.whenInUse = "why"
    var restored = PositioningEngine.Restored()
    restored.authorization = stored ?? undecided
    var engine = PositioningEngine(
      keys: keys, hostCapabilities: all, application: application, restored: restored, at: .zero)
    engine.add(client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
    engine.outputs = []
    return ServiceCore(
      engine: engine, coordinator: PowerCoordinator(at: .zero), undecided: undecided,
      storedAuthorization: stored.map { StateText.text(of: $0) })
  }

  private static func administration(
    _ status: AuthorizationStatus? = nil, services: String? = nil, policy: String? = nil
  ) -> Administration {
    var administration = Administration(app: "hike")
    administration.authorization = status.map { StateText.text(of: Authorization.Record(status: $0)) }
    administration.services = services
    administration.policy = policy
    return administration
  }

  private static func statuses(_ core: inout ServiceCore, at seconds: UInt64) -> [AuthorizationStatus] {
    core.actions(at: moment(seconds)).compactMap { action in
      if case .deliver(_, .didChangeAuthorization(let status, _), _) = action { status } else { nil }
    }
  }

  private static func stores(_ actions: [ServiceAction]) -> Bool {
    actions.contains { if case .store(.authorization, _) = $0 { true } else { false } }
  }

  @Test("AU-3 what is granted and denied from outside is told once, and not written again")
  func changes() {
    var core = Self.core()
    for (second, status) in [AuthorizationStatus.authorizedAlways, .denied, .authorizedWhenInUse].enumerated() {
      core.administration(Self.administration(status), at: Self.instant(UInt64(second)))
      core.administration(Self.administration(status), at: Self.instant(UInt64(second)))
      let actions = core.actions(at: Self.moment(UInt64(second)))
      #expect(core.engine.authorization.status == status)
      #expect(!Self.stores(actions))
      #expect(actions.count { if case .deliver(_, .didChangeAuthorization, _) = $0 { true } else { false } } == 1)
    }
  }

  @Test("AU-12 a permission that is taken away from the disk is undecided, and is not written anew")
  func reset() {
    var core = Self.core(stored: .init(status: .denied))
    core.administration(Self.administration(nil), at: Self.instant(1))
    let actions = core.actions(at: Self.moment(1))
    #expect(core.engine.authorization.status == .notDetermined)
    #expect(!Self.stores(actions))
    core.change { $0.call(.requestWhenInUse, by: Self.client, at: Self.instant(2)) }
    #expect(core.actions(at: Self.moment(2)).contains { if case .prompt = $0 { true } else { false } })
  }

  @Test("AU-5 an answer that is not on the disk yet is not undone by what stands there")
  func race() {
    var core = Self.core()
    core.change { $0.call(.requestWhenInUse, by: Self.client, at: Self.instant(1)) }
    _ = core.actions(at: Self.moment(1))
    core.change { $0.authorizationAnswered(.whenInUse, at: Self.instant(2)) }
    core.administration(Self.administration(nil), at: Self.instant(2))
    #expect(core.engine.authorization.status == .authorizedWhenInUse)
    #expect(Self.stores(core.actions(at: Self.moment(2))))
  }

  @Test("What was told by the command line holds until somebody decides")
  func undecided() {
    var core = Self.core(undecided: .init(status: .authorizedAlways))
    core.administration(Self.administration(nil), at: Self.instant(1))
    #expect(core.actions(at: Self.moment(1)) == [])
    core.administration(Self.administration(.denied), at: Self.instant(2))
    core.administration(Self.administration(nil), at: Self.instant(3))
    #expect(Self.statuses(&core, at: 3) == [.denied, .authorizedAlways])
  }

  @Test("GE-1 the user's switch and the machine's read as denied, and what was granted survives")
  func switches() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    for (services, policy, isOn) in [
      (ServicesSwitch.text(isOn: false), nil, false), (ServicesSwitch.text(isOn: true), nil, true),
      (nil, "services off # for now\n", false), (nil, nil, true), ("garbage", nil, false), (nil, "", true),
    ] as [(String?, String?, Bool)] {
      core.administration(
        Self.administration(.authorizedAlways, services: services, policy: policy), at: Self.instant(1))
      #expect(core.engine.authorization.servicesAreEnabled == isOn)
      #expect(Self.statuses(&core, at: 1) == [isOn ? .authorizedAlways : .denied])
    }
  }

  @Test("AU-6 a policy reads as restricted, for the program that it names")
  func policy() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    core.administration(Self.administration(.authorizedAlways, policy: "restrict other\n"), at: Self.instant(1))
    #expect(Self.statuses(&core, at: 1) == [])
    core.administration(Self.administration(.authorizedAlways, policy: "restrict hike\n"), at: Self.instant(2))
    #expect(Self.statuses(&core, at: 2) == [.restricted])
  }

  @Test("A permission that cannot be read stays what it was, and is complained of with the cure")
  func garbage() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    var administration = Self.administration()
    administration.authorization = "sextant authorization 9\nall\n"
    core.administration(administration, at: Self.instant(1))
    #expect(core.engine.authorization.status == .authorizedAlways)
    let complaints = administration.complaints(stateFolder: "/state")
    #expect(complaints.count == 1)
    #expect(complaints.first?.contains("sextant authorize grant hike") == true)
  }

  @Test("A policy is edited line by line: remarks and what others wrote stay")
  func editing() {
    let text = "# ours\nrestrict a.b # why\nservices on"
    let off = LocationPolicy.text(text, servicesOff: true)
    #expect(off == "# ours\nrestrict a.b # why\nservices on\nservices off\n")
    #expect(LocationPolicy.text(off, servicesOff: true) == off)
    #expect(LocationPolicy.text(off, servicesOff: false) == "# ours\nrestrict a.b # why\nservices on\n")
    let odd = LocationPolicy.text(nil, restricting: "x y#1", true)
    #expect(LocationPolicy(parsing: odd).restricted == ["x y#1"])
    #expect(LocationPolicy.text(odd, restricting: "x y#1", false) == "")
    let wrong = LocationPolicy(parsing: "services maybe\n\nrestrict\nrestrict a\n")
    #expect(wrong.mistakes == [1, 3])
    #expect(wrong.restricted == ["a"])
    #expect(wrong.complaint?.hasPrefix("/etc/sextant/policy:1:") == true)
  }
}
