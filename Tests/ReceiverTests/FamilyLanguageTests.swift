// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import Receiver

/// The commands of families that no simulated model has, and rules of all families.
@Suite("Languages of families")
struct FamilyLanguageTests {
  // MARK: All families

  private static let families = ReceiverFamily.allCases.filter { $0.language != nil }

  private static func receiver(_ family: ReceiverFamily) -> ReceiverDescription {
    ReceiverDescription(
      family: family, model: nil, firmware: nil, hardware: "", capabilities: [.configure, .timedSleep, .restart])
  }

  @Test("Output of sentences: those that are counted for it, and those that are switched off")
  func output() {
    let all = ["GGA", "GST", "RTCM1074", "#9", "TXT"].map { SentenceRate($0, 1) }
    func off(_ list: [SentenceRate], _ canSet: (String) -> Bool = { _ in true }) -> ReceiverValue? {
      ReceiverValue.messages(list).sentences(forOutput: false, usual: [], forFixes: false, canSet: canSet)
    }
    func zeros(_ names: [String]) -> ReceiverValue { .messages(names.map { SentenceRate($0, 0) }) }
    #expect(off(all) == zeros(["GGA", "GST", "#9", "TXT"]))
    #expect(off(all) { $0 != "GST" && $0 != "TXT" } == zeros(["GGA", "#9"]))
    #expect(off(all) { _ in false } == nil && off([SentenceRate("RTCM1074", 1)]) == nil)
    for one in all {
      let isOutput = one.formatter.first == "G"
      #expect(ReceiverValue.messages([one]).asOutput == .output(isOutput), "\(one)")
      let usual = [SentenceRate("RMC", 1)]
      let on = ReceiverValue.messages([one]).sentences(forOutput: true, usual: usual, forFixes: false) { _ in true }
      #expect(on == (isOutput ? nil : .messages(usual)), "\(one)")
    }
  }

