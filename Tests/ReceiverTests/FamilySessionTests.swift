// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// The session with each simulated receiver of another maker, in virtual time: the two were written apart from the same documents.
@Suite("Sessions with simulated receivers of other makers")
struct FamilySessionTests {
  private static let models = ReceiverModel.ofOtherMakers
  /// Those that a session configures for a time.
  private static let configured: [ReceiverModel] = [.mt3339, .mt3333, .ag3352, .at6558, .at6668]

  static func scene(
    _ model: ReceiverModel, _ intent: SessionSettings.Intent = .identify, quirks: Set<Quirk> = [], baud: UInt32? = nil,
    _ adapt: (inout SessionSettings) -> Void = { _ in }
  ) -> SessionScene {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = quirks
    let scene = SessionScene(model, baud: baud, intent: intent, scenario: scenario) {
      $0.desired = { _ in .nothing }
      adapt(&$0)
    }
    return scene
  }

  static func perform(_ scene: SessionScene, _ tasks: [ReceiverTask]) -> [ReceiverTask.Result] {
    guard let ticket = scene.withSession({ $0.perform(tasks, at: scene.now) }) else { return [] }
    scene.run(180) { $0.outcomes[ticket] != nil }
    guard case .performed(let results)? = scene.outcomes[ticket] else { return [] }
    return results
  }

  private static let names: [ReceiverModel: (vendor: String, model: String)] = [
    .mt3339: ("MediaTek", "PA6H"), .mt3333: ("MediaTek", "PA1010D"), .ag3352: ("Airoha", "LC76G"),
    .at6558: ("CASIC", "ATGM336H"), .at6668: ("CASIC", "AT362-AT6668-6T-30"), .lg290p: ("Quectel", "LG290P"),
    .mosaic: ("Septentrio", "mosaic-G5"), .um980: ("Unicore", "UM980"), .tau1201: ("Allystar", "HD8040D"),
    .teseo: ("STMicroelectronics", "STA8041"),
  ]

  // MARK: Identification

