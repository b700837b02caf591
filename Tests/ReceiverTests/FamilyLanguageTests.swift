// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Receiver

/// The commands of families that no simulated model has.
@Suite("Languages of families without a model")
struct FamilyLanguageTests {
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