  @Test("No family has one command for two periods", arguments: families)
  func periods(_ family: ReceiverFamily) throws {
    let (language, receiver) = (try #require(family.language), Self.receiver(family))
    var periods: [[UInt8]: UInt16] = [:]
    for period in UInt16(50)...10_000 {
      guard let commands = language.commands(setting: .period(period), from: nil, on: receiver) else { continue }
      let bytes = commands.flatMap(\.bytes)
      #expect(periods[bytes] == nil, "\(period) ms and \(periods[bytes] ?? 0) ms")
      periods[bytes] = period
    }
  }

  @Test(
    "Teseo's period is in seconds with the decimals that it needs",
    arguments: [
      (1000, "1.0"), (500, "0.5"), (250, "0.25"), (1250, "1.25"), (125, "0.125"), (10_000, "10.0"), (1050, "1.05"),
    ]
      as [(UInt16, String)])
  func teseoPeriod(_ period: UInt16, _ text: String) throws {
    let command = Teseo().commands(setting: .period(period), from: nil, on: Self.receiver(.teseo))?.first
    #expect(command?.bytes == Command(sentence: "PSTMSETPAR,1303,\(text)").bytes)
  }

  @Test("A family that sleeps for a time has a command for each duration", arguments: families)
  func sleepDurations(_ family: ReceiverFamily) throws {
    let (language, receiver) = (try #require(family.language), Self.receiver(family))
    guard language.sleep(for: Milliseconds(60_000), on: receiver) != nil else { return }
    for seconds in [0, 1, 5, 99_999, 100_000, 200_000, 12 * 86_400, 13 * 86_400] as [UInt64] {
      #expect(SleepRequest.command(Milliseconds(seconds * 1000), for: receiver, port: nil) != nil, "\(seconds) s")
    }
    let limits = (SessionTimes.shortestSleep(of: receiver), SessionTimes.longestSleep(of: receiver))
    #expect(SleepRequest.clamped(Milliseconds(0), for: receiver) == limits.0)
    #expect(SleepRequest.clamped(Milliseconds(UInt64.max), for: receiver) == limits.1)
    if family == .teseo {
      let command = SleepRequest.command(Milliseconds(200_000_000), for: receiver, port: nil)
      #expect(command?.bytes == Command(sentence: "PSTMFORCESTANDBY,99999").bytes)
    }
  }

  @Test(
    "CASIC's MON-VER has its version with and without SW=",
    arguments: [
      ("SW=URANUS6,V6.3.0.0", "AT362-AT6668-6T-30", "URANUS6,V6.3.0.0", "AT362-AT6668-6T-30"),
      ("V6.2.3.0", "AT372-6P", "V6.2.3.0", "AT372-6P"), ("V6.2.3.0", "", "V6.2.3.0", nil), ("", "", nil, nil),
    ] as [(String, String, String?, String?)])
  func version(_ software: String, _ hardware: String, firmware: String?, model: String?) throws {
    let reply = [software, hardware].flatMap { text in
      Array(text.utf8) + [UInt8](repeating: 0, count: 32 - text.utf8.count)
    }
    for reply in [reply, Array(reply.prefix(40))] {
      let found = try #require(CASIC().description(from: .answered(reply), to: CASIC().probes[1]))
      #expect(found.family == .casic && found.firmware == firmware)
      if reply.count == 64 { #expect(found.model == model) }
    }
  }

  @Test(
    "A frame in reply to a probe proves the family, a text of an unknown form does not",
    arguments: families)
  func unreadReplies(_ family: ReceiverFamily) throws {
    for (index, probe) in try #require(family.language).probes.enumerated() {
      guard case .family(let answer) = probe.answer else { continue }
      var identification = FamilyIdentification([family], isProved: true, isLineFull: false)
      for _ in 0..<index { identification.receive(.silent) }
      identification.receive(.answered([]))
      while let poll = identification.next(), poll != probe { identification.receive(.silent) }
      if case .binary? = answer.content {
        #expect(identification.description?.family == family, "\(probe)")
      } else if family != .septentrio {
        #expect(identification.description == nil, "\(probe)")
      }
    }
  }

  // MARK: SkyTraq

  private static let skyTraq = ReceiverDescription(
    family: .skyTraq, model: nil, firmware: "2.1.3 240105", hardware: "", capabilities: [.configure, .restart])

  @Test("SkyTraq's version is the customer's version, with the date")
  func skyTraqVersion() throws {
    let language = SkyTraq()
    #expect(language.probes[0].bytes == [0xA0, 0xA1, 0, 2, 2, 1, 3, 0x0D, 0x0A])
    let reply: [UInt8] = [1, 0, 2, 1, 3, 0, 2, 1, 3, 0, 24, 1, 5]
    let found = try #require(language.description(from: .answered(reply), to: language.probes[0]))
    #expect(found == Self.skyTraq)
    #expect(language.description(from: .answered(Array(reply.dropLast())), to: language.probes[0]) == nil)
    #expect(language.description(from: .silent, to: language.probes[0]) == nil)
  }

  @Test("SkyTraq's settings are frames with big-endian lengths; what it lacks has no command")
  func skyTraqSettings() throws {
    let language = SkyTraq()
    let rate = try #require(language.commands(setting: .period(200), from: nil, on: Self.skyTraq)?.first)
    #expect(rate.bytes == [0xA0, 0xA1, 0, 3, 0x0E, 5, 0, 0x0B, 0x0D, 0x0A])
    #expect(language.commands(setting: .period(300), from: nil, on: Self.skyTraq) == nil)
    #expect(language.commands(setting: .period(10), from: nil, on: Self.skyTraq) == nil)
    let there = ReceiverValue.messages([SentenceRate("GGA", 1), SentenceRate("VTG", 1)])
    let wanted = ReceiverValue.messages([SentenceRate("VTG", 0), SentenceRate("GSV", 5)])
    let messages = try #require(language.commands(setting: wanted, from: there, on: Self.skyTraq)?.first)
    #expect(Array(messages.bytes[4..<13]) == [0x08, 1, 0, 5, 0, 0, 0, 0, 0])
    #expect(
      language.commands(setting: .messages([SentenceRate("GST", 1)]), from: nil, on: Self.skyTraq) == nil)
    #expect(language.commands(setting: .constellations([.gps]), from: nil, on: Self.skyTraq) == nil)
    #expect(language.rateChange(to: 115_200).map { Array($0[4..<8]) } == [0x05, 0, 5, 0])
    #expect(language.rateChange(to: 460_800) == nil)
    let starts = [ReceiverAction.hotRestart, .warmRestart, .coldRestart].map { action in
      language.commands(for: action, on: Self.skyTraq)?.first.map { Array($0.bytes[4..<6]) }
    }
    #expect(starts == [[1, 1], [1, 2], [1, 3]])
    #expect(language.commands(for: .factoryReset, on: Self.skyTraq)?.count == 1)
    #expect(language.commands(for: .save, on: Self.skyTraq) == nil)
  }

  @Test("SkyTraq's acknowledgement names the command")
  func skyTraqAcknowledgement() {
    let answer = FamilyAnswer(nil, .skyTraq(0x0E))
    #expect(answer.judge(.binary(.skyTraq, 0x83, [0x0E])) == .over(.acknowledged))
    #expect(answer.judge(.binary(.skyTraq, 0x84, [0x0E])) == .over(.refused(.unspecified)))
    #expect(answer.judge(.binary(.skyTraq, 0x83, [0x08])) == nil)
  }

  // MARK: Unicore

  @Test("A UM980's constellations are masks, those that stay first; none at all, and those it lacks, have no command")
  func unicoreSystems() throws {
    let receiver = ReceiverDescription(
      family: .unicore, model: "UM980", firmware: "Build1", hardware: "", capabilities: [.configure, .restart])
    let commands = try #require(
      Unicore().commands(setting: .constellations([.galileo, .gps]), from: nil, on: receiver))
    let lines = commands.map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(lines == ["UNMASK GPS\r\n", "UNMASK GAL\r\n", "MASK BDS\r\n", "MASK GLO\r\n"])
    #expect(Unicore().commands(setting: .constellations([]), from: nil, on: receiver) == nil)
    #expect(Unicore().commands(setting: .constellations([.gps, .navIC]), from: nil, on: receiver) == nil)
  }

