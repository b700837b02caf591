// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import Testing

@testable import CoreLocation
@testable import Positioning

/// The queue of a delegate's events, in virtual time.
@Suite("Waiting events")
struct EventQueueTests {
  private func locations(_ second: Int, run: UInt32 = 0, isAnswer: Bool = false) -> EventQueue.QueuedEvent {
    var ticket = Ticket(delegate: 1, run: run)
    ticket.isAnswer = isAnswer
    let location = Location(
      Coordinate(latitudeDegrees: Double(second), longitudeDegrees: 11), horizontalAccuracyMetres: 5,
      timestamp: UTCTime(nanosecondsSince1970: 0))
    return .event(.didUpdateLocations([location]), ticket)
  }

  /// The latitudes of each event of locations; nil for another event.
  private func taken(_ queue: inout EventQueue, atSeconds now: Double) -> [[Int]?] {
    var all: [[Int]?] = []
    while let event = queue.take(atSeconds: now) {
      guard case .event(.didUpdateLocations(let locations), _) = event else {
        all.append(nil)
        continue
      }
      all.append(locations.map { Int($0.coordinate.latitudeDegrees) })
    }
    return all
  }

  @Test("SU-16 a loop that runs in time gets locations one by one")
  func inTime() {
    var queue = EventQueue()
    for tenth in 0..<5 { queue.put(locations(tenth), atSeconds: 100 + Double(tenth) / 10) }
    #expect(taken(&queue, atSeconds: 100.5) == [[0], [1], [2], [3], [4]])
  }

  @Test("SU-16 a busy loop gets coalesced locations, oldest first, in the order of all events")
  func together() {
    var queue = EventQueue()
    for second in 0..<3 { queue.put(locations(second), atSeconds: Double(second)) }
    queue.put(.calibration(true), atSeconds: 3)
    for second in 4..<7 { queue.put(locations(second), atSeconds: Double(second)) }
    #expect(queue.count == 3 && queue.hasLocations)
    #expect(taken(&queue, atSeconds: 7) == [[0, 1, 2], nil, [4, 5, 6]])
  }

  @Test("GE-3 without a delegate the newest of each recurring event waits, and every other event")
  func withoutDelegate() {
    var queue = EventQueue()
    let failure = EventQueue.QueuedEvent.event(.didFail(.denied), Ticket(delegate: nil))
    queue.put(failure, atSeconds: 0, hasDelegate: false)
    for second in 0..<5000 {
      queue.put(locations(second), atSeconds: Double(second), hasDelegate: false)
      queue.put(heading(second), atSeconds: Double(second), hasDelegate: false)
    }
    #expect(queue.count == 3)
    #expect(taken(&queue, atSeconds: 5000) == [nil, [4999], nil])
  }

  @Test("TH-1 the queue of a loop that does not run has a limit for headings")
  func headings() {
    var queue = EventQueue()
    for second in 0..<10_000 { queue.put(heading(second), atSeconds: Double(second)) }
    #expect(queue.count == EventQueue.limit)
  }

  private func heading(_ second: Int) -> EventQueue.QueuedEvent {
    let heading = Heading(
      magneticDegrees: Double(second % 360), trueDegrees: -1, accuracyDegrees: 3, fieldMicrotesla: .zero,
      timestamp: UTCTime(nanosecondsSince1970: Int64(second)))
    return .event(.didUpdateHeading(heading), Ticket(delegate: nil))
  }

  @Test("SU-16 a callback that takes longer than a second falls behind by one callback and no more")
  func slow() {
    var queue = EventQueue()
    var lag: [Int] = []
    var free = 0.0
    for second in 0..<60 {
      queue.put(locations(second), atSeconds: Double(second))
      guard Double(second) >= free, let event = queue.take(atSeconds: Double(second)),
        case .event(.didUpdateLocations(let some), _) = event, let last = some.last
      else { continue }
      lag.append(second - Int(last.coordinate.latitudeDegrees))
      free = Double(second) + 2.5
    }
    #expect(lag.count == 20 && lag.allSatisfy { $0 <= 1 })
  }

  @Test("SU-15 RQ-1 locations of two runs, and the answer to a request, are not coalesced")
  func apart() {
    var queue = EventQueue()
    queue.put(locations(0), atSeconds: 0)
    queue.put(locations(1, run: 1), atSeconds: 1)
    queue.put(locations(2, isAnswer: true), atSeconds: 2)
    queue.put(locations(3, isAnswer: true), atSeconds: 3)
    #expect(taken(&queue, atSeconds: 4) == [[0], [1], [2], [3]])
  }

  @Test("The queue of a loop that never runs has an hour of locations")
  func limit() {
    var queue = EventQueue()
    for second in 0..<5000 { queue.put(locations(second % 80), atSeconds: Double(second)) }
    #expect(queue.count == 1)
    #expect(taken(&queue, atSeconds: 5000).first??.count == EventQueue.limit)
  }
}
