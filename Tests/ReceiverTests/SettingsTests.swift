// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import Testing
import UBX

extension SessionScene {
  /// A scene as `sextant configure` has it: the receiver is identified, nothing is wished, nothing is put back.
  static func configuring(
    _ model: ReceiverModel, baud: UInt32? = 115_200, hasRate: Bool = true
  ) -> SessionScene {
    let scene = SessionScene(model, baud: baud, intent: .identify, hasRate: hasRate) { settings in
      settings.desired = { _ in .nothing }
      settings.restoresAtEnd = false
    }
    scene.run(15) { $0.isSteady }
    return scene
  }

  /// Carries a script out.
  func carryOut<Script: ReceiverScript>(_ script: Script) throws -> Script {
    var script = script
    while let command = script.next() {
      script.receive(try #require(send(command, within: 60)))
    }
    return script
  }

  /// Sets words and tells what came of them.
  func set(_ words: [String], _ scope: SettingsEdit.Scope = .allOrNothing) throws -> SettingsEdit {
    let description = try #require(description)
    return try carryOut(
      SettingsEdit(
        words.map { try SettingWord($0) }, of: description, port: port, hasRate: true, scope: scope))
  }

  /// The texts of settings by name.
  func get(_ names: String...) throws -> [String] {
    let description = try #require(description)
    return try carryOut(SettingsReading(names: names.map { try SettingName($0) }, of: description)).values.map(\.text)
  }

  /// All settings.
  func all() throws -> [SettingValue] {
    let description = try #require(description)
    let reading = try carryOut(SettingsReading(pattern: nil, of: description, readsStandards: true))
    #expect(!reading.isIncomplete)
    return reading.values
  }
}

@Suite("Settings of a receiver by name")
struct SettingsTests {
  static let withItems: [ReceiverModel] = [.m9, .m10, .f9p, .f10, .x20]
  static let withMessages: [ReceiverModel] = [.m6, .m8, .m8Batching]

  // MARK: Every family

  @Test("Rate, model, messages and sentences are set on every receiver", arguments: withItems + withMessages)
  func families(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let message = model == .m6 ? "NAV-POSLLH" : "NAV-PVT"
    let edit = try scene.set(["rate=5Hz", "model=automotive", "messages=\(message),NAV-DOP@5,GGA@3", "nmea=on"])
    #expect(edit.results.allSatisfy { $0 == .changed || $0 == .unchanged }, "\(edit.names(of: .refused))")
    let receiver = scene.line.receiver
    #expect(receiver.epochMilliseconds == 200)
    #expect(receiver.rate(of: model == .m6 ? .navPOSLLH : .navPVT) == 1)
    #expect(receiver.rate(of: .navDOP) == 5)
    #expect(receiver.rate(of: MessageIdentity(0xF0, 0x00)) == 3)
    let again = try scene.set(["rate=200ms", "model=automotive"])
    #expect(again.results == [.unchanged, .unchanged])
  }

  @Test("Rate and model are read by the names that set them", arguments: withItems + withMessages)
  func familiesRead(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    _ = try scene.set(["rate=5Hz", "model=automotive"])
    let names = try scene.get("rate", "model")
    #expect(names == (Self.withItems.contains(model) ? ["0.2", "4"] : ["200", "4"]))
  }

  @Test("A name of several settings is refused with the command that shows them")
  func severalSettings() {
    do throws(SettingProblem) {
      _ = try SettingName("constellations")
      Issue.record("it was taken for one setting")
    } catch {
      #expect(error.description.contains("configure get constellations"))
    }
  }

  @Test("A rate that fills the line is set after the rest", arguments: [ReceiverModel.m6, .m8])
  func fullLine(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model, baud: nil)
    let edit = try scene.set(["rate=4Hz", "model=sea", "messages=NAV-DOP", "CFG-NAV5.minElev=8"])
    #expect(edit.results == [.changed, .changed, .changed, .changed], "\(edit.names(of: .silent))")
    #expect(scene.line.receiver.epochMilliseconds == 250)
  }

  @Test("A setting stays when the session ends", arguments: [ReceiverModel.m8, .m10])
  func stays(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    _ = try scene.set(["rate=4Hz", "nmea=off"])
    let sent = scene.sentBytes
    _ = scene.finish()
    #expect(scene.sentBytes == sent)
    #expect(scene.line.receiver.epochMilliseconds == 250)
  }

