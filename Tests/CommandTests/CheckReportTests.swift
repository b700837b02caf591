// SPDX-License-Identifier: Apache-2.0
import Foundation
import MonotonicTime
import TestSupport
import Testing
import UBX

@testable import Receiver
@testable import sextant

@Suite("The comparison of sextant check")
struct CheckReportTests {
  private static let receiver = ReceiverDescription(
    family: .mediaTek, model: "PA6H", firmware: "AXN_2.31_3339_13101700", hardware: "MT3339",
    capabilities: [.configure, .standby, .restart])
  private static let poll = MediaTek().poll
  private static let assumed = CheckAssumptions(receiver, port: nil, poll: poll)

  /// The only finding of a comparison.
  private static func finding(_ judge: (inout CheckReport) -> Void) -> CheckFinding {
    var report = CheckReport()
    judge(&report)
    #expect(report.findings.count == 1)
    return report.findings[0]
  }

  @Test("The assumptions are the family's data and the session's times")
  func assumptions() {
    #expect(Self.assumed.replySeconds == Double(Self.poll.timeout.count) / 1000)
    #expect(Self.assumed.longestReplySeconds > Self.assumed.replySeconds)
    #expect(Self.assumed.isWokenByHost)
    #expect(Self.assumed.batchEpochs == nil)
    let m10 = ReceiverDescription(strings: [
      "ROM SPG 5.10 (7b202e)", "000A0000", "FWVER=SPG 5.10", "PROTVER=34.10",
    ])!
    let ofM10 = CheckAssumptions(m10, port: .uart1, poll: .poll(.monVER))
    #expect(ofM10.batchEpochs == 600)
    #expect(ofM10.warmStartSeconds > ofM10.hotStartSeconds)
    // Traffic on I2C wakes no receiver.
    #expect(!CheckAssumptions(m10, port: .i2c, poll: .poll(.monVER)).isWokenByHost)
  }

  @Test("Constellations are shown by the talkers of satellites' sentences alone")
  func shownConstellations() {
    func shows(_ names: String...) -> Bool { CheckState.Found(names: Set(names)).showsConstellations }
    #expect(shows("GNGGA", "GPGSV") && shows("GAGSA"))
    #expect(!shows("GNGGA", "GPRMC") && !shows("GNGSA", "GNGSV") && !shows())
  }

