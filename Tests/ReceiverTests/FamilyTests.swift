// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import RTCM3
import ReceiverSimulator
import Testing

@testable import Receiver

@Suite("Receivers of other makers")
struct FamilyTests {
  private typealias Host<Device: FamilyDevice> = VirtualHost<SessionLog, FamilyLine<Device>>

  private static func description<Line>(_ scene: VirtualHost<SessionLog, Line>) -> ReceiverDescription? {
    scene.read { $0.description }
  }

  private static func isIdentified<Line>(_ scene: VirtualHost<SessionLog, Line>) -> Bool {
    scene.read { $0.isSteady } == true
  }

  // MARK: Identification

  @Test("MediaTek, Airoha and CASIC identify themselves", arguments: [SessionSettings.Intent.serve, .identify])
  func identify(_ intent: SessionSettings.Intent) throws {
    let mediaTek = Host(family: PMTKDevice(), intent: intent)
    mediaTek.run(60) { Self.isIdentified($0) }
    let first = try #require(Self.description(mediaTek))
    #expect(first.vendor == "MediaTek" && first.model == "PA6H" && first.firmware == "AXN_2.51_3339_13101700")
    #expect(first.generation == nil && first.can(.standby) && first.can(.configure) && first.can(.restart))
    #expect(!mediaTek.line.sent.contains("PAIR") && !mediaTek.line.sent.contains("PCAS"))

    let airoha = Host(family: PAIRDevice(), intent: intent)
    airoha.run(60) { Self.isIdentified($0) }
    let second = try #require(Self.description(airoha))
    #expect(second.vendor == "Airoha" && second.model == "LC76G" && second.firmware == "LC76GABNR02A01S")
    #expect(second.can(.standby) && second.can(.timedSleep))

    let casic = Host(family: PCASDevice(), intent: intent)
    casic.run(60) { Self.isIdentified($0) }
    let third = try #require(Self.description(casic))
    #expect(third.vendor == "CASIC" && third.model == "ATGM336H" && third.firmware == "URANUS5,V5.3.0.0")
    #expect(!third.can(.standby) && !third.can(.timedSleep))
  }