  @Test("An empty configuration sends no change", arguments: withItems + withMessages)
  func nothing(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    #expect(scene.memory == nil || scene.reports.contains { $0.report == .configured(refused: 0) })
    let before = scene.sentBytes
    _ = scene.finish()
    #expect(scene.sentBytes == before)
  }

  @Test("Constellations are switched", arguments: [ReceiverModel.m8, .m9])
  func constellations(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let edit = try scene.set(["constellations=GPS+GAL"])
    #expect(edit.results == [.changed])
    #expect(scene.line.receiver.systems == [.gps, .galileo])
  }

  @Test("A constellation that the receiver does not have is reported")
  func missingConstellation() throws {
    let scene = SessionScene.configuring(.m8)
    let systems = scene.line.receiver.systems
    #expect(try scene.set(["constellations=GPS+NAVIC"]).results == [.missing])
    #expect(scene.line.receiver.systems == systems)
  }

  // MARK: The line itself

  @Test(
    "A setting that would cut the line is refused before anything is written",
    arguments: [ReceiverModel.m6, .m8],
    ["CFG-PRT.inProtoMask=2", "CFG-PRT[1].inProtoMask=2", "CFG-PRT[1].outProtoMask=2", "CFG-PRT.outProtoMask=0"])
  func cutsLine(_ model: ReceiverModel, _ word: String) throws {
    let scene = SessionScene.configuring(model)
    let before = try scene.all()
    let edit = try scene.set(["rate=2Hz", word])
    #expect(edit.problem?.description.contains("uses UBX on that port") == true)
    #expect(edit.results == [.withdrawn, .withdrawn])
    #expect(try scene.all() == before)
    // Settings that leave UBX on, and settings of another port, are set; from a file, all others are.
    #expect(try scene.set(["CFG-PRT[1].inProtoMask=1"]).results == [.changed])
    #expect(try scene.set(["CFG-PRT[3].inProtoMask=2"]).results == [.changed])
    #expect(try scene.set(["rate=2Hz", word], .bestEffort).results == [.changed, .refused])
  }

