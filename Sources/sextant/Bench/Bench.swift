import ArgumentParser

/// `sextant bench`: measures the decoder, or the power policy.
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the decoder, or the energy that receivers need.",
    subcommands: [BenchDecoder.self, BenchEnergy.self], defaultSubcommand: BenchDecoder.self)
}
