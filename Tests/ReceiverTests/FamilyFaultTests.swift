// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import TestSupport
import Testing

/// Every fault with each receiver of another maker: what was seen is docs/reference/faults.md, which this test compares. `docs/generate pages`
/// writes it anew.
@Suite("Every fault with receivers of other makers")
struct FamilyFaultTests {
  /// When a fault begins.
  enum Begin: Sendable { case start, search, identification, configuration, steady }

  struct Case: Sendable {
    var name: String
    var fault: Fault?
    /// How long it lasts, seconds.
    var length = 0.0
    var begin = Begin.steady
    var quirks: Set<Quirk> = []
    /// Whether the probes get no reply.
    var isUnanswering = false
  }

  static let cases = [
    Case(name: "unplugged for 5 s", fault: .unplug(for: Milliseconds(5000)), length: 5),
    Case(
      name: "the same in the search for the rate", fault: .unplug(for: Milliseconds(5000)), length: 5, begin: .search),
    Case(
      name: "the same in the identification", fault: .unplug(for: Milliseconds(5000)), length: 5, begin: .identification
    ),
    Case(
      name: "the same in the configuration", fault: .unplug(for: Milliseconds(5000)), length: 5, begin: .configuration),
    Case(
      name: "no power for 2 s, nor backup", fault: .powerCycle(for: Milliseconds(2000), losingBackup: true), length: 2),
    Case(name: "no power for 2 s", fault: .powerCycle(for: Milliseconds(2000), losingBackup: false), length: 2),
    Case(name: "resets itself", fault: .reboot),
    Case(name: "the same in the identification", fault: .reboot, begin: .identification),
    Case(name: "the same in the configuration", fault: .reboot, begin: .configuration),
    Case(name: "changes its rate to 57600", fault: .baudRateChange(to: 57_600)),
    Case(name: "frozen for 20 s", fault: .freeze(for: Milliseconds(20_000)), length: 20),
    Case(
      name: "refuses everything for 30 s, from the start", fault: .refuseEverything(for: Milliseconds(30_000)),
      length: 30, begin: .start),
    Case(
      name: "answers nothing for 30 s, from the start", fault: .silence(for: Milliseconds(30_000)), length: 30,
      begin: .start, isUnanswering: true),
    Case(name: "never replies", begin: .start, quirks: [.noReplies], isUnanswering: true),
    Case(name: "replies a second late", begin: .start, quirks: [.lateReplies]),
    Case(name: "repeats replies to earlier commands", begin: .start, quirks: [.wrongReplies]),
    Case(name: "loses every second acknowledgement", begin: .start, quirks: [.lostAcknowledgements]),
  ]

  /// The receivers whose settings a session changes; a UM980 and a mosaic-G5 send nothing as found.
  static let models = ReceiverModel.ofOtherMakers.filter { ![.um980, .mosaic].contains($0) }

  /// The configuration of a session here: each model gets the values of its language.
  static func desired(_ model: ReceiverModel) -> DesiredConfiguration {
    var desired = DesiredConfiguration.nothing
    switch model {
    case .mt3339, .mt3333: desired.measurementPeriodMilliseconds = 2000
    case .ag3352: desired.measurementPeriodMilliseconds = 500
    default: break
    }
    switch model {
    case .teseo: break
    case .tau1201: desired.sentences = [SentenceRate("ZDA", 0)]
    default: desired.sentences = [SentenceRate("VTG", 0), SentenceRate("GSA", 1)]
    }
    return desired
  }

  static func scene(_ model: ReceiverModel, _ quirks: Set<Quirk> = []) -> SessionScene {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = quirks
    return SessionScene(model, scenario: scenario) { settings in
      settings.desired = { _ in desired(model) }
    }
  }

  /// The settings of a receiver, as the end has to leave them.
  struct Settings: Equatable {
    var baudRate: UInt32
    var period: UInt32
    var systems: SatelliteSystems
    var sentences: [String: Int]

    init(_ receiver: VirtualReceiver) {
      (baudRate, period) = (receiver.baudRate, receiver.epochMilliseconds)
      (systems, sentences) = (receiver.systems, receiver.sentenceRates)
    }
  }

  struct Seen {
    /// Seconds from the fault's end to the next position.
    var position: Double?
    /// Seconds from the fault's end to the configured state; nil if it was not lost or did not return.
    var configured: Double?
    var isSteady = false
    /// Whether the receiver has the settings that the session wants.
    var isConfigured = false
    var reports: [SessionReport] = []
    var wakeUpsPerSecond = 0.0
    /// The settings as they were found, and those after the end.
    var found: Settings
    var left: Settings
  }

