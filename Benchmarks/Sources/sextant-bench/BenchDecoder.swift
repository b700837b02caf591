// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import MonotonicTime

/// `sextant bench decoder`, and `sextant bench` without a subcommand: the speed of the decoder as ratios that are
/// comparable between machines.
struct BenchDecoder: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decoder", abstract: "Measure the decoder against a newline scan of the same bytes.",
    discussion: """
      Each stage runs many times over the bytes in memory, on one core; the best time counts. The ratio is that time to the \
      best time of a memchr for the line ends of the same bytes in the same process: 1 would be as fast as looking for \
      newlines. Without files a stream is made by the project's own encoder.
      """)

  @Argument(help: "Recordings; without any, streams of the built-in simulator.")
  var files: [String] = []

  @Flag(help: "Print the result as JSON.")
  var json = false

  func run() throws {
    let inputs = try files.isEmpty ? BenchInput.simulated() : files.map { try BenchInput(file: $0) }
    let results = measure(inputs)
    if json {
      var line = JSONText()
      line.stages(results)
      try Output.write(line.text)
    } else {
      try Output.write(table(results))
    }
  }

  /// The minimum duration of the repeated measurement: a shared machine can be slow for seconds.
  private static let leastSeconds = 3.0

  private func measure(_ inputs: [BenchInput]) -> [StageResult] {
    let measurements = inputs.flatMap { input in
      Stage.allCases.filter { $0.suits(input) }.map { (stage: $0, of: Measurement(input)) }
    }
    let start = SystemClock.monotonic.nanoseconds
    var results = measurements.map { $0.of.run($0.stage) }
    while !results.isEmpty, Double(SystemClock.monotonic.nanoseconds - start) / 1e9 < Self.leastSeconds {
      for (index, measurement) in measurements.enumerated() {
        results[index].join(measurement.of.run(measurement.stage))
      }
    }
    return results
  }

  private func table(_ results: [StageResult]) -> String {
    var text = "stage    ratio    MB/s   ns/message  alloc/message  input\n"
    for result in results {
      text += pad(result.stage.rawValue, 7) + right(fixed(result.newlineScanRatio, 2), 7)
      text += right(fixed(result.megabytesPerSecond, 0), 8) + right(fixed(result.nanosecondsPerMessage, 1), 13)
      text += right(fixed(result.allocationsPerMessage, 3), 15) + "  " + result.input + "\n"
    }
    return text
  }
}

extension JSONText {
  /// The contract's object of `bench --json`.
  mutating func stages(_ results: [StageResult]) {
    beginObject()
    beginArray("stages")
    for result in results {
      beginObject()
      field("stage", text: result.stage.rawValue)
      field("input", text: result.input)
      field("bytes", result.bytes)
      field("messages", result.messages)
      field("bestSeconds", result.bestSeconds, digits: 9)
      field("megabytesPerSecond", result.megabytesPerSecond, digits: 1)
      field("nanosecondsPerMessage", result.nanosecondsPerMessage, digits: 2)
      field("allocationsPerMessage", result.allocationsPerMessage, digits: 6)
      field("newlineScanRatio", result.newlineScanRatio, digits: 3)
      endObject()
    }
    endArray()
    endObject()
    endLine()
  }
}
