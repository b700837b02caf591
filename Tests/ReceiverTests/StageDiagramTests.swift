// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@testable import Receiver

/// The diagram in the comment of `ReceiverSession`, the table in `StageTransition`, and what sessions do. A transition
/// outside the table fails an assertion in each debug build, and so in all tests with a session.
@Suite("The stages of a session")
struct StageDiagramTests {
  private static let table: Set<StageTransition> = {
    var table: Set<StageTransition> = []
    for from in SessionStage.Name.allCases {
      for cause in StageTransition.Cause.allCases {
        for to in StageTransition.targets(of: from, on: cause) {
          table.insert(StageTransition(from: from, cause: cause, to: to))
        }
      }
    }
    return table
  }()

  @Test("The diagram in the comment has the transitions of the table")
  func comment() throws {
    let path = #filePath.replacing(
      "Tests/ReceiverTests/StageDiagramTests.swift", with: "Sources/Receiver/Session/ReceiverSession.swift")
    let source = try #require(SourceText.read(path))
    var diagram: Set<StageTransition> = []
    var from: SessionStage.Name?
    for line in source.split(separator: "\n") where line.hasPrefix("///     ") {
      var text = line.dropFirst(8)
      if let colon = text.firstIndex(of: ":"), let name = SessionStage.Name(rawValue: String(text[..<colon])) {
        from = name
        text = text[text.index(after: colon)...]
      }
      guard let from else { continue }
      for edge in text.split(separator: ",") {
        let words = edge.split(separator: " ")
        if words.isEmpty { continue }
        let cause = try #require(StageTransition.Cause(rawValue: String(words[0])), "\(line)")
        let to = try #require(SessionStage.Name(rawValue: String(words[1])), "\(line)")
        diagram.insert(StageTransition(from: from, cause: cause, to: to))
      }
    }
    #expect(diagram.subtracting(Self.table).isEmpty && Self.table.subtracting(diagram).isEmpty)
  }

  @Test("Sessions take every transition of the table, and no other")
  func everyTransition() {
    var taken: Set<StageTransition> = []
    for walk in StageWalk.all {
      let scene = StageScene(walk)
      walk.run(scene)
      #expect(scene.taken.isSubset(of: Self.table), "\(walk.name)")
      taken.formUnion(scene.taken)
    }
    let missing = Self.table.subtracting(taken).map { "\($0.from) \($0.cause) \($0.to)" }.sorted()
    #expect(missing.isEmpty, "not taken: \(missing)")
  }
}