  static func run(_ model: ReceiverModel, _ one: Case) -> Seen {
    let scene = scene(model, one.quirks)
    let found = Settings(scene.line.receiver)
    run(scene, to: one.begin)
    let before = (reports: scene.reports.count, wakeUps: scene.wakeUps)
    if let fault = one.fault { scene.line.inject(fault, at: scene.now) }
    scene.run(one.length)
    var seen = Seen(found: found, left: found)
    if one.length > 0 { seen.wakeUpsPerSecond = Double(scene.wakeUps - before.wakeUps) / one.length }
    let end = scene.now
    // Bytes on their way at the fault do not count.
    if one.length == 0 { scene.run(0.6) }
    let positions = scene.positions.count
    if scene.run(120, until: { $0.positions.count > positions }) { seen.position = scene.now.seconds(since: end) }
    let wanted = desired(model)
    // A fault is noticed some seconds later.
    scene.run(10)
    scene.run(one.isUnanswering ? 20 : 100) { $0.isSteady && isConfigured($0.line.receiver, wanted) }
    // The consequences of the fault are over.
    scene.run(5)
    seen.isSteady = scene.isSteady
    let sent = scene.reports.dropFirst(before.reports)
    seen.reports = sent.map(\.report)
    if let last = sent.last(where: { $0.report == .configured(refused: 0) }) {
      seen.configured = last.at.seconds(since: end)
    }
    seen.isConfigured = isConfigured(scene.line.receiver, wanted)
    scene.finish()
    // The rate of a receiver that changed it by itself is not the session's.
    seen.left = Settings(scene.line.receiver)
    if case .baudRateChange? = one.fault { seen.left.baudRate = found.baudRate }
    return seen
  }

  private static func run(_ scene: SessionScene, to begin: Begin) {
    switch begin {
    case .start: break
    case .search: scene.run(0.4)
    case .identification:
      scene.run(60) { host in host.reports.contains { if case .rateFound = $0.report { true } else { false } } }
      let sent = scene.sent
      scene.run(60) { $0.sent > sent }
    case .configuration:
      scene.run(60) { host in host.reports.contains { if case .identified = $0.report { true } else { false } } }
      let sent = scene.sent
      scene.run(5) { $0.sent > sent }
    case .steady: scene.run(60) { $0.isSteady && $0.reported(.configured(refused: 0)) > 0 }
    }
  }

  static func isConfigured(_ receiver: VirtualReceiver, _ wanted: DesiredConfiguration) -> Bool {
    let present = Settings(receiver)
    return (wanted.measurementPeriodMilliseconds.map { UInt32($0) == present.period } ?? true)
      && (wanted.sentences ?? []).allSatisfy { (present.sentences[$0.formatter] ?? 0) == Int($0.rate) }
  }

  @Test(
    "All recover by themselves, report each thing once, leave the settings as found, and are in docs/reference/faults.md"
  )
  func recovers() async throws {
    var columns: [ReceiverModel: [String]] = [:]
    await withTaskGroup(of: (ReceiverModel, [String]).self) { group in
      for model in Self.models { group.addTask { (model, Self.cases.map { Self.check(model, $0) }) } }
      for await (model, cells) in group { columns[model] = cells }
    }
    let rows = Self.cases.enumerated().map { at, one in [one.name] + Self.models.map { columns[$0]?[at] ?? "" } }
    let header = ["fault"] + Self.models.map(\.rawValue)
    try Page("docs/reference/faults.md").check(section: "families", is: Page.table(header, rows))
  }

  /// Returns the cell of the page.
  private static func check(_ model: ReceiverModel, _ one: Case) -> String {
    let seen = run(model, one)
    let label: Comment = "\(model) \(one.name): \(seen)"
    #expect((seen.position ?? .infinity) < 60, label)
    #expect(seen.wakeUpsPerSecond < 6, label)
    #expect(seen.reports.count { $0 == .silent } <= 1, label)
    #expect(seen.reports.count { $0 == .notUnderstood } <= 3, label)
    #expect(seen.reports.count { $0 == .wasReset } <= 1, label)
    #expect(seen.left == seen.found, label)
    // A model that replies to no probe counts as a receiver without commands: its sentences are used, which is reported once.
    let isUnidentified = seen.reports.count { if case .notIdentified = $0 { true } else { false } } == 1
    #expect(seen.isSteady && seen.isConfigured || one.isUnanswering && isUnidentified, label)
    let fix = seen.position.map { FaultMatrixTests.seconds($0) } ?? "never"
    return fix + (seen.configured.map { " / " + FaultMatrixTests.seconds($0) } ?? "")
  }

  /// The moments cover the search for the rate, identification, configuration and the steady state.
  @Test(
    "Unplugged at any moment, it is configured again, and the settings are restored at the end",
    arguments: [ReceiverModel.mt3339, .ag3352, .at6558])
  func unplugged(_ model: ReceiverModel) {
    for tenths in stride(from: 3, to: 120, by: 23) {
      let scene = Self.scene(model)
      let found = Settings(scene.line.receiver)
      scene.run(Double(tenths) / 10)
      scene.line.inject(.unplug(for: Milliseconds(3000)), at: scene.now)
      scene.run(90) { $0.isSteady && $0.reported(.configured(refused: 0)) > 0 }
      let (isSteady, seconds) = (scene.isSteady, Double(tenths) / 10)
      #expect(isSteady, "\(model) after \(seconds) s")
      scene.finish()
      let (left, failures) = (Settings(scene.line.receiver), scene.reported(.notRestored))
      #expect(left == found && failures == 0, "\(model) after \(seconds) s")
    }
  }
}
