// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import Testing

@testable import Power

/// Each state machine against the table of its edges: an event that is not in the table for a state does not change it.
@Suite("The state machines of the power coordinator")
struct StateMachineTests {
  @Test("The receiver's sleep walks every edge of its diagram and no other")
  func sleep() {
    let edges: [SleepState: [SleepState.Event: SleepState]] = [
      .awake: [.request: .requested],
      .requested: [.confirmed: .asleep, .end: .awake],
      .asleep: [.request: .requested, .notAsleep: .requested, .end: .awake],
    ]
    for state in SleepState.allCases {
      for event in SleepState.Event.allCases {
        var next = state
        next.handle(event)
        #expect(next == edges[state]?[event] ?? state, "\(state) ─ \(event)")
      }
    }
  }

  @Test("The receiver's presence walks every edge of its diagram and no other")
  func presence() {
    let configured = ReceiverPresence.Configured(
      base: DesiredConfiguration(), usualRefusals: 0, spareConstellations: [])
    let start = Instant.zero + Milliseconds(5)
    let later = start + Milliseconds(1000)
    let states: [ReceiverPresence] = [
      .absent, .unidentified(since: start), .identified, .plain, .unread, .configured(configured),
    ]
    let events: [ReceiverPresence.Event] = [
      .epoch(later), .identified, .plain, .configured(configured), .pause, .resume, .lost,
    ]
    let edges: [(ReceiverPresence, ReceiverPresence.Event, ReceiverPresence)] = [
      (.absent, .epoch(later), .unidentified(since: later)),
      (.absent, .identified, .identified),
      (.unidentified(since: start), .identified, .identified),
      (.absent, .plain, .plain),
      (.unidentified(since: start), .plain, .plain),
      (.identified, .plain, .plain),
      (.plain, .pause, .unread),
      (.configured(configured), .pause, .unread),
      (.unread, .resume, .plain),
    ]
    for state in states {
      for event in events {
        var next = state
        next.handle(event)
        let expected: ReceiverPresence =
          switch event {
          case .configured: .configured(configured)
          case .lost: .absent
          default: edges.first { $0.0 == state && $0.1 == event }?.2 ?? state
          }
        #expect(next == expected, "\(state) ─ \(event)")
        #expect(!next.isPresent || next == .plain || next == .unread || next.configuration != nil)
      }
    }
  }

  // MARK: Collecting

  private static let now = Instant.zero + Milliseconds(60_000)
  /// Later than the last possible epoch of a line that is being silenced.
  private static let later = now + Milliseconds(10_000)
  private static let on = BatchCollection.State.on(since: now, unexpectedEpochs: 0)
  private static let lastRead = BatchCollection.State.lastRead(rereads: 0)

  /// A path from `off` to each state.
  private static let paths: [(BatchCollection.State, [BatchCollection.Event])] = [
    (.off, []),
    (.leftover, [.expect(BatchJournal())]),
    (.starting, [.start]),
    (on, [.start, .accepted]),
    (.restoringOutput, [.start, .accepted, .stop]),
    (lastRead, [.start, .accepted, .stop, .configured]),
  ]

  private static let events: [String: BatchCollection.Event] = [
    "expect": .expect(BatchJournal()), "found": .found(canBatch: true), "foundOther": .found(canBatch: false),
    "start": .start, "stop": .stop, "accepted": .accepted, "refused": .refused, "configured": .configured,
    "failed": .failed, "epoch": .epoch, "fix": .fix(Fix()), "readOut": .readOut,
    "finished": .retrieval(.finished(fixes: 0, BatchJournal()), gapSeconds: 1.5),
    "cut": .retrieval(.cut(BatchJournal(), isStopped: false), gapSeconds: 1.5),
    "startedAnew": .retrieval(.startedAnew, gapSeconds: 1.5), "sleep": .sleep, "reset": .reset, "lost": .lost,
  ]

  private static let edges: [(from: BatchCollection.State, event: String, to: BatchCollection.State)] = [
    (.off, "expect", .leftover),
    (.off, "start", .starting),
    (.leftover, "found", lastRead),
    (.leftover, "foundOther", .off),
    (.starting, "accepted", .on(since: later, unexpectedEpochs: 0)),
    (.starting, "refused", .off),
    (.starting, "stop", .restoringOutput),
    (.starting, "sleep", .off),
    (.starting, "reset", .off),
    (.starting, "lost", .off),
    (on, "start", .starting),
    (on, "stop", .restoringOutput),
    (on, "epoch", .on(since: now, unexpectedEpochs: 1)),
    (on, "sleep", .off),
    (on, "reset", .off),
    (on, "lost", .leftover),
    (.restoringOutput, "configured", lastRead),
    (.restoringOutput, "failed", .off),
    (.restoringOutput, "sleep", .off),
    (.restoringOutput, "reset", .off),
    (.restoringOutput, "lost", .leftover),
    (lastRead, "finished", .off),
    (lastRead, "cut", .off),
    (lastRead, "failed", .off),
    (lastRead, "sleep", .off),
    (lastRead, "reset", .off),
    (lastRead, "lost", .leftover),
  ]

  @Test("Collecting walks every edge of its diagram and no other", arguments: paths.indices)
  func collecting(path: Int) throws {
    let (state, way) = Self.paths[path]
    for (name, event) in Self.events {
      var collection = BatchCollection()
      for step in way { _ = collection.handle(step, at: Self.now) }
      try #require(collection.state == state)
      let effects = collection.handle(event, at: Self.later)
      let expected = Self.edges.first { $0.from == state && $0.event == name }?.to ?? state
      #expect(collection.state == expected, "\(state) ─ \(name)")
      // Each end of collecting is reported. A receiver that is lost keeps its memory, unless its last read was in
      // progress.
      let ends = name == "lost" ? state == Self.lastRead : state != .off && expected == .off
      #expect(effects.contains(.output(.collectsNoMore)) == ends, "\(state) ─ \(name)")
    }
  }

  @Test("The second epoch from a line that should be silent is a restart of the receiver")
  func unexpectedEpochs() {
    var collection = BatchCollection()
    for event in [BatchCollection.Event.start, .accepted] { _ = collection.handle(event, at: Self.now) }
    #expect(collection.handle(.epoch, at: Self.now + Milliseconds(2999)).isEmpty)
    #expect(collection.state == Self.on)
    #expect(collection.handle(.epoch, at: Self.later).isEmpty)
    #expect(collection.handle(.epoch, at: Self.later) == [.restarted])
  }

  @Test("A gap between the last read and the held fixes is read again, three times at most")
  func rereads() {
    var collection = BatchCollection()
    for event in [BatchCollection.Event.start, .accepted, .stop, .configured] {
      _ = collection.handle(event, at: Self.now)
    }
    var (fix, journal) = (Fix(), BatchJournal())
    fix.time = UTCTime(nanosecondsSince1970: 10_000_000_000)
    journal.lastTime = UTCTime(nanosecondsSince1970: 5_000_000_000)
    _ = collection.handle(.fix(fix), at: Self.now)
    for reread in 1...3 {
      _ = collection.handle(.retrieval(.finished(fixes: 1, journal), gapSeconds: 1.5), at: Self.later)
      #expect(collection.state == .lastRead(rereads: reread))
    }
    let effects = collection.handle(.retrieval(.finished(fixes: 1, journal), gapSeconds: 1.5), at: Self.later)
    #expect(collection.state == .off)
    #expect(effects.contains(.output(.live(fix, at: Self.now))))
  }
}
