import ArgumentParser

/// `sextant bench`: measures the decoder, the power policy, or the rules of clients.
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the decoder, the energy that receivers need, or what a fix costs with many clients.",
    subcommands: [BenchDecoder.self, BenchEnergy.self, BenchPositioning.self], defaultSubcommand: BenchDecoder.self)
}
