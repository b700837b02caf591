// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverSimulator
import Testing

/// Inputs that libFuzzer found (`Tests/fuzz/corpus.sh` stores them), and changes of them, without libFuzzer. A target traps at an input
/// that violates its conditions.
@Suite struct FuzzCorpusTests {
  private static let corpus: [FuzzTarget: [[UInt8]]] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "corpus.txt")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [:] }
    let stored = text.split(separator: "\n").map { line in
      guard let stored = FuzzTarget.stored(line) else { fatalError("corpus.txt: no input: \(line)") }
      return stored
    }
    return Dictionary(grouping: stored, by: \.target).mapValues { $0.map(\.input) }
  }()

  @Test("Every target passes the inputs that were found for it, and changes of them", arguments: FuzzTarget.allCases)
  func inputs(of target: FuzzTarget) throws {
    let inputs = try #require(Self.corpus[target], "corpus.txt has no input of \(target)")
    var random = SeededRandomNumberGenerator(seed: 1)
    for input in inputs {
      target.run(input)
      for _ in 0..<4 { target.run(Self.changed(input, by: &random)) }
    }
  }

  /// The input truncated, joined with itself, or with some bytes replaced.
  private static func changed(_ input: [UInt8], by random: inout SeededRandomNumberGenerator) -> [UInt8] {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return Array(input.prefix(Int.random(in: 0...input.count, using: &random)))
    case 1: return input + input.suffix(Int.random(in: 0...input.count, using: &random))
    default:
      var changed = input
      for _ in 0..<3 {
        guard let index = changed.indices.randomElement(using: &random) else { return changed }
        changed[index] = .random(in: 0...255, using: &random)
      }
      return changed
    }
  }
}