  @Test("A further reply to a repeated probe, in the form of a start, does not end a user's command")
  func furtherReplies() throws {
    let scene = Self.scene(.teseo)
    #expect(scene.run(25) { $0.reported(.configured(refused: 0)) > 0 })
    let outcome = scene.send(try #require(Command.sentence("PSTMSETPAR,1500,1", for: .teseo)), within: 20)
    #expect(outcome == .acknowledged && scene.reported(.wasReset) == 0)
  }

  @Test("Each identifies itself", arguments: models, [SessionSettings.Intent.identify, .serve])
  func identify(_ model: ReceiverModel, _ intent: SessionSettings.Intent) throws {
    let scene = Self.scene(model, intent)
    #expect(scene.run(intent == .identify ? 25 : 60) { $0.isSteady })
    let found = try #require(scene.description, "\(model)")
    let name = try #require(Self.names[model])
    #expect(found.vendor == name.vendor && found.generation == nil)
    // An ATGM332D did not reply to the query of its hardware, and the capabilities of a mosaic name no model.
    if model != .at6558, model != .mosaic { #expect(found.model == name.model) }
    let sent = scene.sentBytes
    scene.run(60)
    #expect(scene.sentBytes == sent, "Nothing is sent to an identified receiver without a reason.")
  }

  @Test(
    "Each is identified with the deviations that are reported of it",
    arguments: [
      (ReceiverModel.mt3339, Quirk.shortRelease), (.ag3352, .busyAfterBoot), (.ag3352, .needsLock),
      (.at6558, .threeSystems), (.mt3333, .lostAcknowledgements), (.ag3352, .lostAcknowledgements),
    ])
  func quirks(_ model: ReceiverModel, _ quirk: Quirk) throws {
    let scene = Self.scene(model, quirks: [quirk])
    // A drowsy receiver shows its family by the line after its start alone.
    if quirk == .needsLock {
      scene.run(20) { $0.read { $0.isReceiving } ?? false }
      scene.line.inject(.reboot, at: scene.now + Milliseconds(1000))
    }
    #expect(scene.run(90) { $0.isSteady })
    #expect(scene.description?.vendor == Self.names[model]?.vendor)
  }

  // MARK: Settings

  @Test("A person's settings are set and read back, and stay", arguments: [ReceiverModel.mt3333, .ag3352, .at6668])
  func settings(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let systems: [DesiredConfiguration.Constellation] = model == .at6668 ? [.gps, .beiDou] : [.gps, .glonass]
    let tasks: [ReceiverTask] = [
      .set(.constellations(systems)), .set(.messages([SentenceRate("VTG", 0), SentenceRate("GLL", 1)])),
      .set(.period(500)),
    ]
    let results = Self.perform(scene, tasks)
    #expect(results.count == 3 && results.allSatisfy(\.isDone), "\(model): \(results)")
    #expect(Self.perform(scene, [.read(.period)]) == [.value(.period(500))])
    _ = scene.finish()
    #expect(scene.line.receiver.epochMilliseconds == 500)
  }

  @Test("SBAS and QZSS of a MediaTek receiver are switched on by their own commands, and stay if they are not named")
  func augmentation() throws {
    let scene = Self.scene(.mt3333)
    #expect(scene.run(40) { $0.isSteady })
    for (systems, values) in [
      ([.gps, .qzss], ["352": "0"]), ([.gps, .sbas], ["352": "0", "313": "1", "301": "2"]),
      ([.glonass], ["352": "0", "313": "1", "301": "2"]),
    ] as [([DesiredConfiguration.Constellation], [String: String])] {
      #expect(Self.perform(scene, [.set(.constellations(systems))]) == [.written])
      let family = try #require(scene.line.receiver.family)
      let found = family.current.values.filter { ["352", "313", "301"].contains($0.key) }
      #expect(found == values)
    }
  }

  @Test("A command of a user lasts until the restart that it causes is over: the next program is heard")
  func settled() throws {
    let scene = Self.scene(.mt3333)
    #expect(scene.run(40) { $0.isSteady })
    let ticket = try #require(scene.withSession { $0.perform([.set(.constellations([.gps]))], at: scene.now) })
    #expect(scene.run(20) { $0.line.receiver.family?.current.systems == .gps })
    let changed = scene.now
    #expect(scene.run(20) { $0.outcomes[ticket] != nil })
    #expect(scene.now.milliseconds(since: changed) >= 1000)
    #expect(scene.outcomes[ticket] == .performed([.written]))
  }

  @Test("A person's settings can be undone", arguments: [ReceiverModel.mt3333, .ag3352, .at6668])
  func undone(_ model: ReceiverModel) throws {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let family = try #require(scene.line.receiver.family)
    let (before, systems) = (family.current.rates, family.current.systems)
    let results = Self.perform(
      scene, [.set(.constellations([.gps])), .set(.messages([SentenceRate("VTG", 0)])), .set(.period(500))])
    #expect(results == [.written, .written, .written])
    let undoing = scene.read { $0.undoingTasks } ?? []
    #expect(Self.perform(scene, undoing).allSatisfy(\.isDone) && undoing.count >= 3, "\(undoing)")
    #expect(scene.line.receiver.epochMilliseconds == 1000)
    let after = try #require(scene.line.receiver.family)
    #expect(after.current.systems == systems && after.current.rates["VTG"] ?? 1 == before["VTG"] ?? 1)
    // A request that failed is undone already.
    #expect(!Self.perform(scene, [.set(.period(500)), .set(.messages([SentenceRate("XYZ", 1)]))]).contains(.written))
    #expect(scene.read { $0.undoingTasks.isEmpty } == true)
  }

  @Test(
    "A receiver that keeps its baud rate is known to do so before a command gives up",
    arguments: [ReceiverModel.mt3339, .at6558])
  func baudKept(_ model: ReceiverModel) {
    let scene = Self.scene(model, quirks: [.keptBaud])
    #expect(scene.run(40) { $0.isSteady })
    var desired = DesiredConfiguration()
    (desired.portRate, desired.keepsPortRate) = (115_200, true)
    scene.set(desired)
    #expect(scene.run(25) { $0.reported(.rateNotChanged(115_200)) == 1 }, "\(scene.reports)")
    // The rate that it had before is another thing.
    let fast = Self.scene(model, quirks: [.keptBaud], baud: 115_200)
    #expect(fast.run(40) { $0.isSteady } && fast.read { $0.rate } == 115_200)
  }

  @Test(
    "A receiver whose output a person has switched off is found again, and switched on",
    arguments: [ReceiverModel.mt3339, .mt3333, .ag3352, .at6558, .at6668, .tau1201])
  func withoutOutput(_ model: ReceiverModel) throws {
    let scene = Self.scene(model)
    #expect(scene.run(25) { $0.isSteady })
    scene.restoreAtEnd(false)
    #expect(Self.perform(scene, [.set(.output(false))]) == [.written])
    #expect(scene.line.receiver.sentenceRates.isEmpty, "\(scene.line.receiver.sentenceRates)")
    scene.finish()
    scene.kill(for: 5000) { $0.memory = nil }
    #expect(scene.run(40) { $0.isSteady })
    #expect(Self.perform(scene, [.set(.output(true))]) == [.written])
    let count = scene.fixes.count
    #expect(scene.run(10) { $0.fixes.count > count + 2 })
  }

  @Test("The output of a full line is switched off, although its buffer is sent first", arguments: [0, 1, 2, 3])
  func fullOutputOff(second: Int) {
    let scene = SessionScene(.at6558) { $0.desired = { _ in .nothing } }
    #expect(scene.run(40) { $0.isSteady })
    let rates = scene.line.receiver.sentenceRates.keys.map { SentenceRate($0, 1) }
    #expect(Self.perform(scene, [.set(.messages(rates))]).allSatisfy { $0.isDone }, "\(rates)")
    scene.run(20 + Double(second) / 4)
    #expect(Self.perform(scene, [.set(.output(false))]) == [.written])
    #expect(scene.line.receiver.sentenceRates.isEmpty, "\(scene.line.receiver.sentenceRates)")
  }

  @Test("A setting that a receiver lacks is refused, and nothing is changed", arguments: models)
  func refused(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let sent = scene.sentBytes
    #expect(
      Self.perform(scene, [.set(.period(1000)), .set(.messages([SentenceRate("XYZ", 1)]))]).last == .unsupported)
    #expect(scene.sentBytes == sent)
  }

  @Test(
    "Messages are set on each",
    arguments: [ReceiverModel.lg290p, .um980, .tau1201, .teseo, .mt3339, .at6558, .mosaic])
  func messages(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let wanted = [SentenceRate("ZDA", 1), SentenceRate("GLL", 0)] + (model == .mosaic ? [SentenceRate("GSV", 5)] : [])
    let results = Self.perform(scene, [.set(.messages(wanted))])
    #expect(results.allSatisfy(\.isDone) && results.count == 1, "\(model): \(results)")
  }

  @Test("Sentences that a receiver with an epoch in ten seconds lost without a banner are written again")
  func slowLoss() {
    let scene = Self.scene(.mt3339, .serve) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.sentences = [SentenceRate("VTG", 0), SentenceRate("GSA", 1)]
        return desired
      }
    }
    scene.line.receiver.family?.current.periodMilliseconds = 10_000
    #expect(scene.run(120) { $0.isSteady && $0.reported(.configured(refused: 0)) > 0 })
    scene.run(100)
    let count = scene.reported(.configured(refused: 0))
    scene.run(300)
    #expect(scene.reported(.configured(refused: 0)) == count, "nothing was lost")
    scene.line.receiver.family?.current.rates["VTG"] = 1
    #expect(scene.run(200) { $0.line.receiver.sentenceRates["VTG"] == nil }, "\(scene.reports)")
  }

  @Test("A line that pauses is checked, and the sentences go on to be watched")
  func pauses() {
    let scene = Self.scene(.lg290p, .serve) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.sentences = [SentenceRate("VTG", 0), SentenceRate("GSA", 1)]
        return desired
      }
    }
    #expect(scene.run(120) { $0.isSteady && $0.reported(.configured(refused: 0)) > 0 })
    for _ in 0..<6 {
      scene.line.inject(.drop(share: 1, for: Milliseconds(2800)), at: scene.now)
      scene.run(30)
    }
    #expect(scene.reported(.wasReset) == 0 && scene.reported(.silent) == 0)
    scene.line.receiver.family?.current.rates["VTG"] = 1
    #expect(scene.run(60) { $0.line.receiver.sentenceRates["VTG"] == nil })
  }

  @Test("The session restores what it has changed", arguments: configured)
  func restores(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 500
    desired.sentences = [SentenceRate("GSA", 0)]
    scene.set(desired)
    scene.run(60) { $0.line.receiver.epochMilliseconds == 500 && $0.isSteady }
    #expect(scene.line.receiver.epochMilliseconds == 500)
    let before = scene.takeFixes().count
    _ = scene.finish()
    #expect(scene.line.receiver.epochMilliseconds == 1000 && before > 0)
    #expect(scene.reported(.notRestored) == 0)
    let seen = Self.sentences(scene, ["GSA", "VTG"])
    #expect(seen.allSatisfy { $0 > 0 }, "\(model): \(seen)")
  }

  // MARK: Receivers that send nothing as found

  private static let silent: [ReceiverModel] = [.um980, .mosaic]

  @Test(
    "A program that wants fixes gets them of a receiver that is silent as found, which is silent again at its end",
    arguments: silent)
  func silentAsFound(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve) { $0.desired = { .navigation(for: $0) } }
    #expect(scene.run(60) { !$0.positions.isEmpty })
    // Another configuration for fixes leaves them on.
    var desired = scene.description.map { DesiredConfiguration.navigation(for: $0) } ?? .nothing
    desired.leastPortRate = 9600
    scene.set(desired)
    scene.run(20)
    let count = scene.positions.count
    scene.run(10)
    #expect(
      scene.positions.count > count + 8 && Set(scene.line.receiver.sentenceRates.keys) == ["GGA", "GSA", "GSV", "RMC"])
    scene.finish()
    #expect(scene.line.receiver.sentenceRates.isEmpty && scene.reported(.notRestored) == 0)
  }

  @Test("After a kill of that program the next one makes it silent, or goes on", arguments: silent, [false, true])
  func killedWhileSilentAsFound(_ model: ReceiverModel, wantsFixes: Bool) {
    let scene = Self.scene(model, .serve) { $0.desired = { .navigation(for: $0) } }
    #expect(scene.run(60) { !$0.positions.isEmpty })
    scene.open(after: 500, hostRate: scene.line.hostRate) { if !wantsFixes { $0.desired = { _ in .nothing } } }
    #expect(scene.run(90) { $0.isSteady && $0.description != nil })
    scene.run(10)
    scene.finish()
    #expect(scene.line.receiver.sentenceRates.isEmpty && scene.reported(.notRestored) == 0)
  }

  @Test("Programs that do not want fixes, and a receiver that sends some sentences, change nothing", arguments: silent)
  func notSilent(_ model: ReceiverModel) {
    for wantsFixes in [false, true] {
      let scene = Self.scene(model, .serve)
      #expect(scene.run(60) { $0.isSteady && $0.description != nil })
      if wantsFixes {
        let line = model == .um980 ? "GPGGA 1" : "sno, Stream3, COM1, GGA, sec2"
        scene.line.send(Command(line: line).bytes, at: scene.now)
        scene.run(5)
        scene.set(scene.description.map { .navigation(for: $0) } ?? .nothing)
      }
      let wanted = wantsFixes ? ["GGA": 1] : [:]
      scene.run(30)
      #expect(scene.isSteady && scene.line.receiver.sentenceRates == wanted)
      scene.finish()
      #expect(scene.line.receiver.sentenceRates == wanted)
    }
  }

  @Test("Each interval of a mosaic has a stream of its own")
  func intervals() {
    let scene = Self.scene(.mosaic)
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    let rates = [SentenceRate("GGA", 1), SentenceRate("GSV", 5), SentenceRate("RMC", 1), SentenceRate("ZDA", 60)]
    #expect(Self.perform(scene, [.set(.messages(rates))]) == [.written])
    #expect(Self.perform(scene, [.set(.messages([SentenceRate("GSV", 1)]))]) == [.written])
    #expect(scene.line.receiver.sentenceRates == ["GGA": 1, "GSV": 1, "RMC": 1, "ZDA": 60])
    #expect(Self.perform(scene, [.set(.messages([SentenceRate("GSA", 3)]))]) == [.unsupported])
    #expect(Self.perform(scene, [.set(.output(false))]) == [.written])
    #expect(scene.line.receiver.sentenceRates.isEmpty)
  }

  @Test("Sentences of Septentrio: streams of other ports stay, the port's keep their intervals, and all are restored")
  func streams() {
    let scene = Self.scene(.mosaic, .serve)
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    let found = [
      "Stream1, COM2, GGA, sec1", "Stream2, COM1, GGA+GSV, msec500", "Stream4, COM1, ZDA, sec10",
      "Stream5, USB1, RMC, sec1",
    ]
    for one in found { scene.line.send(Command(line: "setNMEAOutput, \(one)").bytes, at: scene.now) }
    scene.run(5)
    func values() -> [String] {
      (1...10).compactMap { scene.line.receiver.family?.current.values["NMEAOutput Stream\($0)"] }
    }
    #expect(values() == found)
    var desired = DesiredConfiguration.nothing
    desired.sentences = [
      SentenceRate("GSV", 0), SentenceRate("RMC", 1), SentenceRate("GST", 5), SentenceRate("ZDA", 10),
    ]
    scene.set(desired)
    scene.run(30)
    #expect(
      Set(values()) == [
        "Stream1, COM2, GGA, sec1", "Stream2, COM1, GGA+RMC, msec500", "Stream3, COM1, GST, sec5",
        "Stream4, COM1, ZDA, sec10",
        "Stream5, USB1, RMC, sec1",
      ])
    scene.open(after: 500, hostRate: scene.line.hostRate) { _ in }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    scene.finish()
    #expect(values().filter { !$0.hasSuffix("none, none, off") } == found)
  }

  @Test(
    "A rate that is lost without a banner is written again, and said once", arguments: [ReceiverModel.mt3339, .ag3352])
  func lostRate(_ model: ReceiverModel) throws {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 500
    scene.set(desired)
    scene.run(60) { $0.line.receiver.epochMilliseconds == 500 && $0.isSteady }
    let sentence = try #require(Command.sentence(model == .mt3339 ? "PMTK220,1000" : "PAIR050,1000", for: nil))
    scene.line.send(sentence.bytes, at: scene.now)
    #expect(scene.run(10) { $0.line.receiver.epochMilliseconds == 1000 })
    #expect(scene.run(60) { $0.line.receiver.epochMilliseconds == 500 })
    scene.run(120)
    #expect(scene.reported(.wasReset) == 1 && scene.line.receiver.epochMilliseconds == 500)
  }

  @Test(
    "A sentence that is lost without a banner is written again, and reported once",
    arguments: [ReceiverModel.mt3339, .ag3352, .at6668])
  func lostSentence(_ model: ReceiverModel) throws {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    // Room for ZDA on a line of 9600 baud.
    desired.sentences = [SentenceRate("GSV", 0), SentenceRate("VTG", 0), SentenceRate("ZDA", 1)]
    scene.set(desired)
    #expect(scene.run(60) { $0.line.receiver.sentenceRates["ZDA"] == 1 && $0.isSteady })
    scene.run(20)
    let text =
      switch model {
      case .mt3339: "PMTK314,0,1,0,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
      case .ag3352: "PAIR062,6,0"
      default: "PCAS03,,,,,,,0"
      }
    scene.line.send(Command(sentence: text).bytes, at: scene.now)
    #expect(scene.run(10) { $0.line.receiver.sentenceRates["ZDA"] == nil })
    #expect(scene.run(60) { $0.line.receiver.sentenceRates["ZDA"] == 1 })
    scene.run(120)
    #expect(scene.reported(.wasReset) == 1 && scene.line.receiver.sentenceRates["ZDA"] == 1)
    scene.finish()
    #expect(scene.reported(.notRestored) == 0 && scene.line.receiver.sentenceRates["GSV"] != nil)
  }

  @Test("The next program restores what a killed one has changed", arguments: configured)
  func killed(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 500
    scene.set(desired)
    scene.run(60) { $0.line.receiver.epochMilliseconds == 500 && $0.isSteady }
    scene.open(after: 500, hostRate: scene.line.hostRate) { _ in }
    #expect(scene.run(90) { $0.isSteady && $0.description != nil })
    _ = scene.finish()
    #expect(scene.line.receiver.epochMilliseconds == 1000)
    #expect(Self.sentences(scene, ["VTG"]).allSatisfy { $0 > 0 })
  }

  /// The number of sentences with each formatter in the time after the end: a full line has seven seconds in its buffer.
  private static func sentences(_ scene: SessionScene, _ formatters: [String]) -> [Int] {
    var counts = formatters.map { _ in 0 }
    for step in 1...150 {
      scene.line.advance(to: scene.now + Milliseconds(UInt64(step) * 100))
      let lines = String(decoding: scene.line.takeReceived(), as: UTF8.self).split(whereSeparator: \.isNewline)
      for (index, formatter) in formatters.enumerated() {
        counts[index] += lines.count { $0.dropFirst(3).hasPrefix(formatter) }
      }
    }
    return counts
  }

  // MARK: Rate of the line

  @Test(
    "The baud rate is changed permanently",
    arguments: [ReceiverModel.mt3339, .mt3333, .ag3352, .at6558, .at6668, .lg290p, .um980, .tau1201])
  func baud(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let wanted: UInt32 = scene.line.receiver.baudRate == 115_200 ? 9600 : 115_200
    var desired = DesiredConfiguration.nothing
    desired.portRate = wanted
    desired.keepsPortRate = true
    scene.set(desired)
    scene.run(60) { $0.reported(.rateFound(wanted)) > 0 && $0.isSteady }
    #expect(scene.line.receiver.baudRate == wanted && scene.line.hostRate == wanted)
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == wanted)
  }

  @Test("The port of a UM980 that the host is at is found, and the others keep their rates", arguments: [false, true])
  func portOfHost(_ isAtFirstPort: Bool) {
    let scene = Self.scene(.um980, quirks: isAtFirstPort ? [.firstPort] : [])
    #expect(scene.run(40) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    desired.portRate = 460_800
    desired.keepsPortRate = true
    scene.set(desired)
    scene.run(60) { $0.reported(.rateFound(460_800)) > 0 && $0.isSteady }
    #expect(scene.line.receiver.baudRate == 460_800 && scene.line.hostRate == 460_800)
    _ = scene.finish()
    for port in ["COM1", "COM2", "COM3"] {
      let rate = scene.line.receiver.family?.current.values[port]
      #expect(rate == nil || rate == "\(port) 115200", "\(port): \(rate ?? "")")
    }
  }

  @Test("A value that the receiver does not have is reported after the rate is raised")
  func refusedBeforeRaise() {
    let scene = Self.scene(.um980, quirks: [.firstPort], baud: 9600)
    #expect(scene.run(40) { $0.isSteady })
    scene.clearReports()
    var desired = DesiredConfiguration.nothing
    desired.portRate = 115_200
    desired.sentences = [SentenceRate("GGA", 1)]
    desired.measurementPeriodMilliseconds = 500
    scene.set(desired)
    #expect(scene.run(60) { $0.reported(.configured(refused: 1)) == 1 }, "\(scene.reports)")
    #expect(scene.line.hostRate == 115_200 && scene.reported(.configured(refused: 0)) == 0)
  }

  @Test(
    "A raised rate goes back at the port of a UM980 that the host is at, also after a kill: the others keep theirs",
    arguments: [false, true])
  func portOfRaisedRate(isKilled: Bool) {
    let scene = Self.scene(.um980, quirks: [.firstPort], baud: 9600)
    #expect(scene.run(40) { $0.isSteady })
    var desired = DesiredConfiguration.nothing
    desired.portRate = 115_200
    scene.set(desired)
    #expect(scene.run(60) { $0.reported(.rateFound(115_200)) > 0 && $0.isSteady })
    #expect(scene.recovery == CrashRecoveryRecord(rate: 115_200, foundRate: 9600, family: .unicore, port: "COM1"))
    if isKilled {
      scene.open(after: 500) { _ in }
      #expect(scene.run(40) { $0.isSteady })
    }
    // One attempt at another port takes two seconds.
    #expect(scene.finish() < 1500)
    #expect(scene.line.receiver.baudRate == 9600 && scene.line.hostRate == 9600)
    #expect(scene.reported(.notRestored) == 0)
    for port in ["COM2", "COM3"] {
      let rate = scene.line.receiver.family?.current.values[port]
      #expect(rate == nil, "\(port): \(rate ?? "")")
    }
  }

  // MARK: Restart, save

  @Test("Each saves and restarts where it has the commands", arguments: models)
  func actions(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    #expect(scene.run(40) { $0.isSteady })
    let isMediaTek = model == .mt3339 || model == .mt3333
    #expect(Self.perform(scene, [.act(.save)]) == [isMediaTek ? .unsupported : .written])
    #expect(Self.perform(scene, [.act(.hotRestart)]) == [.written])
    #expect(scene.run(60) { $0.isSteady })
    // These send nothing by themselves.
    if model != .um980, model != .mosaic {
      scene.run(30)
      let fixes = scene.takeFixes().count
      scene.run(10)
      #expect(scene.takeFixes().count > 0 && fixes > 0, "\(model)")
    }
  }

  @Test("A UM980, which sends nothing by itself, is found at its saved rate after a restart")
  func restartsAtSavedRate() {
    let scene = Self.scene(.um980, baud: 460_800)
    #expect(scene.run(60) { $0.isSteady } && scene.line.hostRate == 460_800)
    #expect(Self.perform(scene, [.act(.hotRestart)]) == [.written])
    scene.run(5)
    #expect(scene.line.receiver.baudRate == 115_200 && scene.line.hostRate == 460_800)
    scene.withSession { $0.searchRate(at: scene.now) }
    #expect(scene.run(15) { $0.isSteady && $0.line.hostRate == 115_200 }, "\(scene.reports)")
  }

  @Test("An Airoha receiver saves above 1 Hz with its engine stopped")
  func saveFast() {
    let scene = Self.scene(.ag3352)
    #expect(scene.run(40) { $0.isSteady })
    #expect(Self.perform(scene, [.set(.period(200))]) == [.written])
    #expect(Self.perform(scene, [.act(.save)]) == [.written])
    _ = scene.takeFixes()
    scene.run(10)
    #expect(scene.takeFixes().count > 20)
  }

  // MARK: Sleep

  @Test("Standby ends when the host wakes the receiver", arguments: [ReceiverModel.mt3339, .mt3333, .ag3352])
  func standby(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    scene.sleep(seconds: 60)
    scene.run(50)
    #expect(scene.isAsleep && scene.reported(.silent) == 0)
    let fixes = scene.takeFixes().count
    scene.run(30) { $0.reported(.awake(.time)) > 0 }
    #expect(scene.reported(.awake(.time)) == 1, "\(fixes)")
    scene.run(20)
    #expect(scene.takeFixes().count > 5 && scene.isSteady)
    scene.sleep(seconds: nil)
    scene.run(20)
    #expect(scene.isAsleep)
    scene.wakeUp()
    #expect(scene.run(10) { $0.isSteady })
    #expect(scene.reported(.awake(.requested)) == 1 && scene.reported(.doesNotWake) == 0)
  }

  @Test("A standby that loses the baud rate: the receiver is found awake, also without a whole epoch before the sleep")
  func forgottenRate() {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    (scenario.beginsHot, scenario.quirks) = (true, [.forgetfulStandby])
    var desired = DesiredConfiguration.nothing
    (desired.portRate, desired.keepsPortRate) = (38_400, true)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { [desired] _ in desired }
    var line = VirtualLine(model: .mt3339, scenario: scenario, startUTCSeconds: SessionScene.start)
    line.inject(.baudRateChange(to: 38_400), at: .zero + Milliseconds(4000))
    line.hostRate = 38_400
    // The line is opened between the sentences of an epoch.
    let scene = SessionScene(SessionLog(), line, settings: settings, at: .zero + Milliseconds(6120))
    scene.run(60) { $0.isSteady }
    #expect(scene.read { $0.line.hasEpochs } == false)
    scene.sleep(seconds: nil)
    scene.run(4)
    #expect(scene.isAsleep)
    scene.wakeUp()
    #expect(scene.run(15) { $0.reported(.rateFound(9600)) == 1 }, "\(scene.reports)")
    #expect(scene.run(15) { $0.isSteady && $0.line.receiver.baudRate == 38_400 }, "\(scene.reports)")
    #expect(scene.reported(.doesNotWake) == 0)
  }

  @Test(
    "A receiver that loses its supply in standby, and with it its baud rate, is found awake without a demand",
    arguments: [ReceiverModel.mt3339, .mt3333])
  func suppliedAgain(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve, baud: 115_200)
    #expect(scene.run(60) { $0.isSteady } && scene.line.hostRate == 115_200)
    scene.sleep(seconds: nil)
    scene.run(10)
    #expect(scene.isAsleep)
    scene.inject(.baudRateChange(to: 9600))
    scene.inject(.wakeByItself(after: Milliseconds(0)))
    #expect(scene.run(20) { $0.reported(.awake(.unrequested)) == 1 }, "\(scene.reports)")
    #expect(scene.run(30) { $0.isSteady && $0.line.hostRate == 9600 }, "\(scene.reports)")
  }

  @Test("A timed standby ends by the receiver's timer")
  func timed() {
    let scene = Self.scene(.teseo, .serve)
    #expect(scene.run(60) { $0.isSteady })
    scene.sleep(seconds: 60)
    scene.run(40)
    #expect(scene.isAsleep)
    #expect(scene.run(60) { $0.isSteady })
    #expect(scene.reported(.awake(.time)) == 1 && scene.reported(.doesNotWake) == 0)
    scene.sleep(seconds: nil)
    #expect(scene.reported(.cannotSleep) == 1)
  }

  @Test(
    "A wake-up during a sleep that only the timer ends is reported once, sends nothing, and waits for the timer",
    arguments: [ReceiverModel.teseo, .ag3352])
  func wokenBeforeTimer(_ model: ReceiverModel) {
    // An LC29H has no standby that the host ends.
    let scene = Self.scene(model, .serve, quirks: model == .ag3352 ? [.corrections] : [])
    #expect(scene.run(60) { $0.isSteady })
    scene.sleep(seconds: 60)
    scene.run(15)
    #expect(scene.isAsleep)
    let sent = scene.sentBytes
    for _ in 0..<5 {
      scene.wakeUp()
      scene.run(5)
    }
    #expect(scene.isAsleep && scene.sentBytes == sent, "\(scene.reports)")
    let rests = scene.reports.compactMap { if case .wakesByTimer(let rest) = $0.report { rest.count } else { nil } }
    #expect(rests.count == 1 && rests.allSatisfy { (44_000...46_500).contains($0) }, "\(rests)")
    #expect(scene.run(60) { $0.isSteady })
    #expect(scene.reported(.awake(.time)) == 1 && scene.reported(.awake(.unrequested)) == 0)
    #expect(scene.reported(.doesNotWake) == 0 && scene.reported(.silent) == 0, "\(scene.reports)")
  }

  @Test(
    "A receiver without sleep is not put to sleep",
    arguments: [ReceiverModel.at6558, .at6668, .lg290p, .um980, .tau1201])
  func noSleep(_ model: ReceiverModel) {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    let sent = scene.sentBytes
    scene.sleep(seconds: 60)
    scene.run(10)
    #expect(scene.reported(.cannotSleep) == 1 && scene.sentBytes == sent)
  }

  @Test(
    "A receiver that was left asleep is woken by the next program, also if that reads what came before the sleep",
    arguments: [ReceiverModel.mt3339, .ag3352], [false, true])
  func leftAsleep(_ model: ReceiverModel, readsEarlierBytes: Bool) {
    let scene = Self.scene(model, .serve)
    #expect(scene.run(60) { $0.isSteady })
    scene.sleep(seconds: nil)
    scene.run(20)
    #expect(scene.isAsleep)
    scene.open(after: 500, hostRate: scene.line.hostRate) { _ in }
    if readsEarlierBytes {
      let bytes = Wire.nmea("GNGGA,,,,,,0,,,,,,,,") + Wire.nmea("GNRMC,,V,,,,,,,,,,N")
      scene.withSession { unsafe $0.receive(bytes.span.bytes, at: scene.now) { _, _ in } }
    }
    #expect(scene.run(30) { $0.isSteady })
    scene.run(10)
    #expect(scene.takeFixes().count > 5)
  }
}

extension VirtualHost where Machine == SessionLog, Line == VirtualLine {
  fileprivate var isAsleep: Bool { read { $0.isAsleep } ?? false }
}