  // MARK: All

  @Test("A receiver takes what its family has a command for, and a u-blox receiver no such command")
  func taken() throws {
    let um980 = ReceiverDescription(
      family: .unicore, model: "UM980", firmware: "Build1", hardware: "", capabilities: [.configure, .restart])
    #expect(um980.takes(.hotRestart) && !um980.takes(.warmRestart))
    #expect(um980.takesRate(115_200) && !um980.takesRate(4800))
    #expect(um980.cannotSleep && um980.familyPoll != nil)
    let lg290p = ReceiverDescription(
      family: .quectel, model: "LG290P", firmware: "", hardware: "", capabilities: [.configure, .restart])
    #expect(lg290p.restart(for: .period) == "PQTMSRR" && um980.restart(for: .period) == nil)
    let mt3339 = ReceiverDescription(
      family: .mediaTek, model: "MT3339", firmware: "", hardware: "", capabilities: [.configure, .standby])
    #expect(!mt3339.cannotSleep)
    let ublox = try #require(ReceiverDescription(strings: ["ROM CORE 3.01 (107888)", "00080000"]))
    #expect(!ublox.takes(.hotRestart) && !ublox.takesRate(9600) && ublox.restart(for: .period) == nil)
    #expect(!ublox.cannotSleep && ublox.familyPoll == nil)
  }
}
