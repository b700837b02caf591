// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Receiver

@Suite("Settings of receivers of other makers")
struct FamilySettingsTests {
  private static let mt3333 = ReceiverDescription(
    family: .mediaTek, model: "PA1010D", firmware: "AXN_5.1.7_3333_19020118", hardware: "MT3333",
    capabilities: [.configure, .standby, .restart])

  private static func request(_ words: String...) throws -> FamilySettings.Request {
    FamilySettings.changing(try words.map { try SettingWord($0) }, on: mt3333, at: 9600)
  }

  @Test("Words become tasks, in their order; the rate of the line is apart")
  func tasks() throws {
    let request = try Self.request(
      "rate=5Hz", "messages=GGA,GSV@5,VTG@0", "constellations=GPS+GLONASS", "nmea=off", "baud=115200")
    #expect(request.missing.isEmpty && request.baud == 115_200)
    #expect(request.names == ["rate", "messages", "constellations", "nmea"])
    #expect(
      request.tasks == [
        .set(.period(200)),
        .set(.messages([SentenceRate("GGA", 1), SentenceRate("GSV", 5), SentenceRate("VTG", 0)])),
        .set(.constellations([.gps, .glonass])), .set(.output(false)),
      ])
  }

  @Test("A rate that switches sentences off is set before the sentences, whatever the order of the words")
  func order() throws {
    let airoha = ReceiverDescription(
      family: .airoha, model: "LC76G", firmware: nil, hardware: "", capabilities: [.configure])
    for (words, names) in [
      (["messages=VTG,ZDA", "rate=5Hz", "nmea=on"], ["rate", "messages", "nmea"]),
      (["messages=VTG,ZDA", "constellations=GPS", "rate=1Hz"], ["messages", "constellations", "rate"]),
    ] {
      let request = FamilySettings.changing(try words.map { try SettingWord($0) }, on: airoha, at: 115_200)
      #expect(request.names == names && request.missing.isEmpty)
      for (name, task) in zip(request.names, request.tasks) {
        guard case .set(let value) = task else { continue }
        #expect(value.kind.rawValue == name)
      }
    }
  }

  @Test(
    "Settings that the receiver does not have are named",
    arguments: [
      ("model=automotive", "model"), ("CFG-RATE-MEAS=0.2", "CFG-RATE-MEAS"), ("baud=921600", "baud=921600"),
      ("messages=NAV-PVT", "messages=NAV-PVT"), ("rate=25Hz", "rate=25Hz"), ("messages=GGA,GSV@9", "messages=GSV@9"),
      ("constellations=GPS+NAVIC", "constellations=GPS+NAVIC"),
    ])
  func missing(_ word: String, _ name: String) throws {
    let request = try Self.request("rate=1Hz", word)
    #expect(request.missing == [name])
  }

  @Test("A receiver without a command for a setting is not said to lack a value of it")
  func missingSetting() throws {
    let firebird = ReceiverDescription(
      family: .firebird, model: "UC6580I", firmware: nil, hardware: "", capabilities: [.configure])
    let words = try ["rate=2Hz", "constellations=GPS", "messages=GST,GGA"].map { word in try SettingWord(word) }
    let request = FamilySettings.changing(words, on: firebird, at: 9600)
    #expect(request.missing == ["rate", "constellations", "messages=GST"])
  }

  @Test(
    "A rate that an observation would show after minutes is refused with the limit", arguments: ReceiverFamily.allCases)
  func rarest(_ family: ReceiverFamily) throws {
    let receiver = ReceiverDescription(
      family: family, model: nil, firmware: nil, hardware: "", capabilities: [.configure])
    func missing(_ rate: Int) throws -> [String] {
      FamilySettings.changing([try SettingWord("messages=GSV@\(rate),GGA")], on: receiver, at: 9600).missing
    }
    guard receiver.takes(.messages([SentenceRate("GSV", 255)])) else { return }
    let isObserved = receiver.isObserved(.messages)
    #expect(try missing(30).isEmpty && missing(31).isEmpty == !isObserved)
    #expect(try missing(255) == (isObserved ? ["messages=GSV@255 (its rates are observed, so 30 is the rarest)"] : []))
    if family == .casic { #expect(isObserved) }
  }

  @Test("A restoration leaves out what the receiver lacks, also of a value, and names it")
  func restoring() throws {
    let firebird = ReceiverDescription(
      family: .firebird, model: "UC6580I", firmware: nil, hardware: "", capabilities: [.configure])
    let words = try ["rate=1Hz", "messages=GST,GGA,GSV@3,VTG@0", "baud=9600"].map { word in try SettingWord(word) }
    let request = FamilySettings.restoring(words, on: firebird, at: 9600)
    #expect(request.isPartial && request.missing == ["rate", "messages=GST"] && request.baud == 9600)
    let kept = [SentenceRate("GGA", 1), SentenceRate("GSV", 3), SentenceRate("VTG", 0)]
    #expect(request.names == ["messages"] && request.tasks == [.set(.messages(kept))])
    #expect(FamilySettings.restoring([words[1]], on: Self.mt3333, at: 9600).missing.isEmpty)
  }

  @Test("A stored value has what can be set")
  func stored() {
    let firebird = ReceiverDescription(
      family: .firebird, model: "UC6580I", firmware: nil, hardware: "", capabilities: [.configure])
    let seen = ReceiverValue.messages([SentenceRate("GGA", 1), SentenceRate("GST", 1), SentenceRate("GSV", 3)])
    #expect(FamilySettings.stored(seen, of: firebird).text.hasPrefix("GGA,GSV@3,"))
    #expect(FamilySettings.canRestore(seen, on: firebird) && !FamilySettings.canRestore(.period(1000), on: firebird))
  }

  @Test("A file names the messages without a name that it does not have")
  func withoutName() throws {
    let teseo = ReceiverDescription(
      family: .teseo, model: "STA8041", firmware: nil, hardware: "", capabilities: [.configure])
    let replies = ["PSTMSETPAR,1201,0x80010240", "PSTMSETPAR,1228,0x00000000"].map { Array($0.utf8) }
    let value = try #require(Teseo().value(.messages, from: replies, on: teseo))
    #expect(FamilySettings.unstored(value, of: teseo) == ["message #9", "message #16", "message #31"])
    #expect(FamilySettings.stored(value, of: teseo).text == "GGA@0,GSA@0,GST@0,VTG@0,RMC,GSV@0,GLL@0,ZDA@0")
  }

  @Test("The present rate of the line is not a change, also for a receiver without a command for it")
  func presentRate() throws {
    let teseo = ReceiverDescription(
      family: .teseo, model: "STA8090", firmware: "BINIMG_STA8090_4.6.15_ARM", hardware: "", capabilities: [.configure])
    let words = [try SettingWord("baud=9600")]
    #expect(FamilySettings.changing(words, on: teseo, at: 9600).missing.isEmpty)
    #expect(FamilySettings.changing(words, on: teseo, at: 38_400).missing == ["baud=9600"])
    #expect(FamilySettings.changing(words, on: teseo, at: nil).missing == ["baud=9600"])
  }

  @Test("More fixes than the line can carry are refused by the words, unless the line gets faster in the same command")
  func fullLine() throws {
    let line = MeasuredLine(rate: 9600, bytesPerSecond: 900)
    let problem = try #require(try Self.request("messages=VTG@0", "rate=500ms").problem(present: 1000, line))
    #expect(problem.description.hasPrefix("rate: ") && problem.description.contains("baud=38400"))
    // A line that is a little too full loses replies too.
    #expect(try Self.request("rate=500ms").problem(present: 1000, MeasuredLine(rate: 9600, bytesPerSecond: 550)) != nil)
    #expect(try Self.request("rate=500ms", "baud=115200").problem(present: 1000, line) == nil)
    #expect(try Self.request("rate=500ms").problem(present: 500, line) == nil)
    #expect(try Self.request("rate=2000ms").problem(present: 1000, line) == nil)
    #expect(try Self.request("messages=VTG@0").problem(present: 1000, line) == nil)
    #expect(try Self.request("rate=500ms").problem(present: 1000, MeasuredLine(rate: 9600, bytesPerSecond: 400)) == nil)
  }

  @Test("The rate of a line is proposed only where the family sets it", arguments: ReceiverFamily.allCases)
  func proposedRate(_ family: ReceiverFamily) throws {
    let receiver = ReceiverDescription(
      family: family, model: nil, firmware: nil, hardware: "", capabilities: [.configure])
    guard receiver.takes(.period(500)) else { return }
    let request = FamilySettings.changing([try SettingWord("rate=500ms")], on: receiver, at: 9600)
    let problem = try #require(request.problem(present: 1000, MeasuredLine(rate: 9600, bytesPerSecond: 700)))
    let proposed = EpochPeriod.usualRates.first { $0 > 9600 && receiver.takesRate($0) }
    #expect(problem.description.contains("baud=") == (proposed != nil) && (proposed != nil) == (family != .teseo))
    if let proposed { #expect(problem.description.contains("(baud=\(proposed))"), "\(problem)") }
    #expect(problem.description.contains("fewer messages first"))
  }

  @Test("Names become readings; without a name all are read")
  func reading() {
    let all = FamilySettings.reading([])
    #expect(all.names == ["rate", "constellations", "messages", "nmea"] && all.readsBaud && all.missing.isEmpty)
    let some = FamilySettings.reading(["Messages", "model"])
    #expect(some.tasks == [.read(.messages)] && some.missing == ["model"] && !some.readsBaud)
  }

  @Test(
    "A value has the form in which it is set",
    arguments: [
      (ReceiverValue.period(200), "rate", "5Hz"), (.period(1500), "rate", "1500ms"),
      (.messages([SentenceRate("GGA", 1), SentenceRate("GSV", 5), SentenceRate("VTG", 0)]), "messages", "GGA,GSV@5"),
      (.messages([SentenceRate("GGA", 1), SentenceRate("TXT", 1)]), "messages", "GGA"),
      (.constellations([.gps, .galileo]), "constellations", "GPS+GAL"), (.output(true), "nmea", "on"),
    ] as [(ReceiverValue, String, String)])
  func values(_ value: ReceiverValue, _ name: String, _ text: String) {
    let shown = FamilySettings.value(value)
    #expect(shown.name == name && shown.text == text)
    #expect(FamilySettings.baud(9600).text == "9600")
  }
}
