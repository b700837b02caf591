// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import EnergyBench
import Power
import ReceiverSimulator
import Testing

@testable import sextant_bench

@Suite("bench energy")
struct EnergyCommandTests {
  private func rows() -> [EnergyRow] { [EnergyBench().run(.assetTracker, .m10)].compactMap(\.self) }

  @Test("The members of the JSON contract are present")
  func json() {
    var line = JSONText()
    line.energy(rows())
    let text = line.text
    #expect(text.hasPrefix(#"{"rows":[{"model":"M10","scenario":"asset-tracker","averageMilliamperes":0."#))
    for member in [
      "shareOfAlwaysOn", "timesOracle", "fixesDelivered", "fixesLate", "worstStalenessSeconds", "hostWakeups",
    ] {
      #expect(text.contains("\"\(member)\":"), "\(member)")
    }
  }

  @Test("Each scenario of the simulator is a day of the bench with the same name, and the other way round")
  func scenarios() {
    #expect(Day.names.sorted() == Scenario.names.sorted())
    for name in Scenario.names { #expect(Day.named(name)?.name == name) }
    #expect(Scenario.named("hiker") == Scenario.named("hiker-deferral"), "the former name is accepted")
  }

  @Test("The days on request run", arguments: ["walk", "still", "drive"])
  func onRequest(name: String) throws {
    let day = try #require(Day.named(name))
    let row = try #require(EnergyBench().run(day, .m10))
    #expect(row.metrics.fixesDelivered > 0 && row.averageMilliamperes > 0)
  }

  @Test("A number of rounds or of days below 1 is refused")
  func counts() throws {
    for number in ["-1", "0", "\(Int.min)"] {
      #expect(throws: (any Error).self) { try BenchRounds.parse(["--rounds=\(number)", "file"]) }
      #expect(throws: (any Error).self) { try BenchEnergy.parse(["--random-days=\(number)"]) }
    }
    #expect(try BenchRounds.parse(["--rounds", "4", "file"]).rounds == 4)
    #expect(try BenchEnergy.parse(["--random-days", "1"]).randomDays == 1)
  }

  @Test("The columns of the table are aligned with their headings")
  func table() {
    let lines = EnergyTable(rows: rows()).text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].utf8.count == lines[1].utf8.count)
  }

  @Test("The rows of a hot start are aligned, and each has two objects")
  func hotStarts() {
    let rows = EnergyBench().hotStarts(.m10)
    let lines = HotStartTable(rows: rows).text.split(separator: "\n")
    #expect(lines.count == 6 && lines.allSatisfy { $0.utf8.count == lines[0].utf8.count })
    var line = JSONText()
    line.hotStarts(rows)
    #expect(line.text.split(separator: "{").count == 1 + 2 * rows.count)
    #expect(line.text.contains(#""orbits":"reported""#))
  }

  @Test("Each command prints its name")
  func names() {
    let commands: [any ParsableCommand.Type] = [SextantBench.self] + SextantBench.configuration.subcommands
    // A key path through a metatype crashes the compiler (6.3.1).
    let names = commands.map { $0.configuration.commandName }
    #expect(names == ["sextant-bench", "decoder", "energy", "positioning", "endurance", "rounds"])
  }

  @Test("The bench of the decoder is the default subcommand")
  func subcommands() throws {
    #expect(try SextantBench.parseAsRoot(["--json"]) is BenchDecoder)
    #expect(try SextantBench.parseAsRoot(["energy", "--model", "m9"]) is BenchEnergy)
  }
}
