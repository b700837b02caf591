// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The program of `sextant bench`: measures the decoder, the power policy, the client rules, or a session over a day.
@main
struct SextantBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sextant-bench",
    abstract:
      "Measure the decoder, the energy that receivers need, what a fix costs with many clients, or a day full of faults.",
    subcommands: [BenchDecoder.self, BenchEnergy.self, BenchPositioning.self, BenchEndurance.self, BenchRounds.self],
    defaultSubcommand: BenchDecoder.self)

  static func main() {
    ignoreBrokenPipes()
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let failure as BenchFailure {
      printError(failure.description)
      leave(with: failure.exitCode)
    } catch {
      exit(withError: error)
    }
  }
}
