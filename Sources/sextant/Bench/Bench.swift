import ArgumentParser

/// `sextant bench`: measures the decoder, the power policy, the rules of clients, or a session over a day.
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract:
      "Measure the decoder, the energy that receivers need, what a fix costs with many clients, or a day full of faults.",
    subcommands: [BenchDecoder.self, BenchEnergy.self, BenchPositioning.self, BenchEndurance.self],
    defaultSubcommand: BenchDecoder.self)
}
