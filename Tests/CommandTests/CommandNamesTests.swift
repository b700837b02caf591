import ArgumentParser
import Testing

@testable import sextant

@Suite("Names of the commands")
struct CommandNamesTests {
  @Test(
    "Each command says its name: one made of its type's costs a tenth of a millisecond at every start of the program")
  func names() {
    var nameless: [String] = []
    var count = 0
    func look(at command: any ParsableCommand.Type) {
      count += 1
      if command.configuration.commandName == nil { nameless.append("\(command)") }
      for sub in command.configuration.subcommands { look(at: sub) }
    }
    look(at: Sextant.self)
    #expect(nameless == [])
    #expect(count >= 20)
  }
}
