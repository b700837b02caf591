// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@Suite("A receiver that logs its positions in flash")
struct FlashRetrievalTests {
  static let models: [ReceiverModel] = [.m8, .f9p, .x20]

  /// Returns a session with a receiver that has a fix, and logs.
  private static func logging(_ model: ReceiverModel) throws -> SessionScene {
    let scene = SessionScene(model, baud: model == .m8 ? 115_200 : nil)
    scene.run(30) { $0.isSteady }
    scene.run(45)
    let description = try #require(scene.description)
    scene.set(.logging(for: description))
    scene.run(5) { $0.isSteady }
    #expect(begin(scene, description, erases: false).map { if case .begun = $0 { true } else { false } } ?? false)
    return scene
  }

  private static func begin(_ scene: SessionScene, _ description: ReceiverDescription, erases: Bool)
    -> FlashLogStart.Result?
  {
    var start = FlashLogStart(for: description, erases: erases)
    while let command = start.next() { start.receive(scene.send(command) ?? .silent) }
    return start.result
  }

  @Test("Recording is switched off at a receiver that accepts all commands and does not record", arguments: models)
  func refused(_ model: ReceiverModel) throws {
    let scene = SessionScene(model)
    scene.run(30) { $0.isSteady }
    var start = FlashLogStart(for: try #require(scene.description), erases: false)
    guard case .answered(let idle)? = scene.send(FlashLogStatus.poll) else {
      Issue.record("no answer")
      return
    }
    for outcome in [Outcome.answered(idle), .acknowledged, .acknowledged, .answered(idle)] {
      _ = try #require(start.next())
      start.receive(outcome)
    }
    #expect(start.result == nil && start.next() != nil)
    start.receive(.acknowledged)
    #expect(start.next() == nil)
    #expect(start.result.map { if case .refused = $0 { true } else { false } } == true)
  }

  private static func retrieve(_ scene: SessionScene, _ journal: inout BatchJournal) -> (fixes: [Fix], isWhole: Bool) {
    scene.retrieve(journal)
    scene.run(300) { scene in
      scene.batch.contains { event in
        switch event {
        case .finished, .cut: true
        default: false
        }
      }
    }
    var fixes: [Fix] = []
    var isWhole = false
    for event in scene.takeBatch() {
      switch event {
      case .fix(let entry, let after):
        fixes.append(entry.fix)
        journal = after
      case .finished(_, let after): (journal, isWhole) = (after, true)
      default: break
      }
    }
    return (fixes, isWhole)
  }

  private static func seconds(_ fixes: [Fix]) -> [Int64] { fixes.compactMap { $0.time?.nanosecondsSince1970 } }

  private static func isEachSecondOnce(_ fixes: [Fix]) -> Bool {
    let times = seconds(fixes).map { $0 / 1_000_000_000 }
    return zip(times, times.dropFirst()).allSatisfy { $1 == $0 + 1 }
  }

  @Test("Ten minutes of silence, then each position once, oldest first, and it logs on", arguments: models)
  func once(model: ReceiverModel) throws {
    let scene = try Self.logging(model)
    scene.run(2)
    let before = scene.receivedBytes
    scene.run(600)
    #expect(scene.receivedBytes == before, "the line speaks")
    var journal = BatchJournal()
    let first = Self.retrieve(scene, &journal)
    #expect(first.isWhole && (598...606).contains(first.fixes.count), "\(first.fixes.count)")
    #expect(Self.isEachSecondOnce(first.fixes))
    let place = try #require(first.fixes.last)
    #expect(place.horizontalAccuracyMetres != nil && place.speedMetresPerSecond != nil && place.kind == .threeD)
    scene.run(60)
    let second = Self.retrieve(scene, &journal)
    #expect(second.isWhole && (55...62).contains(second.fixes.count), "\(second.fixes.count)")
    #expect(Self.seconds(second.fixes).first! > Self.seconds(first.fixes).last!)
    #expect(journal.delivered == first.fixes.count + second.fixes.count && journal.lost == 0)
  }

  @Test("A reader that is killed: the next one goes on behind what was delivered, and loses nothing", arguments: models)
  func killed(model: ReceiverModel) throws {
    let scene = try Self.logging(model)
    scene.run(400)
    scene.retrieve(BatchJournal())
    scene.run(60) { $0.batch.count { if case .fix = $0 { true } else { false } } >= 200 }
    var journal = BatchJournal()
    var times: [Int64] = []
    // Of what came it has delivered the first hundred.
    for case .fix(let entry, let after) in scene.takeBatch().prefix(100) {
      journal = after
      times += entry.fix.time.map { [$0.nanosecondsSince1970] } ?? []
    }
    #expect(times.count == 100)
    let rate = scene.line.hostRate
    scene.kill(for: 500) { $0.likelyRates = [rate] }
    scene.run(60) { $0.isSteady }
    scene.run(3)
    let rest = Self.retrieve(scene, &journal)
    #expect(rest.isWhole)
    times += Self.seconds(rest.fixes)
    #expect(Set(times).count == times.count && times == times.sorted())
    #expect(times.count >= 395, "\(times.count)")
  }

  @Test("Entries that are damaged or lost on the line are requested again")
  func noisy() throws {
    let scene = try Self.logging(.f9p)
    scene.run(500)
    scene.line.inject(.drop(share: 0.002, for: Milliseconds(4000)), at: scene.now)
    var journal = BatchJournal()
    var fixes: [Fix] = []
    for _ in 0..<3 {
      let read = Self.retrieve(scene, &journal)
      fixes += read.fixes
      if read.isWhole { break }
    }
    #expect(Self.isEachSecondOnce(fixes) && fixes.count >= 495, "\(fixes.count)")
  }

  @Test("An existing log is not erased without permission")
  func foreign() throws {
    let scene = try Self.logging(.m8)
    scene.run(100)
    let description = try #require(scene.description)
    guard case .holds(let count)? = Self.begin(scene, description, erases: false) else {
      Issue.record("it is not refused")
      return
    }
    #expect(count >= 95)
    guard case .begun(let status)? = Self.begin(scene, description, erases: true) else {
      Issue.record("it does not begin")
      return
    }
    #expect(status.entries <= 2 && status.isRecording && status.isCreated && status.mostBytes > 1_000_000)
  }
}