  @Test("A description is the same after its strings were sent to another program")
  func strings() throws {
    let found = try #require(
      Airoha().description(
        from: .answered(Array("PQTMVERNO,LC29HEANR11A03S,2023/12/05,08:52:13".utf8)), to: Airoha().probes[0]))
    #expect(ReceiverDescription(strings: found.strings) == found)
    #expect(found.model == "LC29H" && !found.can(.standby) && found.can(.timedSleep))
  }

  @Test("An unknown receiver gets the probes of each family once, and nothing after them")
  func unknown() {
    let scene = Host(family: SilentDevice())
    scene.run(60)
    #expect(scene.reported(.notIdentified(isOtherVendor: false)) == 1)
    let sent = scene.line.sent
    for probe in ["$PMTK605*31", "$PCAS06,0*1B", "$PAIR021*39", "$PQTMVERNO*58", "VERSIONB", "$PSTMGETSWVER,255*"] {
      #expect(sent.contains(probe), "\(probe)")
    }
    #expect(!sent.contains("PMTK3") && !sent.contains("PCAS03") && !sent.contains("PAIR382"))
    scene.run(600)
    _ = scene.finish()
    #expect(scene.line.sent == sent)
  }

  @Test("A family that the form of the sentences suggests is probed before u-blox and the others")
  func likely() {
    let scene = Host(family: PCASDevice(antenna: true), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.family == .casic)
    #expect(!scene.line.sent.contains("PMTK") && !scene.line.writes.contains { $0.utf8.contains(0x62) })
  }

  @Test("A family that the sentences suggest only after the first probes is probed")
  func likelyLater() {
    let scene = Host(family: ChangingDevice(), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.family == .casic)
    #expect(scene.line.sent.utf8.starts(with: "$PMTK605*31".utf8))
  }

  @Test("Replies that come late on a full line are waited for, also if the line is found to be full during the probes")
  func lateOnFullLine() {
    let scene = Host(family: LateDevice(), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.family == .casic, "\(scene.reports)")
    #expect(!scene.line.sent.contains("PMTK"))
  }

  @Test("A receiver whose processor sleeps is roused where its sentences prove the family")
  func roused() {
    let scene = Host(family: PAIRDevice(isDrowsy: true), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.model == "LC76G" && scene.line.sent.contains("$PAIR382,1*2E"))
  }

  @Test("A read-only session sends nothing")
  func readOnly() {
    let scene = Host(family: PMTKDevice(), intent: .readOnly)
    scene.run(60)
    _ = scene.finish()
    #expect(scene.line.sent.isEmpty)
  }

  @Test("The LG290P is Quectel's, whatever it has in common with Airoha")
  func quectel() throws {
    let reply = Outcome.answered(Array("PQTMVERNO,LG290P03AANR02A01S,2025/12/12,11:21:01".utf8))
    #expect(Airoha().description(from: reply, to: Airoha().probes[0]) == nil)
    let found = try #require(Quectel().description(from: reply, to: Quectel().probes[0]))
    #expect(found.vendor == "Quectel" && found.model == "LG290P" && found.firmware == "LG290P03AANR02A01S")
  }

  // MARK: Settings

  @Test("Rate and messages are set, and restored at the end")
  func mediaTekSettings() {
    let scene = Host(family: PMTKDevice(lost: 2))
    scene.run(60) { Self.isIdentified($0) }
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 5000
    desired.sentences = [SentenceRate("VTG", 0), SentenceRate("GLL", 1), SentenceRate("GSV", 5)]
    scene.apply(.set(desired))
    scene.run(60) { $0.line.device.period == 5000 && $0.line.device.flags[5] == 5 && Self.isIdentified($0) }
    #expect(scene.line.device.period == 5000)
    #expect(Array(scene.line.device.flags.prefix(6)) == [1, 1, 0, 1, 1, 5])
    _ = scene.finish()
    #expect(scene.line.device.period == 1000)
    #expect(Array(scene.line.device.flags.prefix(6)) == [0, 1, 1, 1, 1, 1])
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("A busy receiver is asked again, and one that works on it is waited for")
  func airohaSettings() {
    let scene = Host(family: PAIRDevice(busy: 3))
    scene.run(60) { Self.isIdentified($0) }
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 200
    desired.sentences = [SentenceRate("VTG", 0)]
    desired.constellations = [.gps, .glonass]
    scene.line.device.busy = 2
    scene.apply(.set(desired))
    scene.run(60) { $0.line.device.constellations == [1, 1, 0, 0, 0, 0] && Self.isIdentified($0) }
    #expect(scene.line.device.period == 200 && scene.line.device.rates[5] == 0)
    _ = scene.finish()
    #expect(scene.line.device.period == 1000 && scene.line.device.rates[5] == 1)
    #expect(scene.line.device.constellations == [1, 1, 1, 1, 1, 0])
  }

  @Test("A receiver without acknowledgements is observed: before, and until it does what was sent")
  func casicSettings() {
    let scene = Host(family: PCASDevice())
    scene.run(60) { Self.isIdentified($0) }
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 200
    desired.sentences = [SentenceRate("GLL", 0), SentenceRate("VTG", 0)]
    scene.line.device.lost = 2
    scene.apply(.set(desired))
    scene.run(90) { $0.line.device.period == 200 && $0.line.device.rates["GLL"] == 0 && Self.isIdentified($0) }
    #expect(scene.line.device.period == 200 && scene.line.device.rates["GLL"] == 0)
    _ = scene.finish()
    #expect(scene.line.device.period == 1000)
    #expect(scene.line.device.rates == PCASDevice().rates)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("Tasks of a person are done all or none")
  func allOrNothing() {
    let scene = Host(family: PMTKDevice(refused: ["314": 2]), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    func perform(_ tasks: [ReceiverTask]) -> Outcome? {
      guard let ticket = scene.withSession({ $0.perform(tasks, at: scene.now) }) else { return nil }
      scene.run(90) { $0.machine.outcomes[ticket] != nil }
      return scene.machine.outcomes[ticket]
    }
    #expect(perform([.read(.period)]) == .performed([.value(.period(1000))]))
    // Refused by the receiver: the first value is undone.
    let tasks: [ReceiverTask] = [.set(.period(500)), .set(.messages([SentenceRate("GLL", 1)]))]
    #expect(perform(tasks) == .performed([.written, .refused]))
    #expect(scene.line.device.period == 1000)
    // Unknown to the family: nothing is sent.
    let before = scene.line.sent
    #expect(
      perform([.set(.period(500)), .set(.messages([SentenceRate("GNS", 1)]))])
        == .performed([.withdrawn, .unsupported]))
    #expect(perform([.act(.save)]) == .performed([.unsupported]))
    #expect(scene.line.sent == before)
    #expect(perform([.set(.period(200))]) == .performed([.written]))
    _ = scene.finish()
    #expect(scene.line.device.period == 200)
  }

  @Test("UBX is never sent to an identified receiver of another maker")
  func noUBX() {
    let scene = Host(family: PMTKDevice())
    scene.run(60) { Self.isIdentified($0) }
    let before = scene.line.writes.count
    guard let ticket = scene.withSession({ $0.submit(.poll(.monVER), at: scene.now) }) else { return }
    scene.run(1)
    #expect(scene.machine.outcomes[ticket] == .refused(.unsupported))
    #expect(
      !scene.line.writes.dropFirst(before).contains {
        $0.utf8.contains(0x62) && $0.utf8.contains(0x0A) && !$0.hasPrefix("$")
      })
  }

  // MARK: Sleep

  @Test("Standby and wake: silence is expected, the first sentence or the reply shows that it is awake")
  func standby() {
    let mediaTek = Host(family: PMTKDevice())
    mediaTek.run(60) { Self.isIdentified($0) }
    mediaTek.apply(.sleep(nil))
    mediaTek.run(30)
    #expect(mediaTek.line.device.isAsleep && mediaTek.reported(.asleep(until: nil)) == 1)
    #expect(mediaTek.reported(.silent) == 0)
    mediaTek.apply(.wakeUp)
    mediaTek.run(5)
    #expect(!mediaTek.line.device.isAsleep && mediaTek.reported(.awake(.requested)) == 1)

    let airoha = Host(family: PAIRDevice())
    airoha.run(60) { Self.isIdentified($0) }
    airoha.apply(.sleep(Milliseconds(60_000)))
    airoha.run(30)
    #expect(airoha.line.device.isAsleep && airoha.line.sent.contains("$PAIR003*39"))
    airoha.apply(.wakeUp)
    airoha.run(5)
    #expect(!airoha.line.device.isAsleep && airoha.reported(.awake(.requested)) == 1)
  }

  @Test(
    "A request to sleep that is refused, or gets busy for long, leaves the receiver awake; busy for short, it is repeated"
  )
  func refusedSleep() {
    let mediaTek = Host(family: PMTKDevice())
    mediaTek.run(60) { Self.isIdentified($0) }
    mediaTek.line.device.refused["161"] = 2
    mediaTek.apply(.sleep(nil))
    mediaTek.run(10)
    #expect(mediaTek.reported(.asleep(until: nil)) == 0 && mediaTek.reported(.doesNotSleep) == 1)
    mediaTek.line.device.refused["161"] = 1
    mediaTek.apply(.sleep(nil))
    mediaTek.run(10)
    #expect(mediaTek.reported(.asleep(until: nil)) == 0 && mediaTek.reported(.cannotSleep) == 1)

    let airoha = Host(family: PAIRDevice())
    airoha.run(60) { Self.isIdentified($0) }
    airoha.line.device.busy = 100
    airoha.apply(.sleep(nil))
    airoha.run(10)
    #expect(airoha.reported(.asleep(until: nil)) == 0 && airoha.reported(.doesNotSleep) == 1)
    airoha.line.device.busy = 3
    airoha.apply(.sleep(nil))
    airoha.run(10)
    #expect(airoha.line.device.isAsleep && airoha.reported(.asleep(until: nil)) == 1)
  }

  @Test(
    "A receiver that a killed program left asleep is woken at the next start",
    arguments: [
      SessionSettings.Line.serial, .bound,
    ])
  func leftAsleep(_ line: SessionSettings.Line) {
    let killed = Host(family: PAIRDevice(), line: line)
    killed.run(60) { Self.isIdentified($0) }
    killed.apply(.sleep(nil))
    killed.run(10)
    let record = killed.machine.stored.recovery
    #expect(record.flatMap { CrashRecoveryRecord($0.text) } == record && record?.family == .airoha)
    let next = Host(family: killed.line.device, line: line) { settings in
      settings.recovery = record.flatMap { CrashRecoveryRecord($0.text) }
    }
    next.run(20) { Self.isIdentified($0) }
    #expect(!next.line.device.isAsleep)
    #expect(next.line.writes.first?.hasPrefix("$PAIR002") == true)
  }

  @Test(
    "A sleeping receiver is awake at the end, and after a killed program at the next start",
    arguments: [SessionSettings.Line.serial, .bound])
  func awakeAtEnd(_ line: SessionSettings.Line) {
    let scene = Host(family: PAIRDevice(), line: line)
    scene.run(60) { Self.isIdentified($0) }
    scene.apply(.sleep(nil))
    scene.run(10)
    #expect(scene.line.device.isAsleep)
    _ = scene.finish()
    #expect(!scene.line.device.isAsleep && scene.read { $0.isRestored } ?? true)
  }

  @Test("Values that a killed program changed are restored by the next one")
  func killed() {
    let scene = Host(family: PMTKDevice())
    scene.run(60) { Self.isIdentified($0) }
    var desired = DesiredConfiguration.nothing
    desired.measurementPeriodMilliseconds = 2000
    desired.sentences = [SentenceRate("GSV", 0)]
    scene.apply(.set(desired))
    scene.run(60) { $0.line.device.flags[5] == 0 && Self.isIdentified($0) }
    let stored = scene.machine.stored
    #expect(stored.settings.flatMap { CrashRecoverySettings("\n" + $0.text) } == stored.settings)
    let next = Host(family: scene.line.device) { stored.read(into: &$0) }
    next.run(60) { Self.isIdentified($0) }
    _ = next.finish()
    #expect(next.line.device.period == 1000 && next.line.device.flags[5] == 1)
    #expect(next.read { $0.isRestored } ?? true)
  }

  @Test("The rest of what was sent before a standby is not a sign of an awake receiver if the host reads it late")
  func lateRest() {
    var watch = SleepWatch(requestedAt: .zero, duration: nil, epoch: Milliseconds(1000), isWokenByHost: true)
    for milliseconds: UInt64 in [2600, 2700, 30_000] {
      #expect(watch.receive(at: .zero + Milliseconds(milliseconds)) == .sleeps)
    }
    #expect(watch.receive(at: .zero + Milliseconds(31_000)) == .isAwake(.unrequested))
    var awake = SleepWatch(requestedAt: .zero, duration: nil, epoch: Milliseconds(1000), isWokenByHost: true)
    let verdicts = (1...4).map { awake.receive(at: .zero + Milliseconds(UInt64($0) * 1000)) }
    #expect(verdicts.contains(.doesNotSleep))
  }

  @Test("A receiver that is not to be probed leaves no attempt due")
  func noAttemptDue() {
    let scene = Host(family: SilentDevice(), intent: .identify, line: .bound) { settings in
      var memory = SessionMemory()
      memory.isUnanswering = true
      settings.memory = memory
    }
    // A device that stays due for ten seconds stops the test.
    scene.run(60)
    #expect(scene.wakeUps < 100 && scene.sentBytes == 0)
  }

  @Test(
    "Settings above 1 Hz are saved while the engine is stopped, and it is stopped only where the processor stays awake",
    arguments: [
      ("LC29HEANR11A03S", "", ReceiverTask.Result.written), ("LC76GABNR02A01S", "", .written),
      ("LC29HEANR11A03S", "382", .refused), ("LC86GABNR01A01S", "", .refused),
    ])
  func saveFast(_ firmware: String, _ unsupported: String, _ result: ReceiverTask.Result) throws {
    var device = PAIRDevice()
    (device.firmware, device.period, device.unsupported) = (firmware, 200, [unsupported])
    let scene = Host(family: device, intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    let ticket = try #require(scene.withSession { $0.perform([.act(.save)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([result]))
    #expect(scene.line.device.savedPeriod == (result == .written ? 200 : nil))
    #expect(!scene.line.device.isEngineStopped && !scene.line.device.isAsleep)
    #expect(scene.line.sent.contains("$PAIR003") == (result == .written))
    let written = scene.writes.drop { !String(decoding: $0.bytes, as: UTF8.self).contains("PAIR003") }.prefix(2)
    if let stop = written.first, let next = written.last {
      #expect(next.at.milliseconds(since: stop.at) >= 500)
    }
  }

  @Test(
    "The name of a module decides whether it receives in standby, also if its reply comes late; the name of its chip does not",
    arguments: [
      ("LC86GABNR02A01S", 2, "LC86G", "$PAIR650"), ("LC86GABNR02A01S", Int.max, "AG3352Q", "$PAIR650"),
      ("LC76GABNR02A01S", 2, "LC76G", "$PAIR003"), ("LC76GABNR02A01S", Int.max, "AG3352Q", "$PAIR650"),
    ])
  func chip(_ firmware: String, _ namesLost: Int, _ model: String, _ sleep: String) throws {
    var device = PAIRDevice()
    (device.firmware, device.namesLost, device.period) = (firmware, namesLost, 200)
    let scene = Host(family: device) { $0.desired = { _ in .nothing } }
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.model == model)
    let ticket = try #require(scene.withSession { $0.perform([.act(.save)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([model == "LC76G" ? .written : .refused]))
    #expect(scene.line.sent.contains("$PAIR003") == (model == "LC76G"))
    let sent = scene.line.writes.count
    scene.apply(.sleep(Milliseconds(60_000)))
    scene.run(20)
    let request = scene.line.writes.dropFirst(sent).first
    #expect(request?.hasPrefix(sleep) == true && scene.read { $0.isAsleep } == true, "\(request ?? "none")")
  }

  @Test("A known description is completed where replies were lost, and replaced where they differ")
  func completed() {
    func receiver(
      _ family: ReceiverFamily, _ model: String?, _ firmware: String?, _ more: [Capability] = []
    ) -> ReceiverDescription {
      ReceiverDescription(family: family, model: model, firmware: firmware, hardware: "", capabilities: [.configure])
        .adding(more)
    }
    let known = receiver(.airoha, "LC76G", "LC76GABNR12A04S", [.standby, .logger, .batching])
    #expect(
      receiver(.airoha, "LC76G", "LC76GABNR12A04S").completed(by: known)
        == receiver(.airoha, "LC76G", "LC76GABNR12A04S", [.logger, .batching]))
    for other in [receiver(.airoha, "AG3352Q", "AG3352Q_V2.3.0"), receiver(.airoha, "LC76G", "LC76GABNR02A01S")] {
      #expect(other.completed(by: known) == other)
    }
    let casic = receiver(.casic, "ATGM336H", "URANUS5,V5.3.0.0")
    #expect(receiver(.casic, nil, nil).completed(by: casic) == casic)
    #expect(receiver(.casic, nil, "URANUS5,V5.3.0.0").completed(by: casic) == casic)
    let newer = receiver(.casic, nil, "URANUS6,V6.3.0.0")
    #expect(newer.completed(by: casic) == newer)
    let strings = receiver(.casic, nil, nil).completed(by: casic).strings
    #expect(ReceiverDescription(strings: strings) == casic)
  }

  @Test("Only an acknowledgement of the command itself counts, whatever an earlier one still gets")
  func acknowledgements() throws {
    let septentrio = ReceiverDescription(
      family: .septentrio, model: nil, firmware: nil, hardware: "", capabilities: []
    ).adding(port: "COM1")
    func receiver(_ family: ReceiverFamily) -> ReceiverDescription {
      family == .septentrio
        ? septentrio
        : ReceiverDescription(family: family, model: nil, firmware: nil, hardware: "", capabilities: [])
    }
    func command(_ family: ReceiverFamily, _ value: ReceiverValue) throws -> Command {
      try #require(family.language?.commands(setting: value, from: nil, on: receiver(family))?.last)
    }
    let gga = ReceiverValue.messages([SentenceRate("GGA", 1)])
    // The command, texts that are about others, and the text about this one.
    let rows: [(Command, others: [String], own: [String], outcome: Outcome)] = [
      (
        try command(.firebird, gga), ["OK", "FAIL,0", "GNTXT,01,01,00,PDTINFO", "OK", "PDTINFO,UC6580I", "FAIL,1"],
        ["GNTXT,01,01,00,CFGMSG,0,0,1", "FAIL,0"], .refused(.failed)
      ),
      (try command(.firebird, gga), ["OK"], ["GNTXT,01,01,00,CFGMSG,0,0,1", "OK"], .acknowledged),
      (
        try command(.quectel, .period(200)), ["PQTMCFGFIXRATE,OK,100", "PQTMCFGCNST,OK"], ["PQTMCFGFIXRATE,OK"],
        .acknowledged
      ),
      (
        try command(.septentrio, gga),
        [
          "R: setNMEAOutput, Stream1, COM1, GGA, sec10",
          "R? exeCopyConfigFile, Current, Boot: Argument 'Target' is invalid!",
          "R? PMTK605*31: Invalid command!",
        ], ["R: setNMEAOutput, Stream1, COM1, GGA, sec1"], .acknowledged
      ),
      (
        try command(.septentrio, gga), [],
        ["R? setNMEAOutput, Stream1, COM1, GGA, sec1: Argument 'Stream' is invalid!"],
        .refused(.failed)
      ),
      (try command(.mediaTek, .period(200)), ["PMTK001,314,3", "PMTK001,314,0"], ["PMTK001,220,3"], .acknowledged),
      (try command(.airoha, .period(200)), ["PAIR001,062,0", "PAIR001,062,4"], ["PAIR001,050,0"], .acknowledged),
      (try command(.teseo, gga), ["PSTMSETPAROK", "PSTMSAVEPARERROR"], ["PSTMCFGMSGLOK"], .acknowledged),
      (
        try command(.unicore, gga), ["command,UNLOG GPGGA,response: OK"], ["command,GNGGA 1,response: OK"],
        .acknowledged
      ),
    ]
    for row in rows {
      var request = RequestInFlight(row.0, earliest: .zero)
      _ = request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil)
      for text in row.others { #expect(request.receive(.text(Array(text.utf8)), at: .zero) == nil, "\(text)") }
      let outcomes = row.own.map { request.receive(.text(Array($0.utf8)), at: .zero) }
      #expect(outcomes.last == row.outcome && outcomes.dropLast().allSatisfy { $0 == nil }, "\(row.own)")
    }
  }

  @Test("A request that comes back as an echo is not its reply")
  func echoedRequests() throws {
    for (text, family) in [
      ("PAIR905,0", ReceiverFamily.airoha), ("PAIR063,0", .airoha), ("PQTMCFGCNST,R", .quectel),
      ("PQBAUD,W,9600", .mediaTek),
    ] {
      var request = RequestInFlight(try #require(Command.sentence(text, for: family)), earliest: .zero)
      _ = request.wake(at: .zero, backlog: Milliseconds(0), bitRate: nil)
      #expect(request.receive(.text(Array(text.utf8)), at: .zero) == nil, "\(text)")
    }
  }

  // MARK: Frames

  @Test("Replies are found between sentences, in pieces, and with the checksum of each maker")
  func replies() {
    var scanner = ReplyScanner()
    var frames: [FamilyFrame] = []
    let bytes: [UInt8] =
      Array("GA,1,2\r\n$PMTK705,A*42\r\n$command,VERSIONB,response: OK*46\r\n$PMTK001,1".utf8)
      + FrameLayout.casic.frame(0x0604, [0xE8, 0x03, 1, 1]) + FrameLayout.allystar.frame(0x0A04, [1, 2, 3])
      + FrameLayout.skyTraq.frame(0x80, [1, 2]) + Array("USB1>\r\n".utf8)
    for byte in bytes {
      let one = [byte]
      unsafe scanner.receive(one.span.bytes) { frame, _ in frames.append(frame) }
    }
    #expect(frames.contains(.text(Array("command,VERSIONB,response: OK".utf8))))
    #expect(frames.contains(.binary(.casic, 0x0604, [0xE8, 0x03, 1, 1])))
    #expect(frames.contains(.binary(.allystar, 0x0A04, [1, 2, 3])))
    #expect(frames.contains(.binary(.skyTraq, 0x80, [1, 2])))
    #expect(frames.contains(.text(Array(">USB1".utf8))))
    // A frame that is cut at either end is not one.
    #expect(!frames.contains(.text(Array("GA,1,2".utf8))) && !frames.contains(.text(Array("PMTK001,1".utf8))))
    // A wrong checksum is not a reply.
    #expect(!frames.contains(.text(Array("PMTK705,A".utf8))))
    // Recorded: CFG-RATE of an AT632, and an acknowledgement of an Allystar receiver.
    #expect(
      FrameLayout.casic.frame(0x0604, [0xE8, 0x03, 1, 1])
        == [0xBA, 0xCE, 4, 0, 6, 4, 0xE8, 3, 1, 1, 0xEC, 3, 7, 5])
    #expect(FrameLayout.allystar.frame(0x0501, [6, 0]) == [0xF1, 0xD9, 5, 1, 2, 0, 6, 0, 0x0E, 0x37])
  }

  @Test("A value without a poll in this firmware is proved by its acknowledgement")
  func noPolls() throws {
    let scene = Host(family: PMTKDevice(refused: ["400": 1, "414": 1]), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    let messages = ReceiverValue.messages([SentenceRate("VTG", 0)])
    let ticket = try #require(
      scene.withSession { $0.perform([.set(.period(500)), .set(messages)], at: scene.now) })
    scene.run(90) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([.written, .written]))
    #expect(scene.line.device.period == 500 && scene.line.device.flags[2] == 0)
    _ = scene.finish()
  }

  @Test("A reply of a likely family may take more than a second", arguments: [1000, 1500] as [UInt64])
  func lateReply(_ delay: UInt64) {
    let scene = Host(family: SlowDevice(delay: delay), intent: .identify)
    scene.run(60) { Self.isIdentified($0) }
    #expect(Self.description(scene)?.family == .mediaTek)
    #expect(scene.reported(.notIdentified(isOtherVendor: true)) == 0)
    #expect(scene.reported(.notIdentified(isOtherVendor: false)) == 0)
  }

  @Test("A PAIR receiver of another maker than Quectel is found at its new rate")
  func rateOfOtherMaker() {
    var change = PortRateChange(from: 115_200, to: 9600, port: nil, usesItems: false, family: .airoha)
    _ = change.next()
    change.receive(.sent)
    _ = change.next()
    guard case .send(let poll) = change.next() else { return #expect(Bool(false), "no poll") }
    #expect(poll.bytes == Array("$PAIR051*3E\r\n".utf8))
  }

  @Test("Sentences that a person sends are completed, and have the acknowledgement of the family")
  func sentences() {
    #expect(Command.sentence("$PMTK220,1000", for: .mediaTek)?.bytes == Array("$PMTK220,1000*1F\r\n".utf8))
    #expect(Command.sentence("PMTK220,1000*00\r\n", for: nil)?.bytes == Array("$PMTK220,1000*1F\r\n".utf8))
    #expect(Command.sentence("", for: .casic) == nil)
    #expect(Command.sentence("a$b", for: .casic) == nil)
    if case .family? = Command.sentence("PAIR050,500", for: .airoha)?.answer {} else { Issue.record("no answer") }
    // A refusal begins as the reply does.
    let reply = Quectel().acknowledgement(ofSentence: "PQTMCFGMSGRATE,W,XYZ,1")
    #expect(reply?.judge(.text(Array("PQTMCFGMSGRATE,ERROR,1".utf8))) == .over(.refused(.failed)))
    let read = Array("PQTMCFGMSGRATE,OK,GGA,1".utf8)
    #expect(reply?.judge(.text(read)) == .over(.answered(read)))
    #expect(Command.sentence("PCAS02,500", for: .casic)?.answer == Command.Answer.none)
  }
}
