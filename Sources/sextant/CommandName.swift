// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Receiver

/// The check of the command names in a command line, before its options are parsed.
enum CommandName {
  /// - Parameter words: the command line without the name of the program.
  /// - Throws: ``CommandFailure`` with exit code 64 and similar names if a command does not exist.
  static func check(_ words: [String], of command: any ParsableCommand.Type = Sextant.self) throws {
    let configuration = command.configuration
    guard let word = words.first, !word.hasPrefix("-"), !configuration.subcommands.isEmpty else { return }
    if word == "help", command == Sextant.self { return try check(Array(words.dropFirst())) }
    if let next = configuration.subcommands.first(where: { $0.configuration.commandName == word }) {
      return try check(Array(words.dropFirst()), of: next)
    }
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    let path = command == Sextant.self ? "sextant" : "sextant \(configuration.commandName ?? "")"
    let suggestion = NameMatching.suggestion(
      NameMatching.nearest(to: word, among: names), otherwise: "`\(path) --help` lists the commands")
    throw CommandFailure(.usage, "\(word): no such command of \(path)\(suggestion)")
  }
}
