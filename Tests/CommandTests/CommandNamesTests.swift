// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import sextant

@Suite("Names of the commands")
struct CommandNamesTests {
  @Test("Each command has an explicit name: deriving it from the type costs a tenth of a millisecond at every start")
  func names() {
    var nameless: [String] = []
    var count = 0
    func check(_ command: any ParsableCommand.Type) {
      count += 1
      if command.configuration.commandName == nil { nameless.append("\(command)") }
      for sub in command.configuration.subcommands { check(sub) }
    }
    check(Sextant.self)
    #expect(nameless == [])
    #expect(count >= 20)
  }

  @Test(
    "A misspelt command is refused with 64 and names similar ones",
    arguments: [
      (["wacth"], "watch"), (["recrod", "file"], "record"), (["authorize", "grnat", "x", "always"], "grant"),
      (["help", "conifgure"], "configure"), (["authorize", "xyzzy"], "`sextant authorize --help` lists the commands"),
    ])
  func misspelt(words: [String], suggestion: String) {
    let failure = #expect(throws: CommandFailure.self) { try CommandName.check(words) }
    #expect(failure?.exitCode == 64)
    #expect(failure?.description.contains(suggestion) == true)
  }

  @Test(
    "Command names, options and arguments pass the check",
    arguments: [
      [], ["watch", "--json"], ["help"], ["help", "watch"], ["help", "authorize", "grant"], ["authorize"],
      ["authorize", "--json"], ["authorize", "grant", "x", "always"], ["decode", "wacth"], ["--version"],
    ])
  func valid(words: [String]) throws { try CommandName.check(words) }
}
