// SPDX-License-Identifier: Apache-2.0
import Foundation
import Messages
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import TestSupport
import Testing
import WireBytes

@testable import LocationService

@Suite("Decisions outside the program")
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
    var administration = Administration(app: AppDescription(identifier: "hike", keys: UsageKeys()))
    administration.authorization = status.map { StateText.text(of: Authorization.Record(status: $0)) }
    administration.services = services
    administration.policy = LocationPolicy(parsing: policy)
    return administration
  }

  @Test(
    "GE-1 A switch of the services that cannot be read counts as off",
    arguments: ["folder", "FIFO", "symbolic link", "second name", "file for its folder"])
  func unreadableSwitch(_ form: String) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/state/\(ServicesSwitch.path)"
    let store = AuthorizationStore(stateFolder: "\(folder.path)/state")
    #expect(store.servicesAreOnForUser)
    try store.setServices(on: true)
    #expect(store.servicesAreOnForUser)
    switch form {
    case "second name": try FileManager.default.linkItem(atPath: path, toPath: "\(folder.path)/backup")
    case "file for its folder":
      try FileManager.default.removeItem(atPath: "\(folder.path)/state/settings")
      _ = try folder.file("state/settings")
    default: try FileManager.default.removeItem(atPath: path)
    }
    switch form {
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "FIFO": _ = try folder.fifo("state/\(ServicesSwitch.path)")
    case "symbolic link":
      let target = try folder.file(
        "target", Array(ChecksummedText.text(ServicesSwitch.text(isOn: true), place: ServicesSwitch.path).utf8))
      _ = try folder.link("state/\(ServicesSwitch.path)", to: target)
    default: break
    }
    #expect(!store.servicesAreOnForUser)
    var administration = Self.administration(.authorizedAlways)
    administration.services = ServicesSwitch.read(inFolder: store.stateFolder)
    #expect(!administration.servicesAreOn && administration.problems(stateFolder: store.stateFolder).count == 1)
  }

  @Test("GE-1 A policy of the machine that cannot be read counts as `services off`, and says so")
  func unreadablePolicy() {
    var administration = Self.administration(.authorizedAlways)
    #expect(administration.servicesAreOn)
    administration.policy = LocationPolicy(unreadable: "Permission denied")
    let problems = administration.problems(stateFolder: "/s")
    #expect(!administration.servicesAreOn && problems.count == 1 && problems[0].contains("Permission denied"))
  }

  private static func statuses(_ core: inout ServiceCore, at seconds: UInt64) -> [AuthorizationStatus] {
    core.actions(at: moment(seconds)).compactMap { action in
      if case .program(_, .output(.event(_, .didChangeAuthorization(let status, _), _))) = action {
        status
      } else {
        nil
      }
    }
  }

  private static func stores(_ actions: [ServiceAction]) -> Bool {
    actions.contains { if case .program(_, .store(.authorization, _)) = $0 { true } else { false } }
  }

  @Test("AU-3 a grant or denial from outside is delivered once, and not written again")
  func changes() {
    var core = Self.core()
    for (second, status) in [AuthorizationStatus.authorizedAlways, .denied, .authorizedWhenInUse].enumerated() {
      core.receive(.administration(Self.administration(status)), at: Self.moment(UInt64(second)))
      core.receive(.administration(Self.administration(status)), at: Self.moment(UInt64(second)))
      let actions = core.actions(at: Self.moment(UInt64(second)))
      #expect(core.engine.authorization.status == status)
      #expect(!Self.stores(actions))
      #expect(
        actions.count {
          if case .program(_, .output(.event(_, .didChangeAuthorization, _))) = $0 { true } else { false }
        } == 1
      )
    }
  }

  @Test("AU-12 a permission whose file is removed is undecided, and is not written again")
  func reset() {
    var core = Self.core(stored: .init(status: .denied))
    core.receive(.administration(Self.administration(nil)), at: Self.moment(1))
    let actions = core.actions(at: Self.moment(1))
    #expect(core.engine.authorization.status == .notDetermined)
    #expect(!Self.stores(actions))
    core.change { $0.call(.requestWhenInUse, by: Self.client, at: Self.instant(2)) }
    #expect(
      core.actions(at: Self.moment(2)).contains { if case .program(_, .output(.prompt)) = $0 { true } else { false } })
  }

  @Test("AU-5 an answer that is not on the disk yet is not undone by the disk's content")
  func race() {
    var core = Self.core()
    core.change { $0.call(.requestWhenInUse, by: Self.client, at: Self.instant(1)) }
    _ = core.actions(at: Self.moment(1))
    core.change { $0.authorizationAnswered(.whenInUse, at: Self.instant(2)) }
    core.receive(.administration(Self.administration(nil)), at: Self.moment(2))
    #expect(core.engine.authorization.status == .authorizedWhenInUse)
    #expect(Self.stores(core.actions(at: Self.moment(2))))
  }

  @Test("The default of the environment holds until the first decision")
  func undecided() {
    var core = Self.core(undecided: .init(status: .authorizedAlways))
    core.receive(.administration(Self.administration(nil)), at: Self.moment(1))
    #expect(core.actions(at: Self.moment(1)) == [])
    core.receive(.administration(Self.administration(.denied)), at: Self.moment(2))
    core.receive(.administration(Self.administration(nil)), at: Self.moment(3))
    #expect(Self.statuses(&core, at: 3) == [.denied, .authorizedAlways])
  }

  @Test("GE-1 the user's switch and the machine's read as denied, and a grant survives them")
  func switches() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    for (services, policy, isOn) in [
      (ServicesSwitch.text(isOn: false), nil, false), (ServicesSwitch.text(isOn: true), nil, true),
      (nil, "services off # for now\n", false), (nil, nil, true), ("garbage", nil, false), (nil, "", true),
    ] as [(String?, String?, Bool)] {
      core.receive(
        .administration(Self.administration(.authorizedAlways, services: services, policy: policy)), at: Self.moment(1))
      #expect(core.engine.authorization.servicesAreEnabled == isOn)
      #expect(Self.statuses(&core, at: 1) == [isOn ? .authorizedAlways : .denied])
    }
  }

  @Test("AU-6 a policy reads as restricted, for the program that it names")
  func policy() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    core.receive(
      .administration(Self.administration(.authorizedAlways, policy: "restrict other\n")), at: Self.moment(1))
    #expect(Self.statuses(&core, at: 1) == [])
    core.receive(.administration(Self.administration(.authorizedAlways, policy: "restrict hike\n")), at: Self.moment(2))
    #expect(Self.statuses(&core, at: 2) == [.restricted])
  }

  @Test("A permission that cannot be read stays what it was, and is logged with the next step")
  func garbage() {
    var core = Self.core(stored: .init(status: .authorizedAlways))
    var administration = Self.administration()
    administration.authorization = "sextant authorization 9\nall\n"
    core.receive(.administration(administration), at: Self.moment(1))
    #expect(core.engine.authorization.status == .authorizedAlways)
    let problems = administration.problems(stateFolder: "/state")
    #expect(problems.count == 1)
    #expect(problems.first?.contains("sextant authorize grant hike") == true)
  }

  @Test("A policy is edited line by line: comments and other lines stay")
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
    #expect(wrong.problem?.hasPrefix("/etc/sextant/policy:1:") == true)
    #expect(wrong.servicesAreOff && wrong.problem?.contains("no program gets locations") == true)
  }

  @Test(
    "GE-1 A line of the policy that is not understood, and may deny locations, counts as `services off`; others do not",
    arguments: [
      ("services = off", true), ("service off", true), ("restrict /home/ada/My App", true), ("deny hike", true),
      ("grant hike", false), ("gpsd on", false), ("time = yes", false), ("pps =", false), ("launch", false),
      ("# services off", false),
    ])
  func unreadableLines(_ line: String, _ denies: Bool) {
    let policy = LocationPolicy(parsing: "gpsd = nonsense\n" + line + "\n")
    #expect(policy.servicesAreOff == denies)
    #expect(policy.problem?.hasPrefix("/etc/sextant/policy:\(denies ? 2 : 1):") == true)
    #expect(LocationPolicy(parsing: "\u{FEFF}services off\n").problem == nil)
    #expect(LocationPolicy(parsing: "\u{FEFF}services off\n").servicesAreOff)
  }

  @Test(
    "A line about gpsd that is not understood may be `off` or a limit: no client is served, until a later line says so")
  func gpsdMistakes() {
    for line in [
      "gpsd = Off", "gpsd = of", "gpsd off", "gpsd", "gpsd =", "gpsd = no", "gpsd = on, every 60",
      "gpsd = on, accuracy 9",
      "gpsd = off\u{301}", "gpsd = off\u{A0}",
    ] {
      let policy = LocationPolicy(parsing: "gpsd = on\n\(line)\n")
      #expect(policy.gpsd?.isOn == false && !policy.servicesAreOff, "\(line)")
      #expect(policy.problem?.hasPrefix("/etc/sextant/policy:2: not understood, so that no client of gpsd") == true)
      #expect(LocationPolicy(parsing: "\(line)\ngpsd = on\n").gpsd?.isOn == true)
      // A line that may deny everything is named first.
      let worse = LocationPolicy(parsing: "\(line)\ngrant\nservices of\nservices on\nno\n")
      #expect(worse.servicesAreOff && worse.problem?.hasPrefix("/etc/sextant/policy:3:") == true)
    }
  }

  @Test("C4 A restriction and a grant of a path are for the file that it leads to, too")
  func linkedPaths() {
    var policy = LocationPolicy(
      parsing:
        "restrict /bin/hike\nrestrict org.example.walk@/opt//walk\ngrant /usr/bin/python3 always\nrestrict gone\n")
    policy.addTargets { path in
      ["/bin/hike": "/usr/bin/hike", "/opt//walk": "/opt/walk", "/usr/bin/python3": "/usr/bin/python3.11"][path]
    }
    func app(_ path: String) -> AppDescription {
      AppDescription(identifier: path, keys: UsageKeys(), executable: path, label: nil)
    }
    for path in ["/bin/hike", "/usr/bin/hike", "/opt/walk", "/usr/bin/gone"] {
      #expect(policy.restricts(app(path)), "\(path)")
    }
    #expect(!policy.restricts(app("/usr/bin/walk")))
    #expect(policy.grants.keys.sorted() == ["/usr/bin/python3", "/usr/bin/python3.11"])
  }

  @Test("C4 A restriction of a name is for all executables with that file name, whatever the bytes of their folders")
  func oddFolders() {
    let policy = LocationPolicy(parsing: "restrict spy\nrestrict /opt/caf\u{E9}\nrestrict \u{301}odd # why\u{301}\n")
    #expect(policy.mistakes.isEmpty)
    func restricts(_ path: String) -> Bool {
      policy.restricts(AppDescription(identifier: path, keys: UsageKeys(), executable: path, label: nil))
    }
    for folder in ["/a", "/x\u{600}", "/x\u{110BD}", "/\u{301}", "/a\r"] {
      #expect(restricts("\(folder)/spy") && restricts("\(folder)/\u{301}odd") && !restricts("\(folder)/spy2"))
    }
    #expect(restricts("/opt/caf\u{E9}") && !restricts("/opt/cafe\u{301}"))
    // A name with a line separator of Unicode is one word of one line.
    for name in ["a\u{2028}grant", "a\u{85}b", "a\u{A0}b", "a\rb", "\u{301}#", "caf\u{E9}"] {
      let text = LocationPolicy.text("services on", restricting: name, true)
      #expect(
        LocationPolicy(parsing: text).restricted == [ExactText(name)] && LocationPolicy(parsing: text).problem == nil)
      #expect(LocationPolicy.text(text, restricting: name, false) == "services on\n")
    }
  }
}