  @Test("At its USB port a receiver has no rate that could be set", arguments: [ReceiverModel.m6, .m8, .m9, .f9p])
  func rateOfUSB(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model, baud: nil, hasRate: false)
    let before = try scene.all()
    do {
      let edit = try scene.set(["rate=2Hz", "baud=115200"])
      #expect(edit.problem?.description.contains("has no rate") == true)
      #expect(edit.portRate == nil)
    } catch let problem as SettingProblem {
      #expect(problem.description.contains("has no rate"))
    }
    #expect(try scene.all() == before)
  }

  @Test("The way in for UBX cannot be closed over USB either", arguments: [ReceiverModel.m6, .m8])
  func cutsUSB(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model, baud: nil, hasRate: false)
    #expect(try scene.set(["CFG-PRT[3].inProtoMask=2"]).problem != nil)
    #expect(try scene.set(["CFG-PRT[1].inProtoMask=2"]).results == [.changed])
  }

  // MARK: Whole or nothing

  @Test("A refused value is named, and nothing else is changed", arguments: withItems)
  func refusedItem(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let before = try scene.all()
    let edit = try scene.set(["CFG-NAVSPG-DYNMODEL=4", "CFG-RATE-MEAS=0.01", "CFG-NAVSPG-INFIL_MINELEV=12"])
    #expect(edit.names(of: .refused) == ["CFG-RATE-MEAS"])
    #expect(edit.results == [.withdrawn, .refused, .withdrawn])
    let after = try scene.all()
    #expect(before == after)
  }

  @Test("A refused message is named, and nothing else is changed", arguments: [ReceiverModel.m6, .m8])
  func refusedMessage(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let before = try scene.get("CFG-NAV5", "CFG-RATE")
    let edit = try scene.set(["CFG-NAV5.dynModel=4", "CFG-RATE.measRate=10"])
    #expect(edit.names(of: .refused) == ["CFG-RATE.measRate"])
    #expect(edit.results == [.withdrawn, .refused])
    #expect(try scene.get("CFG-NAV5", "CFG-RATE") == before)
  }

  @Test("An item that the receiver does not have is found before anything is written")
  func missingItem() throws {
    let scene = SessionScene.configuring(.m10)
    let edit = try scene.set(["CFG-NAVSPG-DYNMODEL=4", "CFG-TMODE-MODE=1", "0x2011fff0=1"])
    #expect(edit.names(of: .missing) == ["CFG-TMODE-MODE", "0x2011fff0"])
    #expect(try scene.get("NAVSPG-DYNMODEL") == ["0"])
  }

  @Test(
    "A baud rate that the line does not get is named, and nothing else is changed",
    arguments: withItems + withMessages, [nil, "CFG-PRT[1].baudRate=57600", "CFG-UART1-BAUDRATE=57600"])
  func refusedLineRate(_ model: ReceiverModel, _ byName: String?) throws {
    let name = Self.withItems.contains(model) ? "CFG-UART1-BAUDRATE" : "CFG-PRT[1].baudRate"
    if let byName, !byName.hasPrefix(name) { return }
    let scene = SessionScene.configuring(model)
    let before = try scene.all()
    var edit = try scene.set(["model=automotive", byName ?? "baud=57600", "nmea=off"])
    #expect(edit.results == [.changed, .unchanged, .changed] && edit.portRate == 57_600)
    edit.abandonPortRate()
    edit = try scene.carryOut(edit)
    #expect(edit.results == [.withdrawn, .refused, .withdrawn])
    #expect(edit.names(of: .refused) == [name] && edit.portRate == nil)
    #expect(try scene.all() == before)
  }

  @Test(
    "A baud rate that the line does not get leaves the other settings of a file", arguments: [ReceiverModel.m8, .m10])
  func refusedLineRateOfFile(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let name = model == .m10 ? "CFG-UART1-BAUDRATE" : "CFG-PRT[1].baudRate"
    let words = model == .m10 ? ["CFG-NAVSPG-DYNMODEL = 4", "CFG-RATE-MEAS = 0.01"] : ["CFG-NAV5.dynModel = 4"]
    let lines = ["sextant-configuration 1", "holds everything"] + words + ["\(name) = 57600"]
    let file = try ConfigurationFile(lines.joined(separator: "\n") + "\n")
    var restoring = try scene.carryOut(
      ConfigurationRestoring(file, to: #require(scene.description), port: scene.port, hasRate: true))
    #expect(restoring.edit?.portRate == 57_600)
    restoring.abandonPortRate()
    restoring = try scene.carryOut(restoring)
    let edit = try #require(restoring.edit)
    #expect(edit.results == (model == .m10 ? [.changed, .refused, .refused] : [.changed, .refused]))
    #expect(edit.names(of: .refused) == (model == .m10 ? ["CFG-RATE-MEAS", name] : [name]))
    #expect(edit.portRate == nil)
    #expect(try scene.get("model") == ["4"])
  }

  @Test("A receiver that is lost by a baud rate keeps the other settings", arguments: [ReceiverModel.m8, .m10])
  func lostByLineRate(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    var edit = try scene.set(["model=automotive", "rate=1Hz", "baud=57600"])
    edit.abandonPortRate()
    scene.line.inject(.power(isOn: false), at: scene.now)
    edit = try scene.carryOut(edit)
    #expect(edit.isReceiverLost)
    #expect(edit.results == [.notRestored, .unchanged, .silent])
  }

  @Test("Where the rest is to be set, it is")
  func possible() throws {
    let scene = SessionScene.configuring(.m10)
    let edit = try scene.set(["CFG-NAVSPG-DYNMODEL=4", "CFG-RATE-MEAS=0.01"], .bestEffort)
    #expect(edit.results == [.changed, .refused])
    #expect(try scene.get("NAVSPG-DYNMODEL") == ["4"])
  }

  // MARK: CFG messages

  @Test("Fields of a message are changed and the others stay", arguments: [ReceiverModel.m8, .m8Batching])
  func fields(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let elevation = try scene.get("CFG-NAV5.minElev")
    let edit = try scene.set([
      "CFG-NAV5.dynModel=2", "CFG-NAV5.pAcc=50", "CFG-NAVX5.ackAiding=1", "CFG-MSG[NAV-PVT].rate[1]=2",
      "CFG-NMEA.nmeaVersion=0x41",
    ])
    #expect(edit.results.allSatisfy { $0 == .changed || $0 == .unchanged }, "\(edit.results)")
    #expect(try scene.get("cfg-nav5.dynmodel", "NAV5.pAcc", "CFG-NAVX5.ackAiding") == ["2", "50", "1"])
    #expect(try scene.get("CFG-MSG[NAV-PVT].rate[1]") == ["2"])
    #expect(try scene.get("CFG-NAV5.minElev") == elevation)
  }

  // MARK: Reading

  @Test("All pages of all items are read, with the firmware's values", arguments: withItems, [nil, 115_200])
  func everyItem(_ model: ReceiverModel, at rate: UInt32?) throws {
    let scene = SessionScene.configuring(model, baud: rate)
    _ = try scene.set(["model=automotive"])
    let all = try scene.all()
    #expect(all.count > 200)
    #expect(all.allSatisfy { $0.standard != nil })
    #expect(all.filter { $0.isStandard == false }.map(\.name).contains("CFG-NAVSPG-DYNMODEL"))
    #expect(Set(all.map(\.name)).count == all.count)
  }

  @Test("A pattern reads its groups only")
  func pattern() throws {
    let scene = SessionScene.configuring(.m9)
    let description = try #require(scene.description)
    let reading = try scene.carryOut(
      SettingsReading(pattern: "cfg-rate-*", of: description, readsStandards: false))
    #expect(reading.progress.of == 1)
    #expect(reading.values.map(\.name).contains("CFG-RATE-MEAS"))
    #expect(reading.values.allSatisfy { $0.name.hasPrefix("CFG-RATE-") })
    #expect(reading.values.first { $0.name == "CFG-RATE-MEAS" }?.text == "1")
  }

  @Test("CFG messages are read field by field", arguments: withMessages)
  func everyMessage(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let names = try scene.all().map(\.name)
    for name in ["CFG-RATE.measRate", "CFG-NAV5.dynModel", "CFG-PRT[1].baudRate", "CFG-MSG[NAV-POSLLH].rate"] {
      #expect(names.contains(name))
    }
    #expect(!names.contains { $0.contains("reserved") || $0.hasSuffix(".mask") })
  }

  @Test("A name that the receiver does not have is reported, the others are read")
  func partly() throws {
    let scene = SessionScene.configuring(.m10)
    let description = try #require(scene.description)
    let reading = try scene.carryOut(
      SettingsReading(
        names: ["CFG-RATE-MEAS", "CFG-TMODE-MODE", "CFG-RATE-NAV"].map { try SettingName($0) }, of: description))
    #expect(reading.missing == ["CFG-TMODE-MODE"])
    #expect(reading.values.map(\.name) == ["CFG-RATE-MEAS", "CFG-RATE-NAV"])
  }

  @Test("The port that has the line's rate is known once the receiver has reported its port")
  func rates() throws {
    let serial = SessionScene.configuring(.m8)
    func edit(_ word: String, in scene: SessionScene, hasRate: Bool) throws -> SettingsEdit {
      let description = try #require(scene.description)
      return try scene.carryOut(
        SettingsEdit([SettingWord(word)], of: description, port: nil, hasRate: hasRate))
    }
    let own = try edit("CFG-PRT[1].baudRate=57600", in: serial, hasRate: true)
    #expect(own.portRate == 57_600 && own.results == [.unchanged] && own.problem == nil)
    #expect(serial.line.receiver.baudRate == 115_200, "who holds the line changes it")

    let atUSB = SessionScene.configuring(.m8, baud: nil, hasRate: false)
    let another = try edit("CFG-PRT[1].baudRate=57600", in: atUSB, hasRate: false)
    #expect(another.portRate == nil && another.results == [.changed] && another.problem == nil)
    #expect(try atUSB.get("CFG-PRT[1].baudRate") == ["57600"])
    let none = try edit("CFG-PRT[3].baudRate=57600", in: atUSB, hasRate: false)
    #expect(none.portRate == nil && none.problem?.description.contains("no rate") == true)
  }

  // MARK: Kept

  @Test("Saved settings are there after a power cycle", arguments: [ReceiverModel.m8, .m9, .m10, .f9p])
  func saved(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model, baud: nil)
    _ = try scene.set(["rate=2Hz"])
    let description = try #require(scene.description)
    let saving = try scene.carryOut(ConfigurationSaving(of: description))
    #expect(saving.result == (model == .m10 ? .batteryBacked : .permanent))
    scene.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: false), at: scene.now)
    scene.run(10)
    #expect(scene.line.receiver.epochMilliseconds == 500)
  }

  @Test("A factory reset brings the firmware's settings and its rate", arguments: [ReceiverModel.m8, .m9, .m10])
  func reset(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    _ = try scene.set(["rate=2Hz"])
    let reset = try scene.carryOut(FactoryReset())
    #expect(reset.result == .done)
    #expect(scene.line.receiver.epochMilliseconds == 1000)
    #expect(scene.line.hostRate == scene.line.receiver.baudRate)
  }

  @Test("A setting without a reply is reported as such, and not as one that the receiver does not have")
  func unanswered() throws {
    let scene = SessionScene.configuring(.m6)
    let description = try #require(scene.description)
    var dialogue = ScriptDialogue(try SettingsReading(names: [SettingName("rate")], of: description), at: .zero)
    _ = dialogue.next(at: .zero)
    dialogue.receive(.silent)
    _ = dialogue.next(at: .zero)
    dialogue.receive(.answered([1]))
    #expect(dialogue.next(at: .zero) == .over)
    #expect(dialogue.script.missing == [] && dialogue.script.withoutReply == ["CFG-RATE"])
  }

  @Test("A late answer to an earlier question is not taken for what was written", arguments: [ReceiverModel.m8, .m10])
  func lateAnswer(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    let description = try #require(scene.description)
    var edit = try SettingsEdit([SettingWord("rate=2Hz")], of: description, port: scene.port, hasRate: true)
    var answers: [Outcome] = []
    while let command = edit.next() {
      let outcome = try #require(scene.send(command))
      if case .answered = outcome { answers.append(outcome) }
      // At the first read-back the earlier answer comes once more.
      edit.receive(answers.count == 2 && answers[1] == outcome ? answers[0] : outcome)
    }
    #expect(edit.results == [.changed])
  }

  // MARK: Files

  @Test("Settings of a file for another generation are skipped by name, with the reason once")
  func otherGeneration() throws {
    let scene = SessionScene.configuring(.m10)
    let file = try ConfigurationFile(
      "sextant-configuration 1\nCFG-NAV5.dynModel = 4\nCFG-RATE.measRate = 200\nCFG-NAVSPG-DYNMODEL = 4\n")
    let restoring = try scene.carryOut(
      ConfigurationRestoring(file, to: #require(scene.description), port: scene.port, hasRate: true))
    #expect(restoring.skipped.map(\.names) == [["CFG-NAV5.dynModel", "CFG-RATE.measRate"]])
    #expect(restoring.skipped[0].reason.contains("no longer has CFG messages"))
    #expect(restoring.edit?.results == [.changed])
  }

  @Test("Windows' line ends and a byte order mark are not part of a file")
  func lineEnds() throws {
    let text = "sextant-configuration 1\nholds differences\n\nCFG-RATE-MEAS = 0.2   # s\n"
    let file = try ConfigurationFile(text)
    #expect(try ConfigurationFile("\u{FEFF}" + text.replacing("\n", with: "\r\n")) == file)
    do {
      _ = try ConfigurationFile("sextant-configuration 1\r\n\r\nwrong\r\n")
      Issue.record("it is taken")
    } catch { #expect(error.description == #"line 3: "wrong" is not a setting; a setting is NAME = VALUE"#) }
  }

  @Test("A backup brings back what was set, and takes back what was not", arguments: withItems + withMessages)
  func roundTrip(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    _ = try scene.set(["rate=2Hz", "model=pedestrian", "messages=NAV-DOP@3"])
    let description = try #require(scene.description)
    let before = try scene.all()
    let text = ConfigurationFile.text(before, of: description, .differences)
    _ = try scene.set(["rate=1Hz", "model=automotive", "messages=NAV-DOP@0,NAV-STATUS", "nmea=off"])
    let file = try ConfigurationFile(text)
    let restoring = try scene.carryOut(
      ConfigurationRestoring(file, to: description, port: scene.port, hasRate: true))
    #expect(restoring.skipped == [])
    let edit = try #require(restoring.edit)
    #expect(edit.names(of: .refused) == [])
    #expect(edit.names(of: .notVerified) == [])
    let after = try scene.all()
    let differences = zip(before, after).filter { $0 != $1 }.map { "\($0.name) \($0.text) \($1.text)" }
    #expect(differences == [])
  }
}
