// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `sextant-bench rounds`: a stage a number of times over the same bytes, for a program that counts instructions. The difference of
/// two numbers of rounds is the stage without the start of the program.
struct BenchRounds: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rounds", abstract: "Run a stage of the decoder a number of times, and measure nothing.")

  @Option(help: "frames, fields or fix.")
  var stage = "fix"

  @Option(help: "How often, from 1.")
  var rounds = 1

  @Argument(help: "A recording, or 'simulated NMEA' or 'simulated UBX': ten minutes of the built-in simulator.")
  var file: String

  func validate() throws {
    if rounds < 1 { throw ValidationError("--rounds is 1 or more.") }
  }

  func run() throws {
    guard let stage = Stage(rawValue: stage) else {
      throw ValidationError("there is no stage '\(stage)'; name frames, fields or fix")
    }
    let simulated = file.hasPrefix("simulated ") ? BenchInput.simulated().first { $0.name == file } : nil
    let input = try simulated ?? BenchInput(file: file)
    var state = StageState()
    var frames = 0
    for _ in 0..<rounds { frames += stage.run(input.bytes, &state) }
    try Output.write("\(input.bytes.count) bytes, \(frames) frames\n")
  }
}