  @Test("Sentences that the receiver does not report are observed, compared and written again")
  func observedSentences() {
    let firebird = ReceiverDescription(
      family: .firebird, model: "UC6580I", firmware: nil, hardware: "", capabilities: [.configure])
    func seen(_ rates: [(String, UInt8)]) -> ReceiverValue { .messages(rates.map { SentenceRate($0.0, $0.1) }) }
    let found = CheckState.Found(periodSeconds: 1)
    var state = CheckState()
    state.description = firebird
    state.setFound(found, [seen([("GGA", 2), ("GSV", 5), ("RMC", 1), ("TXT", 1)])], outputList: nil)
    #expect(state.uncompared.isEmpty && state.obstacleToRestart == nil)
    let restarted = seen([("GGA", 1), ("GSA", 1), ("GSV", 1), ("RMC", 1), ("TXT", 3), ("VTG", 1)])
    #expect(
      state.differences(now: found, values: [restarted], outputList: nil)
        == ["messages is not the same: GGA, GSA, GSV, VTG"])
    let rates = [("GGA", 2), ("GSV", 5), ("RMC", 1), ("GSA", 0), ("VTG", 0)] as [(String, UInt8)]
    #expect(state.repairs(of: [restarted]) == [.set(.messages(rates.map { SentenceRate($0.0, $0.1) }))])
    #expect(state.repairs(of: state.values).isEmpty)
    #expect(!state.differences(now: found, values: [], outputList: nil).isEmpty)
    // A session writes them again at its end, after a kill by its record, and not before the restart.
    let off = ["GLL", "GSA", "VTG", "ZDA"].map { ($0, 0 as UInt8) }
    #expect(state.valuesToRestore == [seen([("GGA", 2), ("GSV", 5), ("RMC", 1)] + off)])
    #expect(state.foundConfiguration.sentences == nil)
    // The interval of a rare sentence is not certain: it stays, and prevents a restart.
    state.setFound(found, [seen([("GGA", 1), ("ZDA", 22)])], outputList: nil)
    #expect(state.uncompared == ["ZDA"] && state.obstacleToRestart?.contains("ZDA") == true)
    let later = seen([("GGA", 1), ("ZDA", 1)])
    #expect(state.repairs(of: [later]).isEmpty)
    #expect(state.differences(now: found, values: [later], outputList: nil).isEmpty)
    state.setFound(CheckState.Found(periodSeconds: 8), [seen([("GGA", 1)])], outputList: nil)
    #expect(state.obstacleToRestart != nil)
  }

  @Test("A restart is left out where messages of a UM980 could not be written again exactly")
  func logs() {
    let nebulas = ReceiverDescription(
      family: .unicore, model: "UM980", firmware: nil, hardware: "", capabilities: [.configure, .restart])
    var gga = SentenceRate("GGA", 1)
    gga.talker = "GP"
    func state(_ seconds: Double, _ lines: [String], missing: Int = 0) -> CheckState {
      var state = CheckState()
      (state.description, state.comparesOutput) = (nebulas, true)
      let list = CheckState.messages(inList: (["<  \(lines.count + missing)"] + lines).map { Array($0.utf8) })
      state.setFound(CheckState.Found(periodSeconds: seconds), [.messages([gga])], outputList: list)
      return state
    }
    let plain = state(1, ["<\tGPGGA COM1 ONTIME 1"])
    #expect(plain.obstacleToRestart == nil && plain.outputList == ["GPGGA COM1 ONTIME 1"])
    #expect(plain.uncompared == ["constellations"])
    #expect(state(0.5, ["<\tGPGGA COM1 ONTIME 0.5"]).obstacleToRestart?.contains("0.5 s") == true)
    for other in ["<\tBESTPOSA COM1 ONTIME 1", "<\tGPGGA COM2 ONTIME 1", "<\tGNGGA COM1 ONTIME 1"] {
      #expect(state(1, ["<\tGPGGA COM1 ONTIME 1", other]).obstacleToRestart != nil, "\(other)")
    }
    // A list shows the talker in the name of a sentence of satellites, which the sentences do not.
    let list = ["GPGGA COM1 ONTIME 1", "GPGSV COM1 ONTIME 5", "GNGSA COM1 ONTIME 1", "GPGSA COM1 ONTIME 1"]
    let named = CheckState.naming(.messages([gga, SentenceRate("GSV", 5), SentenceRate("GSA", 1)]), by: list)
    guard case .messages(let sentences) = named else { return #expect(Bool(false)) }
    #expect(sentences.map(\.talker) == ["GP", "GP", nil])
    let incomplete = state(1, ["<\tGPGGA COM1 ONTIME 1"], missing: 1)
    #expect(incomplete.uncompared.contains("the list of messages") && incomplete.obstacleToRestart != nil)
    #expect(CheckState.messages(inList: []) == nil && CheckState.messages(inList: [Array("< 0".utf8)]) == [])
    let found = CheckState.Found(periodSeconds: 1)
    #expect(
      plain.differences(now: found, values: plain.values, outputList: ["GPGGA COM1 ONTIME 0.5"])
        == ["the list of messages is not the same: GPGGA COM1 ONTIME 0.5, GPGGA COM1 ONTIME 1"])
  }

  @Test("Late and missing replies are deviations")
  func replies() {
    let usual = CheckReply(seconds: 1, secondsOnLine: 0.9)
    #expect(Self.finding { $0.judgeReplies([usual, usual], of: 2, Self.assumed) }.deviation == nil)
    #expect(Self.finding { $0.judgeReplies([usual], of: 2, Self.assumed) }.deviation?.contains("1 of 2") == true)
    let late = CheckReply(seconds: Self.assumed.replySeconds + 0.4, secondsOnLine: 0.3)
    #expect(Self.finding { $0.judgeReplies([late, late], of: 2, Self.assumed) }.deviation?.contains("takes") == true)
    // A few late ones are the computer's.
    #expect(Self.finding { $0.judgeReplies([late, usual, usual, usual], of: 4, Self.assumed) }.deviation == nil)
    let longest = CheckReply(seconds: Self.assumed.longestReplySeconds + 1, secondsOnLine: 60)
    let found = Self.finding { $0.judgeReplies([usual, longest, longest], of: 3, Self.assumed) }
    #expect(found.deviation?.contains("longest") == true)
    #expect(Self.finding { $0.judgeReplies([], of: 2, Self.assumed) }.deviation != nil)
    #expect(CheckReply(seconds: 1, secondsOnLine: 2).latencySeconds == 0)
  }

  @Test(
    "A rate that is accepted and not in force, and one that is refused",
    arguments: [
      (0.5, false, false), (0.55, false, false), (1.0, false, true), (0.5, true, true), (nil, false, true),
    ] as [(Double?, Bool, Bool)])
  func rate(after: Double?, isRefused: Bool, differs: Bool) {
    let finding = Self.finding { $0.judgeRate(before: 1, wanted: 0.5, after: after, isRefused: isRefused) }
    #expect((finding.deviation != nil) == differs)
  }

  @Test("A reported state that is not the one in force")
  func state() {
    #expect(Self.finding { $0.judgeState(reported: 1, sent: 1.05) }.deviation == nil)
    #expect(Self.finding { $0.judgeState(reported: 1, sent: 0.2) }.deviation?.contains("reports 1.0 s") == true)
  }

  @Test("Messages, constellations and baud")
  func settings() {
    let message = CheckedMessage.sentence("GLL")
    #expect(Self.finding { $0.judgeMessages(message, on: false, isSeen: true, isRefused: false) }.deviation == nil)
    #expect(
      Self.finding { $0.judgeMessages(message, on: false, isSeen: false, isRefused: false) }.deviation?
        .contains("goes on sending") == true)
    #expect(Self.finding { $0.judgeMessages(message, on: true, isSeen: false, isRefused: true) }.deviation != nil)
    #expect(Self.finding { $0.judgeConstellations(1, isRefused: true) }.deviation != nil)
    #expect(Self.finding { $0.judgeBaud(115_200, 1, Self.assumed) }.deviation == nil)
    #expect(Self.finding { $0.judgeBaud(115_200, nil, Self.assumed) }.deviation?.contains("115200") == true)
    #expect(Self.finding { $0.judgeBaud(115_200, Self.assumed.restoringSeconds + 1, Self.assumed) }.deviation != nil)
  }

  @Test("Requests that were sent again, as a share")
  func acknowledgements() {
    var none = CheckReport()
    none.judgeAcknowledgements(requests: 0, repeated: 0)
    #expect(none.findings.isEmpty)
    #expect(Self.finding { $0.judgeAcknowledgements(requests: 10, repeated: 1) }.deviation == nil)
    #expect(Self.finding { $0.judgeAcknowledgements(requests: 10, repeated: 6) }.deviation?.contains("6 of 10") == true)
  }

  @Test("A slow wake-up, a slow hot start, and a timer that is off")
  func wake() {
    #expect(Self.finding { $0.judgeWake(1.2, period: 1, Self.assumed) }.deviation == nil)
    #expect(Self.finding { $0.judgeWake(4.5, period: 1, Self.assumed) }.deviation?.contains("4.5 s") == true)
    #expect(Self.finding { $0.judgeTimedWake(-0.5, period: 1, Self.assumed) }.deviation == nil)
    #expect(
      Self.finding { $0.judgeTimedWake(-30, period: 1, Self.assumed) }.deviation?.contains("30.0 s early") == true)
    #expect(Self.finding { $0.judgeTimedWake(3.5, period: 1, Self.assumed) }.deviation?.contains("late") == true)
    #expect(Self.finding { $0.judgeStart(.hot, 2, period: 1, Self.assumed) }.deviation == nil)
    #expect(Self.finding { $0.judgeStart(.hot, 30, period: 1, Self.assumed) }.deviation?.contains("30.0 s") == true)
    #expect(Self.finding { $0.judgeStart(.warm, 30, period: 1, Self.assumed) }.deviation == nil)
    #expect(
      Self.finding { $0.judgeStart(.warm, nil, period: 1, Self.assumed) }.deviation?.contains("not at all") == true)
  }

  @Test("Lost settings, and settings that are restored late")
  func restoring() {
    #expect(Self.finding { $0.judgeRestoring(2, lost: [], uncompared: [], Self.assumed) }.deviation == nil)
    let uncompared = Self.finding { $0.judgeRestoring(2, lost: [], uncompared: ["ZDA"], Self.assumed) }
    #expect(uncompared.deviation == nil && uncompared.text.hasSuffix("restored yes, notCompared ZDA"))
    #expect(
      Self.finding { $0.judgeRestoring(2, lost: ["the rate"], uncompared: [], Self.assumed) }.deviation?
        .hasSuffix("the rate") == true)
    #expect(Self.finding { $0.judgeRestoring(60, lost: [], uncompared: [], Self.assumed) }.deviation != nil)
  }

  @Test("The receiver after the check is compared with the one before it")
  func differences() {
    var state = CheckState()
    state.found = CheckState.Found(rate: 9600, periodSeconds: 1)
    state.values = [.period(1000), .messages([SentenceRate("GGA", 1)])]
    func lost(_ now: CheckState.Found, _ values: [ReceiverValue]) -> [String] {
      state.differences(now: now, values: values, outputList: nil)
    }
    #expect(lost(CheckState.Found(rate: 9600, periodSeconds: 1.02), state.values).isEmpty)
    let now = CheckState.Found(rate: 38_400, periodSeconds: 0.5)
    #expect(lost(now, [.period(500), .messages([SentenceRate("GGA", 1)])]).count == 3)
    #expect(lost(CheckState.Found(rate: 9600), state.values) == ["no fixes are sent any more"])
    #expect(lost(state.found!, []) == ["messages cannot be read any more", "rate cannot be read any more"])
  }

  @Test("Settings that a sleep may lose are written again as found")
  func foundConfiguration() {
    var state = CheckState()
    #expect(state.foundConfiguration == .nothing && state.foundRate == .nothing)
    state.description = Self.receiver
    state.found = CheckState.Found(rate: 9600, periodSeconds: 1, names: ["GNGGA"], steadyNames: ["GNGGA"])
    state.values = [.period(1000), .messages([SentenceRate("GGA", 1)]), .constellations([.gps])]
    let desired = state.foundConfiguration
    #expect(desired.measurementPeriodMilliseconds == 1000 && desired.sentences == [SentenceRate("GGA", 1)])
    #expect(desired.portRate == 9600 && desired.keepsPortRate && desired.constellations == nil)
    state.description = ReceiverDescription(strings: ["ROM SPG 5.10", "000A0000", "FWVER=SPG 5.10", "PROTVER=34.10"])
    state.values = []
    state.measurementMilliseconds = 200
    // A message that is not in each epoch has another rate, which is not known.
    state.found = CheckState.Found(
      rate: nil, periodSeconds: 0.2, names: ["NAV-PVT", "NAV-SAT"], steadyNames: ["NAV-PVT"])
    #expect(state.foundConfiguration.messages == [DesiredConfiguration.MessageRate(.navPVT, 1)])
    #expect(state.foundConfiguration.measurementPeriodMilliseconds == 200 && state.foundConfiguration.portRate == nil)
  }

  @Test("The time between epochs, and the epochs since a message")
  func observation() {
    var observed = CheckObservation()
    for second in 0..<5 {
      observed.receive("GNGGA")
      if second < 3 { observed.receive("GNGLL") }
      observed.endEpoch(at: Double(second) / 2)
    }
    #expect(observed.periodSeconds == 0.5)
    #expect(observed.names == ["GNGGA", "GNGLL"])
    #expect(observed.steadyNames == ["GNGGA"])
    #expect(observed.epochsWithout(.sentence("GLL")) == 2)
    observed.receive("GNGLL")
    #expect(observed.epochsWithout(.sentence("GLL")) == 0)
    #expect(observed.has(.sentence("GLL")) && !observed.has(.sentence("VTG")) && !observed.has(.navDOP))
    #expect(CheckObservation().periodSeconds == nil)
  }

  @Test("The file is a dialogue with a last line of measurements, without positions")
  func file() throws {
    var dialogue = PublishedDialogue()
    let start = Instant.zero + Milliseconds(5000)
    dialogue.open(rate: 9600, at: start)
    let received = Wire.nmea("GNGGA,120000.00,4809.852,N,01136.336,E,1,08") + Wire.nmea("PMTK001,251,3")
    #expect(unsafe dialogue.receive(received.span.bytes, at: start + Milliseconds(10)) == ["GNGGA", "PMTK001"])
    dialogue.countsRequests = true
    for _ in 0..<2 { dialogue.send(Wire.nmea("PMTK251,115200"), at: start + Milliseconds(20)) }
    dialogue.setRate(115_200, at: start + Milliseconds(30))
    #expect(dialogue.changes == (1, 1))
    var report = CheckReport()
    report.identify(Self.receiver)
    report.add("wake", ["seconds": 3], assumed: ["seconds": 2], deviation: "slow")
    let lines = dialogue.text(report.json(isComplete: true)).split(separator: "\n")
    let objects = try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    #expect(objects.map { $0["dir"] as? String } == ["in", "in", "in", "out", "out", nil])
    #expect(objects[0]["rate"] as? Int == 9600 && objects[4]["rate"] as? Int == 115_200)
    #expect(objects[1]["left_out"] as? String == "GNGGA" && objects[1]["hex"] as? String == "")
    #expect(!lines.joined().contains("4809"))
    let check = try #require(objects[5]["check"] as? [String: Any])
    #expect(check["vendor"] as? String == "MediaTek" && check["deviations"] as? [String] == ["wake"])
  }
}
