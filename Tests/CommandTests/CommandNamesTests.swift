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
}
