// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@Suite("A receiver that keeps its fixes")
struct BatchRetrievalTests {
  static let models: [ReceiverModel] = [.m8Batching, .m9, .m10]

  /// Returns a session with a batching receiver that has a fix.
  private static func batching(_ model: ReceiverModel, _ epochs: Int = 120, isExtended: Bool = false) -> SessionScene {
    let scene = SessionScene(model, intent: .serve)
    scene.run(30) { $0.isSteady }
    scene.run(45)
    if let description = scene.description {
      scene.set(.batching(BatchConfiguration(epochs: epochs, isExtended: isExtended), for: description))
    }
    scene.run(20) { scene in scene.reports.contains { if case .batching = $0.report { true } else { false } } }
    return scene
  }

  private static func journal(_ scene: SessionScene) -> BatchJournal {
    guard case .answered(let payload)? = scene.send(BatchStatus.poll), let status = BatchStatus(payload) else {
      return BatchJournal()
    }
    return BatchJournal(status)
  }

  /// Reads the batch; returns the fixes and the other events.
  private static func retrieve(_ scene: SessionScene, _ journal: inout BatchJournal) -> (
    fixes: [BatchedFix], [BatchEvent]
  ) {
    scene.retrieve(journal)
    scene.run(120) { scene in scene.batch.contains { Self.isEnd($0) } }
    return take(scene, &journal)
  }

  private static func take(_ scene: SessionScene, _ journal: inout BatchJournal) -> (fixes: [BatchedFix], [BatchEvent])
  {
    var fixes: [BatchedFix] = []
    var others: [BatchEvent] = []
    for event in scene.takeBatch() {
      switch event {
      case .fix(let fix, let after):
        fixes.append(fix)
        journal = after
      case .finished(_, let after), .cut(let after, _):
        journal = after
        others.append(event)
      default: others.append(event)
      }
    }
    return (fixes, others)
  }

  private static func isEnd(_ event: BatchEvent) -> Bool {
    switch event {
    case .finished, .cut: true
    default: false
    }
  }

  /// Milliseconds between two fixes, each.
  private static func steps(_ fixes: [BatchedFix]) -> [Int64] {
    let times = fixes.compactMap { $0.fix.time?.nanosecondsSince1970 }
    return zip(times, times.dropFirst()).map { ($1 - $0) / 1_000_000 }
  }

  @Test("A minute leaves the line silent; then all fixes come, oldest first, none lost, none twice", arguments: models)
  func deferral(_ model: ReceiverModel) {
    let scene = Self.batching(model, isExtended: true)
    #expect(scene.reported(.batching(epochs: 120)) == 1, "\(scene.reports)")
    var journal = Self.journal(scene)
    scene.run(2)
    let (bytes, sent, wakeUps) = (scene.receivedBytes, scene.sentBytes, scene.wakeUps)
    scene.run(60)
    #expect(scene.receivedBytes == bytes)
    #expect(scene.sentBytes == sent && scene.wakeUps == wakeUps)
    let (fixes, others) = Self.retrieve(scene, &journal)
    #expect(fixes.count >= 62)
    #expect(Self.steps(fixes).allSatisfy { $0 == 1000 })
    #expect(others.count == 1 && journal.delivered == fixes.count && journal.lost == 0, "\(others)")
    // And again: what comes next goes on behind it.
    scene.run(30)
    let (more, _) = Self.retrieve(scene, &journal)
    #expect(more.count >= 29 && Self.steps([fixes[fixes.count - 1]] + more).allSatisfy { $0 == 1000 })
    #expect(scene.reported(.silent) == 0 && scene.reported(.wasReset) == 0, "\(scene.reports)")
    let truth = scene.line.receiver.truth(at: scene.now)
    if let last = more.last?.fix {
      #expect(abs((last.latitudeDegrees ?? 0) - truth.latitudeDegrees) < 0.0005)
      #expect(last.heightAboveSeaLevelMetres != nil && last.horizontalAccuracyMetres != nil)
    }
  }

  @Test("A refused size is followed by a smaller one", arguments: models)
  func tooBig(_ model: ReceiverModel) {
    let scene = Self.batching(model, 5000)
    #expect(scene.reported(.batching(epochs: model == .m10 ? 600 : 300)) == 1, "\(scene.reports)")
    // A documented size is not tried if the firmware has another limit.
    scene.clearReports()
    if let description = scene.description {
      var desired = DesiredConfiguration.batching(BatchConfiguration(epochs: 300, isExtended: true), for: description)
      desired.batch?.epochs = 400
      scene.set(desired)
    }
    scene.run(120) { scene in scene.reports.contains { if case .batching = $0.report { true } else { false } } }
    let sizes = scene.reports.compactMap { if case .batching(let epochs) = $0.report { epochs } else { nil } }
    #expect(sizes.count == 1 && sizes[0] == (model == .m10 ? 309 : 156), "\(scene.reports)")
    scene.run(20)
    var journal = BatchJournal()
    let (fixes, _) = Self.retrieve(scene, &journal)
    #expect(fixes.count >= 18)
  }

  @Test("Overrun entries and entries that the receiver dropped are reported with their number", arguments: models)
  func overrun(_ model: ReceiverModel) {
    let scene = Self.batching(model, 20)
    var journal = Self.journal(scene)
    let dropped = scene.line.receiver.lostEpochs
    scene.run(60)
    let lost = scene.line.receiver.lostEpochs - dropped
    let (fixes, others) = Self.retrieve(scene, &journal)
    #expect(others.first == .lost(lost, .overrun), "\(others)")
    #expect(lost > 30 && fixes.count >= 20 && Self.steps(fixes).allSatisfy { $0 == 1000 })
    scene.run(10)
    scene.line.inject(.loseBatchedEpochs(3), at: scene.now)
    let (_, later) = Self.retrieve(scene, &journal)
    #expect(later.first == .lost(3, .overrun), "\(later)")
  }

