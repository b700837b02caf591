// SPDX-License-Identifier: Apache-2.0
import CAllocationCount
import MonotonicTime

/// The measurements of a stage.
struct StageResult {
  var stage: Stage
  var input: String
  var bytes: Int?
  var messages: Int?
  var bestSeconds: Double
  /// The best time of the newline scan.
  var scanSeconds: Double
  var allocationsPerMessage: Double

  var newlineScanRatio: Double { bestSeconds / scanSeconds }
  var megabytesPerSecond: Double { Double(bytes ?? 0) / bestSeconds / 1e6 }
  var nanosecondsPerMessage: Double { bestSeconds * 1e9 / Double(max(1, messages ?? 0)) }

  /// Takes the better values of another measurement of the same stage.
  mutating func join(_ other: StageResult) {
    bestSeconds = min(bestSeconds, other.bestSeconds)
    scanSeconds = min(scanSeconds, other.scanSeconds)
    allocationsPerMessage = max(allocationsPerMessage, other.allocationsPerMessage)
  }
}

/// Measures stages over one input.
///
/// A stage and the newline scan alternate, so that both run under the same load of the machine. The best time of each
/// counts: disturbances only make a run slower.
struct Measurement {
  private let input: BenchInput
  /// The number of passes over the input in one timing, so that it takes about a millisecond: a longer one is
  /// interrupted every time on a shared machine.
  private let rounds: Int

  init(_ input: BenchInput) {
    self.input = input
    rounds = max(1, 1_000_000 / input.bytes.count)
  }

  func run(_ stage: Stage) -> StageResult {
    var state = StageState()
    var best = UInt64.max
    var bestScan = UInt64.max
    var messages = 0
    var allocations = 0
    for turn in 0..<40 {
      let scan = time { scanNewlines(input.bytes, skipping: $0 & 1) }
      bestScan = min(bestScan, scan)
      let before = c_allocation_count()
      let start = SystemClock.monotonic.nanoseconds
      messages = 0
      for _ in 0..<rounds { messages += stage.run(input.bytes, &state) }
      let end = SystemClock.monotonic.nanoseconds
      // The first pass allocates the state that is reused.
      if turn > 0 {
        best = min(best, end - start)
        allocations = max(allocations, Int(c_allocation_count() - before))
      }
    }
    let scale = 1e-9 / Double(rounds)
    return StageResult(
      stage: stage, input: input.name, bytes: input.bytes.count, messages: messages / rounds,
      bestSeconds: Double(best) * scale, scanSeconds: Double(bestScan) * scale,
      allocationsPerMessage: Double(allocations) / Double(max(1, messages)))
  }

  private func time(_ body: (Int) -> Int) -> UInt64 {
    let start = SystemClock.monotonic.nanoseconds
    var sum = 0
    for round in 0..<rounds { sum &+= body(round) }
    let end = SystemClock.monotonic.nanoseconds
    keep(sum)
    return end - start
  }
}