  @Test("Damaged entries are counted; the others are delivered once and in order", arguments: models, [1, 2, 3])
  func corrupted(_ model: ReceiverModel, _ seed: UInt64) {
    let scene = Self.batching(model, 200)
    var journal = Self.journal(scene)
    scene.run(100)
    scene.line.inject(.corrupt(share: 0.0005 * Double(seed), for: Milliseconds(60_000)), at: scene.now)
    var all: [BatchedFix] = []
    for _ in 0..<4 {
      let (fixes, _) = Self.retrieve(scene, &journal)
      all += fixes
      scene.run(20)
    }
    let steps = Self.steps(all)
    #expect(steps.allSatisfy { $0 > 0 && $0 % 1000 == 0 })
    let missing = steps.reduce(0) { $0 + Int($1 / 1000) - 1 }
    #expect(journal.lost >= missing, "\(missing) missing, \(journal.lost) told")
    #expect(journal.lost <= missing + 3, "\(missing) missing, \(journal.lost) told")
    #expect(journal.delivered == all.count && all.count > 80)
  }

  @Test(
    "An unplugged receiver is reported, no fix comes twice, and the fixes in transfer are counted", arguments: models)
  func unplugged(_ model: ReceiverModel) {
    let scene = Self.batching(model, 120)
    var journal = Self.journal(scene)
    scene.run(60)
    scene.retrieve(journal)
    scene.run(10) { $0.batch.count >= 10 }
    scene.line.inject(.unplug(for: Milliseconds(5000)), at: scene.now)
    scene.run(3)
    let (first, others) = Self.take(scene, &journal)
    #expect(first.count >= 10 && others.count == 1)
    if case .cut? = others.last {} else { Issue.record("\(others)") }
    scene.run(60) { $0.isSteady }
    scene.run(60)
    if let description = scene.description {
      scene.set(.batching(BatchConfiguration(epochs: 120, isExtended: false), for: description))
    }
    scene.run(30)
    let (rest, sent) = Self.retrieve(scene, &journal)
    #expect(sent.contains(.startedAnew), "\(sent)")
    #expect(Self.steps(first + rest).allSatisfy { $0 > 0 } && rest.count > 20)
  }

  @Test(
    "After a kill in the middle the next process takes the remaining entries and reports the lost ones",
    arguments: models)
  func killed(_ model: ReceiverModel) {
    let scene = Self.batching(model, 120)
    var journal = Self.journal(scene)
    scene.run(60)
    scene.retrieve(journal)
    scene.run(10) { $0.batch.count >= 10 }
    scene.kill(for: 300) {
      $0.desired = { _ in .silent }
      $0.unfinishedFrame = []
      $0.intent = .identify
    }
    let (first, _) = Self.take(scene, &journal)
    scene.run(60) { $0.isSteady }
    let (rest, sent) = Self.retrieve(scene, &journal)
    let steps = Self.steps(first + rest)
    let missing = steps.reduce(0) { $0 + Int($1 / 1000) - 1 }
    #expect(first.count >= 10 && rest.count > 20 && steps.allSatisfy { $0 > 0 })
    // 300 ms of a line that brings a fix in 112 ms, or 28 ms at 38400 baud.
    #expect((1...(model == .m9 ? 12 : 4)).contains(missing) && journal.lost == missing, "\(missing) missing, \(sent)")
  }

  @Test("A reboot while it batches is noticed, and it batches again", arguments: models)
  func reboots(_ model: ReceiverModel) {
    let scene = Self.batching(model, 120)
    var journal = Self.journal(scene)
    scene.run(20)
    let (before, _) = Self.retrieve(scene, &journal)
    scene.run(20)
    scene.line.inject(.reboot, at: scene.now)
    scene.run(40)
    #expect(scene.reported(.wasReset) == 1, "\(scene.reports)")
    let (after, sent) = Self.retrieve(scene, &journal)
    #expect(sent.contains(.startedAnew), "\(sent)")
    #expect(before.count >= 18 && after.count >= 25)
    #expect(Self.steps(before + after).allSatisfy { $0 > 0 })
  }

  @Test("A journal is one line, and half of one is rejected")
  func journalText() {
    var journal = BatchJournal()
    #expect(BatchJournal(journal.text) == journal)
    journal.lastNumber = 65_535
    journal.lastTime = UTCTime(nanosecondsSince1970: 1_780_000_000_123_000_000)
    (journal.drops, journal.delivered, journal.lost) = (3, 70, 5)
    let text = journal.text
    #expect(BatchJournal(text) == journal)
    for length in 0..<text.count { #expect(BatchJournal(text.prefix(length)) == nil) }
  }

  @Test("Entries without an end do not keep a retrieval for ever")
  func endlessEntries() {
    var retrieval = BatchRetrieval(BatchJournal())
    _ = retrieval.next()
    var payload = [UInt8](repeating: 0, count: 100)
    var (now, count) = (Instant.zero, 0)
    while !retrieval.isOver, count < 100_000 {
      count += 1
      now = now + Milliseconds(1000)
      payload[2] = UInt8(truncatingIfNeeded: count)
      payload[3] = UInt8(truncatingIfNeeded: count >> 8)
      retrieval.receive(logBATCH: payload, at: now)
      retrieval.wake(at: now)
      while retrieval.nextEvent() != nil {}
    }
    #expect(retrieval.isOver && count <= 602)
  }
}
